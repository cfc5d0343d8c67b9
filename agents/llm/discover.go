package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// probeTimeout bounds how long one local server may take to answer.
const probeTimeout = 500 * time.Millisecond

// A Server is a model server that answers.
type Server struct {
	Name    string // "Ollama", "vLLM", "llama.cpp" or "LM Studio", by its port
	BaseURL string
	Models  []Model // ready for New
}

// local are the servers people run, on their usual ports.
var local = []Server{
	{Name: "Ollama", BaseURL: "http://127.0.0.1:11434/v1"},
	{Name: "vLLM", BaseURL: "http://127.0.0.1:8000/v1"},
	{Name: "llama.cpp", BaseURL: "http://127.0.0.1:8080/v1"},
	{Name: "LM Studio", BaseURL: "http://127.0.0.1:1234/v1"},
}

// Discover returns the model servers that answer on this machine's usual
// ports, in a fixed order, within a second. It asks loopback only.
func Discover(ctx context.Context) []Server {
	answers := make([]*Server, len(local))
	var all sync.WaitGroup
	for i, s := range local {
		all.Go(func() {
			if models, err := Probe(ctx, s.BaseURL); err == nil {
				answers[i] = &Server{Name: s.Name, BaseURL: s.BaseURL, Models: models}
			}
		})
	}
	all.Wait()
	var found []Server
	for _, s := range answers {
		if s != nil {
			found = append(found, *s)
		}
	}
	return found
}

// Probe asks the OpenAI-compatible server at baseURL, which must be on
// loopback, for its models. Anything else that listens there is an error.
func Probe(ctx context.Context, baseURL string) ([]Model, error) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return nil, fmt.Errorf("asking %q for its models: %w", baseURL, err)
	}
	if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("asking %q for its models: it is not an address of this machine", baseURL)
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(baseURL, "/")+"/models", nil)
	if err != nil {
		return nil, err
	}
	web := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true}, // and no proxy
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := web.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var list struct {
		Object string `json:"object"`
		Data   []struct {
			ID  string `json:"id"`
			Max int64  `json:"max_model_len"` // vLLM
			Len int64  `json:"context_length"`
			// llama.cpp
			Meta struct {
				Context int64 `json:"n_ctx_train"`
			} `json:"meta"`
		} `json:"data"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, 4<<20)).Decode(&list)
	if err != nil || resp.StatusCode != http.StatusOK || list.Data == nil && list.Object != "list" {
		return nil, fmt.Errorf("asking %q for its models: it is not a model server (%s)", baseURL, resp.Status)
	}
	models := []Model{}
	for _, d := range list.Data {
		if d.ID != "" {
			models = append(models, Model{Provider: Compatible, BaseURL: baseURL, Name: d.ID, Context: max(0, d.Max, d.Len, d.Meta.Context)})
		}
	}
	return models, nil
}
