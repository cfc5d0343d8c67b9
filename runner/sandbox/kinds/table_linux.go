package kinds

import (
	"proctor/runner/sandbox"
	"proctor/runner/sandbox/bare"
	"proctor/runner/sandbox/bwrap"
	"proctor/runner/sandbox/landlock"
)

// table lists every kind, best first. A new kind is a package and a line.
var table = []sandbox.Kind{
	bwrap.Kind(),
	landlock.Kind(),
	bare.Kind(),
}
