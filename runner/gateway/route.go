package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"proctor/agents/llm"
	"proctor/agents/llm/wire"
)

// route is a Route that has been checked.
type route struct {
	Route
	base url.URL
}

func newRoute(r Route) (route, error) {
	if err := r.Model.Check(); err != nil {
		return route{}, err
	}
	u, err := url.Parse(r.Model.Address())
	if err != nil { // Check has parsed it
		return route{}, err
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return route{}, fmt.Errorf("model %q: base_url %q has more than a host and a path", r.Model.Name, u.Redacted())
	}
	if strings.ContainsAny(r.Key, "\r\n\x00") {
		return route{}, fmt.Errorf("model %q: its key has a line break in it", r.Model.Name)
	}
	return route{Route: r, base: *u}, nil
}

// served are the formats that a provider's servers speak. Many compatible
// servers speak all of OpenAI's and Anthropic's.
var served = map[llm.Provider][]wire.Format{
	llm.Compatible: {wire.Chat, wire.Responses, wire.Messages},
	llm.OpenAI:     {wire.Chat, wire.Responses},
	llm.Anthropic:  {wire.Messages},
	llm.Google:     {wire.Gemini},
}

func (r *route) serves(f wire.Format) bool { return slices.Contains(served[r.Model.Provider], f) }

// An endpoint is what a path asks for.
type endpoint struct {
	format  wire.Format
	path    string // below the version: rebuilt, never taken over
	metered bool
	list    bool   // the models, which the gateway answers itself
	model   string // where the path has it
}

var (
	endpoints = map[string]endpoint{
		"POST /v1/chat/completions":      {format: wire.Chat, path: "/chat/completions", metered: true},
		"POST /v1/responses":             {format: wire.Responses, path: "/responses", metered: true},
		"POST /v1/messages":              {format: wire.Messages, path: "/messages", metered: true},
		"POST /v1/messages/count_tokens": {format: wire.Messages, path: "/messages/count_tokens"},
		"GET /v1/models":                 {format: wire.Chat, list: true},
		"GET /v1beta/models":             {format: wire.Gemini, list: true},
	}
	oneModel    = regexp.MustCompile(`^/(v1|v1beta)/models/([A-Za-z0-9][A-Za-z0-9._:/-]*)$`)
	geminiModel = regexp.MustCompile(`^/v1beta/models/([A-Za-z0-9][A-Za-z0-9._-]*):(generateContent|streamGenerateContent|countTokens)$`)
)

// match finds the endpoint of a request, whatever its path has been dressed
// up as.
func match(r *http.Request) (endpoint, bool) {
	path := r.URL.Path
	if e, ok := endpoints[r.Method+" "+path]; ok {
		if e.list && e.format == wire.Chat && r.Header.Get("Anthropic-Version") != "" {
			e.format = wire.Messages
		}
		return e, true
	}
	if m := geminiModel.FindStringSubmatch(path); m != nil && r.Method == http.MethodPost {
		return endpoint{format: wire.Gemini, path: "/models/" + m[1] + ":" + m[2], metered: m[2] != "countTokens", model: m[1]}, true
	}
	if m := oneModel.FindStringSubmatch(path); m != nil && r.Method == http.MethodGet && !strings.Contains(path, "..") {
		e := endpoint{format: wire.Chat, list: true, model: m[2]}
		switch {
		case m[1] == "v1beta":
			e.format = wire.Gemini
		case r.Header.Get("Anthropic-Version") != "":
			e.format = wire.Messages
		}
		return e, true
	}
	return endpoint{}, false
}

// route finds where a model's calls go, nil when they go nowhere. A call
// that names no model goes where there is only one way.
func (g *Gateway) route(f wire.Format, model string) *route {
	var any, only *route
	ways := 0
	for i := range g.routes {
		r := &g.routes[i]
		switch {
		case !r.serves(f):
			continue
		case r.Model.Name == model:
			return r
		case r.Any && any == nil:
			any = r
		}
		only = r
		ways++
	}
	if model == "" && ways == 1 {
		return only
	}
	return any
}

// keyParams are what clients call a key in a query.
var keyParams = []string{"key", "api_key", "api-key", "apikey", "access_token", "oauth_token", "token"}

// url is the upstream address of an endpoint. Only the query is the
// client's, without keys.
func (r *route) url(e endpoint, query url.Values) *url.URL {
	u := r.base
	path := e.path
	switch r.Model.Provider {
	case llm.Anthropic:
		path = "/v1" + path
	case llm.Google:
		path = "/v1beta" + path
	}
	u.Path = strings.TrimRight(u.Path, "/") + path
	u.RawPath = ""
	for _, name := range keyParams {
		query.Del(name)
	}
	u.RawQuery = query.Encode()
	return &u
}

// passed are the headers of a request that reach the upstream. Keys, cookies
// and whatever a proxy may act on do not.
var passed = []string{"Accept", "Content-Type", "User-Agent", "Anthropic-Version", "Anthropic-Beta", "Openai-Beta", "X-Goog-Api-Client", "Idempotency-Key"}

// headers makes the upstream's headers from the client's.
func (r *route) headers(f wire.Format, from http.Header) http.Header {
	h := http.Header{"Accept-Encoding": {"identity"}}
	for _, name := range passed {
		if v := from.Values(name); len(v) > 0 {
			h[name] = slices.Clone(v)
		}
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	if h["User-Agent"] == nil {
		h["User-Agent"] = []string{"proctor"}
	}
	if r.Key == "" {
		return h
	}
	switch {
	case r.Model.Provider == llm.Google:
		h.Set("X-Goog-Api-Key", r.Key)
	case r.Model.Provider == llm.Anthropic:
		h.Set("X-Api-Key", r.Key)
	default:
		h.Set("Authorization", "Bearer "+r.Key)
		if f == wire.Messages { // what a compatible server looks at differs
			h.Set("X-Api-Key", r.Key)
		}
	}
	return h
}

// dropped are the headers of a reply that concern one connection, the
// encoding (which is undone here), or another host.
var dropped = []string{"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding",
	"Upgrade", "Content-Length", "Content-Encoding", "Set-Cookie", "Alt-Svc", "Location", "Refresh", "Link"}

// copyHeaders gives the client the upstream's headers.
func (g *Gateway) copyHeaders(to, from http.Header) {
	skip := slices.Clone(dropped)
	for _, v := range from.Values("Connection") {
		for name := range strings.SplitSeq(v, ",") {
			skip = append(skip, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	for name, values := range from {
		if slices.Contains(skip, name) {
			continue
		}
		for _, v := range values {
			to.Add(name, g.hide(v))
		}
	}
}

// hide takes the secrets out of a text.
func (g *Gateway) hide(s string) string { return g.redact.String(g.config.Redact.String(s)) }
