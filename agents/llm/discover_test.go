package llm

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"proctor/agents/llm/scripted"
)

func TestProbe(t *testing.T) {
	s := scripted.Start(t, scripted.Turns())
	models, err := Probe(t.Context(), s.URL+"/v1")
	if err != nil {
		t.Fatal(err)
	}
	want := []Model{{Provider: Compatible, BaseURL: s.URL + "/v1", Name: "scripted"}}
	if diff := cmp.Diff(want, models); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := models[0].Check(); err != nil {
		t.Errorf("a model that was found is not usable: %v", err)
	}
	for _, base := range []string{"http://192.0.2.1/v1", "http://example.com/v1", "://"} {
		if _, err := Probe(t.Context(), base); err == nil {
			t.Errorf("Probe(%q) asked another machine", base)
		}
	}
	serve := func(body string) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })}
		done := make(chan struct{})
		go func() { defer close(done); _ = srv.Serve(l) }()
		t.Cleanup(func() { _ = srv.Close(); <-done })
		return "http://" + l.Addr().String() + "/v1"
	}
	if _, err := Probe(t.Context(), serve("<html>a web server</html>")); err == nil || !strings.Contains(err.Error(), "not a model server") {
		t.Errorf("a web server: %v", err)
	}
	if models, err := Probe(t.Context(), serve(`{"object":"list","data":null}`)); err != nil || len(models) != 0 {
		t.Errorf("a server without models: %v, %v", models, err)
	}
	models, err = Probe(t.Context(), serve(`{"data":[{"id":"q","max_model_len":32768},{"id":"l","meta":{"n_ctx_train":4096}}]}`))
	if err != nil || len(models) != 2 || models[0].Context != 32768 || models[1].Context != 4096 {
		t.Errorf("contexts: %+v, %v", models, err)
	}
}

func TestDiscoverEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found := Discover(ctx); found != nil {
		t.Errorf("found %+v without asking", found)
	}
}
