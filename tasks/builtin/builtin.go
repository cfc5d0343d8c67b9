// Package builtin holds the embedded suite: three small tasks on real data, in
// the format of any other Harbor task directory, which need nothing beyond
// python3's standard library and finish in minutes on one core.
//
// Each directory holds task.toml, instruction.md, NOTES.md (sources, split, how
// the references were measured), environment/ (what the agent gets), tests/
// (the grader and the held-out answers) and solution/ (a worked solution).
// How the data were cut and the references measured is in references/, which
// is not embedded.
package builtin

import (
	"embed"
	"io/fs"
)

// Without the prefix all:, files that begin with "_" or "." stay out, such as
// the byte code that Python leaves behind when somebody tries a task in place.
//
//go:embed digits diabetes speedup
var files embed.FS

// FS returns the suite, with one directory per task at its root. It is
// read-only and safe for concurrent use; no file in it is executable, so
// scripts are run by naming their interpreter.
func FS() fs.FS { return files }
