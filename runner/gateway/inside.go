package gateway

import (
	"context"
	"net"
	"net/http"
	"strconv"

	"proctor/agents/llm"
	"proctor/agents/llm/wire"
)

// noKey is what an agent's client is given for a key, because it insists on
// having one. It opens nothing.
const noKey = "proctor-gateway"

// Env returns the environment of an agent in the sandbox, for the models of
// the routes, when the gateway is at a loopback port in there: base URLs,
// keys that are none, and which model to use.
func (g *Gateway) Env(port int) []string {
	host := "http://127.0.0.1:" + strconv.Itoa(port)
	env := []string{"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost"}
	if names := g.names(wire.Chat); names != nil {
		env = append(env, "OPENAI_BASE_URL="+host+"/v1", "OPENAI_API_BASE="+host+"/v1", "OPENAI_API_KEY="+noKey, "OPENAI_MODEL="+names[0])
	}
	if names := g.names(wire.Messages); names != nil {
		env = append(env, "ANTHROPIC_BASE_URL="+host, "ANTHROPIC_API_KEY="+noKey, "ANTHROPIC_MODEL="+names[0])
	}
	if names := g.names(wire.Gemini); names != nil {
		env = append(env, "GOOGLE_GEMINI_BASE_URL="+host, "GEMINI_API_KEY="+noKey, "GEMINI_MODEL="+names[0])
	}
	return env
}

// Through returns a model, and the transport of a client for it, such that
// its calls go through the gateway that listens on a unix socket. The
// client needs no key. This is how agents outside the sandbox are metered.
func Through(m llm.Model, socket string) (llm.Model, *http.Transport) {
	m.BaseURL = "http://gateway"
	if m.Provider != llm.Anthropic && m.Provider != llm.Google {
		m.BaseURL += "/v1"
	}
	m.KeyEnv = ""
	return m, &http.Transport{
		MaxIdleConnsPerHost: 4,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}
}
