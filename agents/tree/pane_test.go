package tree

import (
	"fmt"
	"strings"
	"testing"

	"proctor/agents"
)

func drawn(plan []agents.PlanEntry) string {
	var b strings.Builder
	for _, e := range plan {
		fmt.Fprintf(&b, "%-11s %-6s %s\n", e.Status, e.Priority, e.Content)
	}
	return b.String()
}

func TestEntries(t *testing.T) {
	tree := plant(t, higher, "draft 0.91", "draft bug", "draft 0.5 claimed", "improve 1 0.9712", "debug 2 bug",
		"improve 4 7", "debug 5 0.4", "improve 6 bug", "improve 6 live")
	tree.nodes[4].why = "buggy"
	golden(t, "entries.golden", drawn(entries(tree, tree.nodes[8], "running")))
}

func TestEntriesOfALongBranch(t *testing.T) {
	lines := []string{"draft 1"}
	for i := 1; i < 12; i++ {
		lines = append(lines, fmt.Sprintf("improve %d %d", i, i+1))
	}
	golden(t, "branch.golden", drawn(entries(plant(t, higher, lines...), nil, "")))
}

func TestEntriesAreBounded(t *testing.T) {
	lines := []string{"draft 0.9", "draft 0.1", "improve 1 100"}
	for range 1000 {
		lines = append(lines, "improve 2 0.5")
	}
	lines = append(lines, "improve 3 live")
	tree := plant(t, higher, lines...)
	plan := entries(tree, tree.nodes[len(tree.nodes)-1], "thinking")
	text := drawn(plan)
	if len(plan) > mostEntries || len(plan) < mostEntries-2 {
		t.Errorf("%d entries of %d nodes", len(plan), len(tree.nodes))
	}
	for _, want := range []string{"… 805 earlier nodes", "1 draft · 0.9", "3 improve 1 · 100 ★", "1004 improve 3 · thinking", "1003 improve 2 · 0.5"} {
		if !strings.Contains(text, want) {
			t.Errorf("the plan lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, " 4 improve 2") {
		t.Error("an old node is drawn")
	}
}
