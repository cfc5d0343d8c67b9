package tree

import (
	"fmt"
	"strconv"
	"time"

	"proctor/agents"
)

// A stage is why a node was made.
type stage string

const (
	draft   stage = "draft"   // a solution from nothing
	debug   stage = "debug"   // a repair of a broken one
	improve stage = "improve" // a change to a working one
)

// A node is one solution: a whole script, and what came of it.
type node struct {
	id       int // from 1, in the order of making
	stage    stage
	parent   *node // nil for a draft
	children []*node

	sketch string // the design in the model's words
	code   string // empty when the model gave none

	done    bool
	output  string // what the run printed, or why there was none
	summary string // what came of it, in the reviewing model's words
	score   *score // nil when there is none
	buggy   bool
	why     string // why it is buggy, in a word or two

	checkpoint string        // its outputs; empty when there are none
	took       time.Duration // working time, with the model's
}

// A score is a node's validation metric and where it comes from.
type score struct {
	value  float64
	source agents.Source
}

// name is how people and the model are told of a node.
func (n *node) name() string {
	if n.parent == nil {
		return fmt.Sprintf("node %d (%s)", n.id, n.stage)
	}
	return fmt.Sprintf("node %d (%s %d)", n.id, n.stage, n.parent.id)
}

// debugs is how many repairs in a row the node is the last of.
func (n *node) debugs() int {
	count := 0
	for ; n != nil && n.stage == debug; n = n.parent {
		count++
	}
	return count
}

// solutions is the tree, its nodes in the order of making. Nodes that are not
// done yet count for nothing.
type solutions struct {
	nodes  []*node
	better func(a, b float64) bool // the task's direction
}

// add makes a node.
func (t *solutions) add(s stage, parent *node) *node {
	n := &node{id: len(t.nodes) + 1, stage: s, parent: parent}
	t.nodes = append(t.nodes, n)
	if parent != nil {
		parent.children = append(parent.children, n)
	}
	return n
}

// best returns the best working node, nil when there is none. A measured
// score comes before one that is only claimed, and of equals the first.
func (t *solutions) best() *node {
	var best *node
	for _, n := range t.nodes {
		if n.done && !n.buggy && n.score != nil && (best == nil || t.beats(*n.score, *best.score)) {
			best = n
		}
	}
	return best
}

func (t *solutions) beats(a, b score) bool {
	if a.source != b.source {
		return a.source == agents.Measured
	}
	return t.better(a.value, b.value)
}

// drafts returns the roots.
func (t *solutions) drafts() []*node {
	var roots []*node
	for _, n := range t.nodes {
		if n.parent == nil {
			roots = append(roots, n)
		}
	}
	return roots
}

// figure writes a score for people.
func figure(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }
