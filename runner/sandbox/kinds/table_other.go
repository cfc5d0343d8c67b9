//go:build !linux

package kinds

import (
	"proctor/runner/sandbox"
	"proctor/runner/sandbox/bare"
)

// table lists every kind, best first. A new kind is a package and a line.
var table = []sandbox.Kind{
	bare.Kind(),
}
