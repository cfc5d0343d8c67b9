// Package bare is the kind of sandbox that isolates nothing. It exists for
// machines on which nothing else works and must be asked for by name. The
// commands still run below a guest of ours, so that they can be frozen,
// counted and ended together.
package bare

import (
	"context"
	"sync"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/local"
	"proctor/runner/sandbox/system"
	"proctor/runner/sandbox/wire"
)

const name = "none"

// Kind returns the kind.
func Kind() sandbox.Kind {
	view := sync.OnceValue(func() system.View { return system.Find(context.Background()) })
	open := func(ctx context.Context, s sandbox.Spec) (sandbox.Sandbox, error) { return start(ctx, s, view()) }
	return sandbox.Kind{
		Name:    name,
		Summary: "no isolation at all",
		Open:    open,
		Probe:   func(ctx context.Context) sandbox.Probe { return local.Probe(ctx, open) },
	}
}

func start(ctx context.Context, spec sandbox.Spec, view system.View) (sandbox.Sandbox, error) {
	spec, err := local.Validate(name, spec)
	if err != nil {
		return nil, err
	}
	dirs, err := local.NewUnmounted(spec)
	if err != nil {
		return nil, err
	}
	listeners, env, err := local.Loopback(spec.Network)
	if err != nil {
		dirs.Close()
		return nil, err
	}
	s, err := local.Open(ctx, local.Plan{
		Spec:      spec,
		Setup:     wire.Setup{Env: append(local.Environment(dirs.Home, dirs.Tmp, view.PATH(), spec), env...)},
		Listeners: listeners,
		Paths:     dirs.Paths,
		Cleanup:   dirs.Close,
		Isolation: sandbox.Isolation{Gaps: []string{
			"nothing is isolated: commands can read, change and delete whatever you can, use the network, and signal your processes",
		}},
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}
