package kinds

import (
	"context"
	"errors"
	"strings"
	"testing"

	"proctor/runner/sandbox"
)

// A probe says what a sandbox then does.
func TestProbe(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		p := probe(k)
		t.Logf("%+v", p)
		if !p.OK || p.Reason != "" {
			t.Errorf("probe: %+v", p)
		}
		if p.Isolation.Freezer == "" || k.Name == None && len(p.Isolation.Gaps) == 0 {
			t.Errorf("isolation: %+v", p.Isolation)
		}
	})
}

func fake(name string, p sandbox.Probe) sandbox.Kind {
	return sandbox.Kind{Name: name, Probe: func(context.Context) sandbox.Probe { return p }}
}

func TestPick(t *testing.T) {
	works, broken := sandbox.Probe{OK: true}, sandbox.Probe{Reason: "no such luck"}
	for _, c := range []struct {
		first, second sandbox.Probe
		want          string
	}{
		{works, works, "first"},
		{broken, works, "second"},
		{broken, broken, ""},
	} {
		k, err := automatic(t.Context(), []sandbox.Kind{fake("first", c.first), fake("second", c.second), fake(None, works)})
		if k.Name != c.want {
			t.Errorf("picked %q, want %q", k.Name, c.want)
		}
		if c.want != "" {
			continue
		}
		var none *NoneWorks
		if !errors.As(err, &none) || !strings.Contains(err.Error(), "first: no such luck; second: no such luck") {
			t.Errorf("error: %v", err)
		}
	}
	if _, err := Pick(t.Context(), "docker"); err == nil || !strings.Contains(err.Error(), "auto, ") {
		t.Errorf("unknown kind: %v", err)
	}
	for _, k := range All() {
		if got, err := Pick(t.Context(), k.Name); err != nil || got.Name != k.Name {
			t.Errorf("%s: %q, %v", k.Name, got.Name, err)
		}
	}
}
