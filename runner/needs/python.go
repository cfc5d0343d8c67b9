package needs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"proctor/tasks"
)

// defaultPython is the interpreter that a sandbox shows: the first on the
// PATH. systemPython is where a distribution's packages are, and may have what
// another one that comes before it on the PATH does not.
const (
	defaultPython = "python3"
	systemPython  = "/usr/bin/python3"
)

// pythonTime bounds how long an interpreter may take to say what it has.
const pythonTime = 20 * time.Second

// finder asks for modules without importing any. Only the top of a dotted
// name is looked for, since finding what is below it would import that.
// -I keeps out what a sandbox does not show: PYTHONPATH and the user's own.
const finder = `
import json, sys
from importlib.util import find_spec

def there(name):
    try:
        return find_spec(name.partition('.')[0]) is not None
    except Exception:
        return False

print(json.dumps([name for name in json.load(sys.stdin) if not there(name)]))
`

// A python is what an interpreter was found to lack.
type python struct {
	absent  bool            // it is not installed
	lacks   map[string]bool // modules, of those that were asked for
	unknown bool            // it did not say
}

type pythons map[string]python

// probePythons asks each interpreter that the tasks may use once for all
// modules that they need.
func probePythons(ctx context.Context, list []*tasks.Task) pythons {
	wanted := map[string][]string{}
	for _, t := range list {
		if len(t.Needs.Modules) > 0 {
			wanted[defaultPython] = append(wanted[defaultPython], t.Needs.Modules...)
			wanted[systemPython] = append(wanted[systemPython], t.Needs.Modules...)
		}
		if g := t.Needs.Grading; len(g.Modules) > 0 {
			for _, name := range interpreters(g) {
				wanted[name] = append(wanted[name], g.Modules...)
			}
		}
	}
	found := pythons{}
	for name, modules := range wanted {
		slices.Sort(modules)
		found[name] = probePython(ctx, name, slices.Compact(modules))
	}
	return found
}

func interpreters(g tasks.Grading) []string {
	if len(g.Pythons) == 0 {
		return []string{defaultPython}
	}
	return g.Pythons
}

func probePython(ctx context.Context, name string, modules []string) python {
	path, err := exec.LookPath(name)
	if err != nil {
		return python{absent: true}
	}
	question, err := json.Marshal(modules)
	if err != nil {
		return python{unknown: true}
	}
	ctx, cancel := context.WithTimeout(ctx, pythonTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-I", "-c", finder)
	cmd.Stdin = bytes.NewReader(question)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var lacks []string
	if err != nil || json.Unmarshal(out, &lacks) != nil {
		return python{unknown: true}
	}
	p := python{lacks: map[string]bool{}}
	for _, m := range lacks {
		p.lacks[m] = true
	}
	return p
}

// without returns the modules that an interpreter lacks.
func (p python) without(modules []string) []string {
	var list []string
	for _, m := range modules {
		if p.lacks[m] {
			list = append(list, m)
		}
	}
	return list
}

// lacks says what a task lacks of Python, and what its grader does.
func (p pythons) lacks(t *tasks.Task) []Lack {
	var all []Lack
	if kind, say := p.first([]string{defaultPython}, t.Needs.Modules); say != "" {
		l := stops(kind, say+p.elsewhere(t.Needs.Modules))
		if kind == Module && t.Needs.Network {
			l.Stops, l.Say = false, say+", which the agent would have to install"
		}
		all = append(all, l)
	}
	if kind, say := p.first(interpreters(t.Needs.Grading), t.Needs.Grading.Modules); say != "" {
		all = append(all, grading(kind, say))
	}
	return all
}

// elsewhere says that the system's own interpreter has the modules, if so.
func (p pythons) elsewhere(modules []string) string {
	if own := p[systemPython]; own.absent || own.unknown || len(own.without(modules)) > 0 {
		return ""
	}
	return "; " + systemPython + " has all that is needed: start Proctor with PATH=/usr/bin:$PATH"
}

// first says what the interpreter that lacks least of the modules lacks, ""
// if one has all.
func (p pythons) first(names, modules []string) (Kind, string) {
	if len(modules) == 0 {
		return "", ""
	}
	best, least := "", modules
	for _, name := range names {
		found := p[name]
		if found.absent {
			continue
		}
		lacks := found.without(modules)
		if found.unknown || len(lacks) == 0 {
			return "", ""
		}
		if best == "" || len(lacks) < len(least) {
			best, least = name, lacks
		}
	}
	switch {
	case best == "":
		return Python, strings.Join(names, " or ") + ", which is not installed (Debian: apt install python3)"
	case len(least) == 1:
		return Module, fmt.Sprintf("the Python module %s, for %s", least[0], best)
	}
	return Module, fmt.Sprintf("the Python modules %s, for %s", strings.Join(least, ", "), best)
}
