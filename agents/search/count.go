package search

import (
	"fmt"
	"maps"
	"math/rand/v2"
)

// enumerable is up to how many settings a space is counted one by one.
const enumerable = 4096

// settings lists the settings of a space apart from fidelity, in a fixed
// order; ok is false when there are too many.
func (s space) settings() (list []setting, ok bool) {
	list = []setting{{}}
	for _, k := range s.order {
		d := s.left[k.Name]
		var values []string
		if k.Fidelity {
			values = []string{d.rung(0, s.eta)}
		} else if values, ok = d.values(enumerable); !ok {
			return nil, false
		}
		var next []setting
		for _, set := range list {
			if !matters(k, set) {
				next = append(next, set)
				continue
			}
			for _, value := range values {
				more := maps.Clone(set)
				more[k.Name] = value
				next = append(next, more)
			}
			if len(next) > enumerable {
				return nil, false
			}
		}
		list = next
	}
	return list, true
}

// leftOf says how much of the whole space s still is, counting where that
// can be done and otherwise estimating from a sample.
func (s space) leftOf(whole space) string {
	if all, ok := whole.settings(); ok {
		now, _ := s.settings()
		if len(now) == len(all) {
			return fmt.Sprintf("all %d settings left", len(all))
		}
		return fmt.Sprintf("%d of %d settings left", len(now), len(all))
	}
	const sample = 4000
	r := rand.New(rand.NewPCG(1, 2)) // the same hint always gets the same answer
	inside := 0
	for range sample {
		if s.contains(whole.draw(r)) {
			inside++
		}
	}
	switch percent := 100 * float64(inside) / sample; {
	case inside == sample:
		return "all of the space left"
	case percent < 1:
		return "under 1 % of the space left"
	default:
		return fmt.Sprintf("about %.0f %% of the space left", percent)
	}
}
