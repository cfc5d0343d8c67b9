package search

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"proctor/tasks"
)

// A setting gives every knob that matters under it a value.
type setting map[string]string

// A space is what may be tried: the knobs and what is left of each. It is a
// value: narrowing makes another.
type space struct {
	knobs []tasks.Knob // in the task's order, which is that of the flags
	order []tasks.Knob // a knob after those its When names
	left  map[string]domain
	eta   float64 // by which fidelity grows from rung to rung
}

func newSpace(knobs []tasks.Knob, eta int) space {
	s := space{knobs: knobs, left: map[string]domain{}, eta: float64(eta)}
	for _, k := range knobs {
		s.left[k.Name] = newDomain(k)
	}
	placed := map[string]bool{}
	var place func(k tasks.Knob)
	place = func(k tasks.Knob) {
		if placed[k.Name] {
			return
		}
		placed[k.Name] = true
		for _, parent := range knobs {
			if _, needed := k.When[parent.Name]; needed {
				place(parent)
			}
		}
		s.order = append(s.order, k)
	}
	for _, k := range knobs {
		place(k)
	}
	return s
}

// matters reports whether k does anything under what is set so far.
func matters(k tasks.Knob, so setting) bool {
	for name, values := range k.When {
		if got, ok := so[name]; !ok || !slices.Contains(values, got) {
			return false
		}
	}
	return true
}

// build makes a setting by asking for a value of each knob that matters.
func (s space) build(value func(tasks.Knob) string) setting {
	set := setting{}
	for _, k := range s.order {
		if matters(k, set) {
			set[k.Name] = value(k)
		}
	}
	return set
}

// defaults returns what the starter does without flags.
func (s space) defaults() setting {
	return s.build(func(k tasks.Knob) string {
		if k.Type == tasks.KnobChoice {
			return k.Default
		}
		return number(parsed(k.Default))
	})
}

// draw returns a setting by chance, at the highest fidelity.
func (s space) draw(r *rand.Rand) setting {
	return s.build(func(k tasks.Knob) string {
		if k.Fidelity {
			return s.left[k.Name].rung(0, s.eta)
		}
		return s.left[k.Name].draw(r)
	})
}

// near returns a setting in the neighbourhood of another, at the highest
// fidelity. About half of the knobs move.
func (s space) near(r *rand.Rand, from setting) setting {
	return s.build(func(k tasks.Knob) string {
		d := s.left[k.Name]
		old, known := from[k.Name]
		switch {
		case k.Fidelity:
			return d.rung(0, s.eta)
		case !known:
			return d.draw(r)
		case r.IntN(2) == 0 && d.contains(old):
			return old
		}
		return d.near(r, old)
	})
}

// at returns the setting at the fidelity of a rung.
func (s space) at(set setting, level int) setting {
	return s.build(func(k tasks.Knob) string {
		if k.Fidelity {
			return s.left[k.Name].rung(level, s.eta)
		}
		if value, ok := set[k.Name]; ok {
			return value
		}
		value, _ := s.left[k.Name].first()
		return value
	})
}

// contains reports whether the setting, whatever its fidelity, is in the space.
func (s space) contains(set setting) bool {
	for name, value := range set {
		d, known := s.left[name]
		if !known || !d.knob.Fidelity && !d.contains(value) {
			return false
		}
	}
	return true
}

// depth is how many rungs there are below that of the highest fidelity.
func (s space) depth() int {
	depth := 0
	for _, k := range s.knobs {
		if k.Fidelity {
			depth = max(depth, s.left[k.Name].depth(s.eta))
		}
	}
	return depth
}

// work says what the time of a trial of the setting may depend on.
func (s space) work(set setting) work {
	w := work{key: s.key(set), load: 1, flat: true}
	w.group = s.join(set, " ", func(k tasks.Knob, value string) string {
		if k.Type == tasks.KnobChoice {
			return value
		}
		return ""
	})
	for _, k := range s.knobs {
		value, set := set[k.Name]
		if top := s.left[k.Name].hi; k.Fidelity && set && top > 0 {
			w.load *= max(parsed(value), 0) / top
			w.flat = false
		}
	}
	return w
}

// typical is the work of a trial of no particular setting at a level.
func (s space) typical(level int) work {
	top := setting{}
	for _, k := range s.knobs {
		if k.Fidelity {
			top[k.Name] = s.left[k.Name].rung(level, s.eta)
		}
	}
	w := s.work(top)
	w.key, w.group = "none", "none"
	return w
}

// text writes the setting as a person reads it, such as "model=mlp lr=0.1".
func (s space) text(set setting) string {
	return s.join(set, " ", func(k tasks.Knob, value string) string { return k.Name + "=" + value })
}

// key names the setting apart from its fidelity.
func (s space) key(set setting) string {
	set = maps.Clone(set)
	maps.DeleteFunc(set, func(name, _ string) bool { return s.left[name].knob.Fidelity })
	return s.text(set)
}

// flags writes the setting as it goes on the command line.
func (s space) flags(set setting) string {
	return s.join(set, " ", func(k tasks.Knob, value string) string { return "--" + k.Name + " " + quote(value) })
}

// fidelity writes what a rung's fidelity knobs are, such as "epochs=4".
func (s space) fidelity(level int) string {
	set := setting{}
	for _, k := range s.knobs {
		if k.Fidelity {
			set[k.Name] = s.left[k.Name].rung(level, s.eta)
		}
	}
	return s.text(set)
}

func (s space) join(set setting, separator string, write func(tasks.Knob, string) string) string {
	var parts []string
	for _, k := range s.knobs {
		if value, ok := set[k.Name]; ok {
			parts = append(parts, write(k, value))
		}
	}
	return strings.Join(parts, separator)
}

// quote writes a value as one word of a shell command.
func quote(value string) string {
	plain := func(r rune) bool {
		return r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-+.,:/@%=", r))
	}
	if value != "" && strings.IndexFunc(value, func(r rune) bool { return !plain(r) }) < 0 {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}
