// Package kinds lists every kind of sandbox and picks one that works here.
package kinds

import (
	"context"
	"fmt"
	"strings"

	"proctor/runner/sandbox"
)

// Auto is the name under which [Pick] takes the best kind that works.
const Auto = "auto"

// None is the name of the kind that isolates nothing. It is never picked
// unless asked for.
const None = "none"

// All returns the kinds of this system, best first.
func All() []sandbox.Kind { return append([]sandbox.Kind(nil), table...) }

// Names returns what [Pick] accepts.
func Names() []string {
	names := []string{Auto}
	for _, k := range table {
		names = append(names, k.Name)
	}
	return names
}

// Pick returns the named kind, which may not work here, or under [Auto] the
// first that a probe finds working and that isolates. When there is none,
// the error names each kind's reason.
func Pick(ctx context.Context, name string) (sandbox.Kind, error) {
	if name == "" || name == Auto {
		return automatic(ctx, table)
	}
	for _, k := range table {
		if k.Name == name {
			return k, nil
		}
	}
	return sandbox.Kind{}, fmt.Errorf("no sandbox kind %q: there are %s", name, strings.Join(Names(), ", "))
}

// A NoneWorks error says why no kind that isolates works here.
type NoneWorks struct {
	Kinds   []string
	Reasons []string // one for each
}

func (e *NoneWorks) Error() string {
	if len(e.Kinds) == 0 {
		return "no sandbox isolates on this system; --sandbox none runs without isolation"
	}
	why := make([]string, len(e.Kinds))
	for i, k := range e.Kinds {
		why[i] = k + ": " + e.Reasons[i]
	}
	return "no sandbox that isolates works here (" + strings.Join(why, "; ") + "); --sandbox none runs without isolation"
}

func automatic(ctx context.Context, table []sandbox.Kind) (sandbox.Kind, error) {
	var failed NoneWorks
	for _, k := range table {
		if k.Name == None {
			continue
		}
		p := k.Probe(ctx)
		if p.OK {
			return k, nil
		}
		if err := ctx.Err(); err != nil {
			return sandbox.Kind{}, err
		}
		failed.Kinds = append(failed.Kinds, k.Name)
		failed.Reasons = append(failed.Reasons, p.Reason)
	}
	return sandbox.Kind{}, &failed
}
