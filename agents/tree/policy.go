package tree

import "math/rand/v2"

// A policy says which node is made next.
type policy struct {
	// Drafts is how many independent solutions come first.
	Drafts int `json:"drafts"`
	// DebugProbability is how likely a broken solution is repaired, when
	// there is one, rather than the best improved.
	DebugProbability float64 `json:"debug_probability"`
	// DebugDepth is how many repairs in a row one solution gets.
	DebugDepth int `json:"debug_depth"`
}

// next returns what to make: a draft while there are too few, then a repair
// of a broken leaf drawn by lot, then an improvement of the best; a draft
// where nothing works. It is a function of the tree and what rng gives.
func (p policy) next(t *solutions, rng *rand.Rand) (stage, *node) {
	if len(t.drafts()) < p.Drafts {
		return draft, nil
	}
	if broken := p.broken(t); len(broken) > 0 && rng.Float64() < p.DebugProbability {
		return debug, broken[rng.IntN(len(broken))]
	}
	if best := t.best(); best != nil {
		return improve, best
	}
	return draft, nil
}

// broken returns the leaves that a repair may be tried on.
func (p policy) broken(t *solutions) []*node {
	var broken []*node
	for _, n := range t.nodes {
		if n.done && n.buggy && n.code != "" && len(n.children) == 0 && n.debugs() < p.DebugDepth {
			broken = append(broken, n)
		}
	}
	return broken
}

// remembered returns the nodes of which the model is told when it makes a
// node, at most so many, in the order of making: of its own branch all, good
// or not, so that nothing is tried twice, and of the others what worked.
func remembered(t *solutions, s stage, parent *node, most int) []*node {
	var close, far []*node
	for _, n := range t.nodes {
		switch {
		case !n.done || n == parent:
		case s == debug:
			if isAbove(n, parent) {
				close = append(close, n)
			}
		case n.parent == parent:
			close = append(close, n)
		case !n.buggy:
			far = append(far, n)
		}
	}
	// Half for the branch, the rest for the others; either takes what the
	// other leaves. The newest matter most, and the best always.
	if room := max(most-len(far), most/2); len(close) > room {
		close = close[len(close)-room:]
	}
	if room := most - len(close); len(far) > room {
		far = newestWith(far, t.best(), room)
	}
	return merge(close, far)
}

// isAbove reports whether n is above child within its chain of repairs.
func isAbove(n, child *node) bool {
	for c := child; c != nil && c.stage == debug; c = c.parent {
		if c.parent == n {
			return true
		}
	}
	return false
}

// newestWith returns the last count nodes, of which one is keep if it is
// among them all.
func newestWith(nodes []*node, keep *node, count int) []*node {
	if count <= 0 {
		return nil
	}
	cut := len(nodes) - count
	for _, n := range nodes[:cut] {
		if n == keep {
			return append([]*node{keep}, nodes[cut+1:]...)
		}
	}
	return nodes[cut:]
}

// merge joins two lists of nodes in the order of making.
func merge(a, b []*node) []*node {
	var all []*node
	for len(a) > 0 && len(b) > 0 {
		if a[0].id < b[0].id {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}
