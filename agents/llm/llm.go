// Package llm is the one place that talks to a model.
//
// A Client sends a conversation and streams back what the model thinks, says
// and wants done. It speaks OpenAI's chat completions (and with it nearly
// every local and hosted server), OpenAI's responses and Anthropic's
// messages; whoever uses it cannot tell which. What goes wrong on the way is
// retried where that can help, and otherwise comes back as an *Error of a
// Kind that says what to do.
//
// Its sub-packages: wire reads the formats byte by byte, redact keeps secrets
// out of what is shown, scripted is a model server for tests.
package llm

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"proctor/agents/llm/wire"
)

// Provider says how a model is spoken to.
type Provider string

// The providers.
const (
	Compatible Provider = "openai-compatible" // chat completions, of whomever
	OpenAI     Provider = "openai"            // responses
	Anthropic  Provider = "anthropic"         // messages
	// Google's models serve other people's agents, through the gateway. A
	// Client does not speak to them; their OpenAI-compatible address does.
	Google Provider = "gemini"
)

// Format returns the wire format of a provider's replies, "" for one that
// is not known.
func (p Provider) Format() wire.Format {
	return map[Provider]wire.Format{Compatible: wire.Chat, OpenAI: wire.Responses,
		Anthropic: wire.Messages, Google: wire.Gemini}[p]
}

// A Model is where a model is and what it costs. It is data: a table of the
// configuration, or found on this machine by Discover.
type Model struct {
	Provider Provider `toml:"provider" json:"provider"`
	// BaseURL is the address as the provider's own clients take it: with
	// /v1 for the OpenAI ones, without for Anthropic. "" means the
	// provider's own; an OpenAI-compatible server has none.
	BaseURL string `toml:"base_url" json:"base_url,omitempty"`
	Name    string `toml:"name" json:"name"` // as the provider knows it
	// KeyEnv names the environment variable that holds the key. "" means the
	// provider's usual one; an OpenAI-compatible server then needs no key.
	KeyEnv    string `toml:"key_env" json:"key_env,omitempty"`
	Context   int64  `toml:"context" json:"context,omitempty"`       // tokens; 0 is unknown
	MaxOutput int64  `toml:"max_output" json:"max_output,omitempty"` // tokens of one reply; 0 leaves it to the provider
	Price     Price  `toml:"price" json:"price,omitzero"`
	// Effort is how hard to think, in the provider's word for it ("low",
	// "high"); "" leaves it to the provider.
	Effort string `toml:"effort" json:"effort,omitempty"`
	// TextMode is for a server without tool calling: the model acts by one
	// fenced block per reply. A Client also turns to it by itself when the
	// server refuses tools.
	TextMode bool `toml:"text_mode" json:"text_mode,omitempty"`
}

// Usage is what a call consumed, in tokens. See wire.Usage.
type Usage = wire.Usage

// A Price is in US dollars per million tokens. A nil field is not known.
type Price struct {
	Input      *float64 `toml:"input" json:"input,omitempty"`
	Cached     *float64 `toml:"cached" json:"cached,omitempty"`           // input read from a cache
	CacheWrite *float64 `toml:"cache_write" json:"cache_write,omitempty"` // input written to one; nil means as Input
	Output     *float64 `toml:"output" json:"output,omitempty"`
}

// Cost returns what a usage costs in US dollars, or nil when that is not
// known: a price is missing for tokens that were used. What the provider
// says it charged fills in for prices that are missing. It never guesses.
func (p Price) Cost(u Usage) *float64 {
	total := 0.0
	for _, part := range []struct {
		tokens int64
		price  *float64
	}{
		{u.Input - u.Cached - u.CacheWrite, p.Input},
		{u.Cached, p.Cached},
		{u.CacheWrite, cmp.Or(p.CacheWrite, p.Input)},
		{u.Output, p.Output},
	} {
		if part.tokens == 0 {
			continue
		}
		if part.price == nil {
			return u.Cost
		}
		total += float64(part.tokens) * *part.price / 1e6
	}
	if p == (Price{}) {
		return u.Cost // nothing was used, of a model without prices
	}
	return &total
}

// defaults are the address and the key's variable of those who have one.
var defaults = map[Provider]struct{ url, env string }{
	Compatible: {},
	OpenAI:     {"https://api.openai.com/v1", "OPENAI_API_KEY"},
	Anthropic:  {"https://api.anthropic.com", "ANTHROPIC_API_KEY"},
	Google:     {"https://generativelanguage.googleapis.com", "GEMINI_API_KEY"},
}

// Check returns what is wrong with a model's table, nil when nothing is.
func (m Model) Check() error {
	d, known := defaults[m.Provider]
	switch {
	case !known:
		return fmt.Errorf("model %q: provider %q is not known; use %q, %q, %q or %q",
			m.Name, m.Provider, Compatible, OpenAI, Anthropic, Google)
	case m.Name == "":
		return errors.New("a model has no name; give the name by which its provider knows it")
	case m.BaseURL == "" && d.url == "":
		return fmt.Errorf("model %q: provider %q needs a base_url, such as \"http://127.0.0.1:11434/v1\"", m.Name, m.Provider)
	}
	u, err := url.Parse(m.Address())
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("model %q: base_url %q is not an http or https address", m.Name, m.BaseURL)
	}
	for name, p := range map[string]*float64{"input": m.Price.Input, "cached": m.Price.Cached,
		"cache_write": m.Price.CacheWrite, "output": m.Price.Output} {
		if p != nil && !(*p >= 0) {
			return fmt.Errorf("model %q: the price %s = %v is not a number from 0 on", m.Name, name, *p)
		}
	}
	return nil
}

// Address returns the model's base URL, the provider's own when none is set,
// without a slash at its end. Anthropic's and Google's never end in a version.
func (m Model) Address() string {
	u := strings.TrimRight(cmp.Or(m.BaseURL, defaults[m.Provider].url), "/")
	switch m.Provider {
	case Anthropic:
		u = strings.TrimSuffix(u, "/v1")
	case Google:
		u = strings.TrimSuffix(u, "/v1beta")
	}
	return u
}

// Key returns the model's key from the environment, "" when it needs none.
func (m Model) Key(getenv func(string) string) (string, error) {
	name := cmp.Or(m.KeyEnv, defaults[m.Provider].env)
	if name == "" {
		return "", nil
	}
	key := strings.TrimSpace(getenv(name))
	if key == "" {
		return "", fmt.Errorf("model %q: its key is missing; set %s", m.Name, name)
	}
	if strings.ContainsAny(key, "\r\n\x00") {
		return "", fmt.Errorf("model %q: the key in %s has a line break in it", m.Name, name)
	}
	return key, nil
}
