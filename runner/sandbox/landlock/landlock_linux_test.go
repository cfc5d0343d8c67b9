package landlock

import (
	"slices"
	"strings"
	"testing"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/local"
)

// Forwarded ports open TCP only where Landlock can hold it to them.
func TestForwardsNeedRulesForTCP(t *testing.T) {
	for _, tc := range []struct {
		policy  string
		abi     int
		kept    bool
		sockets string
		gap     string
	}{
		{local.NetworkNone, abiTCP, true, "stream", "local services can be connected to on any machine"},
		{local.NetworkNone, abiTCP - 1, false, "unix", "local services cannot be reached"},
		{local.NetworkModel, abiTCP, true, "stream", "local services can be connected to on any machine"},
		{local.NetworkModel, abiTCP - 1, true, "stream", "any TCP port on any machine"},
		{local.NetworkFull, abiTCP, true, "", "the network is this machine's own"},
	} {
		spec := sandbox.Spec{Network: sandbox.Network{Policy: tc.policy, Forwards: []sandbox.Forward{{Port: 5000}}}}
		dropped := withoutForwards(&spec, tc.abi)
		if dropped == tc.kept || (len(spec.Network.Forwards) == 1) != tc.kept || sockets(spec.Network) != tc.sockets {
			t.Errorf("%+v: dropped %v, %+v, sockets %q", tc, dropped, spec.Network, sockets(spec.Network))
		}
		gaps := isolation(spec, tc.abi, dropped, "").Gaps
		if !slices.ContainsFunc(gaps, func(gap string) bool { return strings.Contains(gap, tc.gap) }) {
			t.Errorf("%+v: gaps %q", tc, gaps)
		}
	}
	if got := sockets(sandbox.Network{Policy: local.NetworkNone}); got != "unix" {
		t.Errorf("without a network: %q", got)
	}
}
