package roster

import (
	"context"
	"strings"
	"testing"

	"proctor/agents"
)

// TestKinds holds every agent to what lists and runs expect of it.
func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			if k.Name == "" || seen[k.Name] {
				t.Errorf("the name %q is empty or taken", k.Name)
			}
			seen[k.Name] = true
			if k.Summary == "" || strings.Contains(k.Summary, "\n") || len(k.Summary) > 100 {
				t.Errorf("the summary %q is not one short line", k.Summary)
			}
			if got := k.Check(context.Background(), nil, agents.Options{}); k.NoModel && len(got) > 0 {
				t.Errorf("it cannot run any task here: %q", got)
			}
			o := agents.Options{}
			if strings.HasSuffix(k.Name, ":") {
				o.Arg = "x"
			}
			if k.FromRun {
				o.Log = make([]agents.RecordedAction, 1)
			}
			if agent, err := k.New(o); k.NoModel && (err != nil || agent == nil) {
				t.Errorf("New: %v, %v", agent, err)
			}
			if found, _, err := Find(k.Name + o.Arg); err != nil || found.Name != k.Name {
				t.Errorf("Find(%q) = %q, %v", k.Name+o.Arg, found.Name, err)
			}
		})
	}
}

func TestFind(t *testing.T) {
	tests := []struct {
		name      string
		kind, arg string
		err       string
	}{
		{"search", "search", "", ""},
		{"rerun:20261121-1030-x", "rerun:", "20261121-1030-x", ""},
		{"rerun:a:b", "rerun:", "a:b", ""},
		{"rerun", "", "", `agent "rerun" needs an argument: rerun:RUN`},
		{"rerun:", "", "", `agent "rerun" needs an argument: rerun:RUN`},
		{"human:me", "", "", `agent "human" takes no argument, but was given "me"`},
		{"serach", "", "", `there is no agent "serach"; did you mean "search"?`},
		{"rerum:x", "", "", `there is no agent "rerum:x"; did you mean "rerun"?`},
		{"quantum-annealing", "", "", `there is no agent "quantum-annealing"; there are baseline, `},
		{"", "", "", `there is no agent ""; there are baseline, `},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k, o, err := Find(test.name)
			if test.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.err) {
					t.Errorf("error %v, want %s", err, test.err)
				}
				return
			}
			if err != nil || k.Name != test.kind || o.Arg != test.arg {
				t.Errorf("%q with %q, %v; want %q with %q", k.Name, o.Arg, err, test.kind, test.arg)
			}
		})
	}
}
