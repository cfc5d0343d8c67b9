package llm

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"proctor/agents/llm/wire"
)

// A Kind is what went wrong with a call, by what can be done about it.
// errors.Is(err, llm.RateLimited) tells.
type Kind string

// The kinds of error.
const (
	Unreachable     Kind = "cannot be reached"
	Unauthorized    Kind = "refuses the key"
	RateLimited     Kind = "limits the rate"
	BudgetSpent     Kind = "is cut off: the run's budget is spent" // the gateway says so
	PaymentRequired Kind = "wants to be paid"                      // the provider says so
	ContextTooLong  Kind = "has no room for the conversation"
	BadRequest      Kind = "refuses the request"
	ServerError     Kind = "has an error of its own"
	StreamCut       Kind = "hung up in the middle of its reply"
	BadReply        Kind = "answers what is not a reply"
)

// Error makes a Kind the target of errors.Is.
func (k Kind) Error() string { return "the model " + string(k) }

// advice is what a person can do about a kind of error.
var advice = map[Kind]string{
	Unreachable:     "is the server running, and base_url right?",
	Unauthorized:    "check the key",
	RateLimited:     "try again later",
	BudgetSpent:     "extend the budget to go on",
	PaymentRequired: "check the account with the provider",
	ContextTooLong:  "shorten the conversation or use a model with more context",
	BadReply:        "is base_url that of a model server?",
}

// retried are the kinds that may go away by themselves.
var retried = map[Kind]bool{Unreachable: true, RateLimited: true, ServerError: true, StreamCut: true, BadReply: true}

// An Error is a call that failed, after retries where they could help. It
// never contains a key.
type Error struct {
	Kind    Kind
	Model   string
	Address string // base URL
	Status  int    // of HTTP, 0 when it did not come to that
	Message string // the provider's own words, one line
	// RetryAfter is how long the provider wants to be left alone; 0 when it
	// did not say.
	RetryAfter time.Duration
	Attempts   int // how many were made
	Err        error
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "calling model %q at %s: it %s", e.Model, e.Address, string(e.Kind))
	if e.Status != 0 {
		fmt.Fprintf(&b, " (%d)", e.Status)
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (%d attempts)", e.Attempts)
	}
	if a := advice[e.Kind]; a != "" {
		b.WriteString("; " + a)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the error's Kind.
func (e *Error) Is(target error) bool {
	k, ok := target.(Kind)
	return ok && k == e.Kind
}

// statusError is the error of a reply with a status other than 200.
func statusError(m Model, resp *http.Response, body []byte) *Error {
	e := &Error{Model: m.Name, Address: m.Address(), Status: resp.StatusCode,
		RetryAfter: retryAfter(resp.Header, time.Now())}
	f := wire.ReadFault(body)
	if f == nil {
		f = &wire.Fault{Message: cmp.Or(strings.TrimSpace(string(body)), http.StatusText(resp.StatusCode))}
	}
	e.Kind, e.Message = kindOf(resp.StatusCode, f), clip(f.Message, 500)
	return e
}

// faultError is the error of a reply that began well and then carried one.
func faultError(m Model, f *wire.Fault) *Error {
	return &Error{Kind: kindOf(http.StatusOK, f), Model: m.Name, Address: m.Address(), Message: clip(f.Message, 500)}
}

var tooLong = regexp.MustCompile(`(?i)context.?length|context.?window|context size|maximum context|prompt is too long|input is too long|input token count|too many tokens`)

// kindOf tells the kind of an error from its status and its words, which
// say more than the status does where the two differ.
func kindOf(status int, f *wire.Fault) Kind {
	said := strings.ToLower(f.Type + " " + f.Code)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(said, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("budget_spent"):
		return BudgetSpent
	case status == http.StatusPaymentRequired, has("insufficient_quota", "billing"):
		return PaymentRequired
	case status == http.StatusUnauthorized, status == http.StatusForbidden, has("authentication", "invalid_api_key", "permission"):
		return Unauthorized
	case status == http.StatusTooManyRequests, has("rate_limit", "resource_exhausted", "429"):
		return RateLimited
	case status < 500 && (has("context_length") || tooLong.MatchString(f.Message)):
		return ContextTooLong
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly:
		return ServerError
	case status == http.StatusOK && !has("invalid_request", "bad_request", "not_found"):
		return ServerError // in the middle of a stream: whatever it was, not the request
	}
	return BadRequest
}

// retryAfter reads how long a provider wants to be left alone, in seconds,
// milliseconds or until a date; 0 when it does not say or makes no sense.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e10 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		if s > 0 && s < 1e7 {
			return time.Duration(s * float64(time.Second))
		}
		return 0
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

var noTools = regexp.MustCompile(`(?i)support\w* tool|tool\w*[^.]*(not supported|unsupported|requires|--jinja|enable-auto-tool-choice)`)

// refusesTools reports whether a server said that it cannot do tool calls.
func (e *Error) refusesTools() bool {
	return e.Status >= 400 && (e.Kind == BadRequest || e.Kind == ServerError) && noTools.MatchString(e.Message)
}
