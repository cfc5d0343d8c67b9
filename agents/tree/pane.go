package tree

import (
	"fmt"
	"strings"

	"proctor/agents"
)

const (
	mostEntries = 200 // of the plan
	mostIndent  = 8   // levels of a branch that are drawn
)

// entries draws the tree as a plan, one node a line, parents before their
// children. doing says what the live node, if any, is at. Of a large tree the
// newest nodes are drawn, with the best, the live one and what they grew from.
func entries(t *solutions, live *node, doing string) []agents.PlanEntry {
	best := t.best()
	shown := shownNodes(t, best, live)
	var plan []agents.PlanEntry
	if hidden := len(t.nodes) - len(shown); hidden > 0 {
		plan = append(plan, agents.PlanEntry{
			Content: fmt.Sprintf("… %d earlier nodes", hidden), Priority: "low", Status: agents.Completed,
		})
	}
	var walk func(nodes []*node, above []bool)
	walk = func(nodes []*node, above []bool) {
		var visible []*node
		for _, n := range nodes {
			if shown[n] {
				visible = append(visible, n)
			}
		}
		for i, n := range visible {
			last := i == len(visible)-1
			e := entry(n, n == best, n == live, doing)
			e.Content = branch(above, last) + e.Content
			plan = append(plan, e)
			walk(n.children, append(above[:len(above):len(above)], last))
		}
	}
	walk(t.drafts(), nil)
	return plan
}

// shownNodes chooses the nodes that are drawn.
func shownNodes(t *solutions, best, live *node) map[*node]bool {
	shown := map[*node]bool{}
	add := func(n *node) {
		var line []*node // what is not drawn yet, up to the root
		for ; n != nil && !shown[n]; n = n.parent {
			line = append(line, n)
		}
		if len(shown)+len(line) < mostEntries {
			for _, n := range line {
				shown[n] = true
			}
		}
	}
	add(live)
	add(best)
	for i := len(t.nodes) - 1; i >= 0 && len(shown) < mostEntries-1; i-- {
		add(t.nodes[i])
	}
	return shown
}

// branch draws the lines that lead to a node. above says of every level above
// it whether it is the last there.
func branch(above []bool, last bool) string {
	var b strings.Builder
	if hidden := len(above) - mostIndent; hidden > 0 {
		above = above[hidden:]
		b.WriteString("…")
	}
	for _, end := range above {
		if end {
			b.WriteString("  ")
		} else {
			b.WriteString("│ ")
		}
	}
	if last {
		b.WriteString("└ ")
	} else {
		b.WriteString("├ ")
	}
	return b.String()
}

// entry describes a node on one line.
func entry(n *node, best, live bool, doing string) agents.PlanEntry {
	text := fmt.Sprintf("%d %s", n.id, n.stage)
	if n.parent != nil {
		text += fmt.Sprintf(" %d", n.parent.id)
	}
	e := agents.PlanEntry{Priority: "medium", Status: agents.Completed}
	switch {
	case live:
		e.Status = agents.InProgress
		text += " · " + doing
	case !n.done:
		e.Status = agents.Pending
	case n.buggy && n.why == "buggy":
		e.Priority = "low"
		text += " · buggy"
	case n.buggy:
		e.Priority = "low"
		text += " · buggy: " + n.why
	default:
		text += " · " + figure(n.score.value)
		if n.score.source == agents.Claimed {
			text += " claimed"
		}
	}
	if best {
		e.Priority = "high"
		text += " ★"
	}
	e.Content = text
	return e
}
