package grade

import (
	"regexp"
	"slices"
)

var imported = regexp.MustCompile(`(?m)^(?:from|import)[ \t]+([A-Za-z_][A-Za-z0-9_]*)`)

// Imports returns the top names of the modules that a Python script imports
// at its outermost level, each once, in their order. Relative imports, those
// of a line's second module and those made within functions are not seen.
func Imports(script []byte) []string {
	var names []string
	for _, m := range imported.FindAllSubmatch(script, -1) {
		if name := string(m[1]); name != "__future__" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
