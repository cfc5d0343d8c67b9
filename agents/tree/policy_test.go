package tree

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"proctor/agents"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func higher(a, b float64) bool { return a > b }
func lower(a, b float64) bool  { return a < b }

// plant makes a tree from lines such as "draft 0.9", "debug 2 bug",
// "improve 1 0.95 claimed": the stage, the parent, what came of it.
func plant(t *testing.T, better func(a, b float64) bool, lines ...string) *solutions {
	t.Helper()
	s := &solutions{better: better}
	for _, line := range lines {
		words := strings.Fields(line)
		var parent *node
		rest := words[1:]
		if words[0] != string(draft) {
			var id int
			if _, err := fmt.Sscan(words[1], &id); err != nil {
				t.Fatal(line, err)
			}
			parent, rest = s.nodes[id-1], words[2:]
		}
		n := s.add(stage(words[0]), parent)
		n.done, n.code = true, "print()"
		switch rest[0] {
		case "bug":
			n.buggy, n.why = true, "exit code 1"
		case "mute":
			n.buggy, n.why, n.code = true, "no script", ""
		case "live":
			n.done = false
		default:
			n.score = &score{source: agents.Measured}
			if _, err := fmt.Sscan(rest[0], &n.score.value); err != nil {
				t.Fatal(line, err)
			}
			if len(rest) > 1 {
				n.score.source = agents.Claimed
			}
		}
	}
	return s
}

func TestNext(t *testing.T) {
	always := policy{Drafts: 2, DebugProbability: 1, DebugDepth: 2}
	never := policy{Drafts: 2, DebugProbability: 0, DebugDepth: 2}
	for _, c := range []struct {
		name   string
		policy policy
		better func(a, b float64) bool
		lines  []string
		want   string
	}{
		{"the first is a draft", always, higher, nil, "draft"},
		{"drafts before anything else", always, higher, []string{"draft bug"}, "draft"},
		{"a repair before an improvement", always, higher, []string{"draft 0.5", "draft bug"}, "debug 2"},
		{"no repair when there is none wanted", never, higher, []string{"draft 0.5", "draft bug"}, "improve 1"},
		{"the best is improved", always, higher, []string{"draft 0.5", "draft 0.7"}, "improve 2"},
		{"the best is the lowest where lower is better", always, lower, []string{"draft 0.5", "draft 0.7"}, "improve 1"},
		{"of equals the first", always, higher, []string{"draft 7", "draft 7"}, "improve 1"},
		{"a measured score before a claimed one", always, higher, []string{"draft 0.5", "draft 0.9 claimed"}, "improve 1"},
		{"a claimed score when there is no other", always, higher, []string{"draft bug", "draft 0.9 claimed", "debug 1 bug", "debug 3 bug"}, "improve 2"},
		{"only leaves are repaired", always, higher, []string{"draft bug", "draft 0.5", "debug 1 0.4"}, "improve 2"},
		{"repairs have a depth", always, higher, []string{"draft bug", "draft 0.5", "debug 1 bug", "debug 3 bug"}, "improve 2"},
		{"repairs of repairs up to it", always, higher, []string{"draft bug", "draft 0.5", "debug 1 bug"}, "debug 3"},
		{"a failed improvement has a depth of its own", always, higher, []string{"draft 0.4", "draft 0.5", "improve 2 bug"}, "debug 3"},
		{"what has no script cannot be repaired", always, higher, []string{"draft mute", "draft 0.5"}, "improve 2"},
		{"a draft when nothing works", always, higher, []string{"draft mute", "draft mute"}, "draft"},
		{"a node that is not done counts for nothing", always, higher, []string{"draft 0.5", "draft live"}, "improve 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, n := c.policy.next(plant(t, c.better, c.lines...), rand.New(rand.NewPCG(1, 0)))
			got := string(s)
			if n != nil {
				got += fmt.Sprintf(" %d", n.id)
			}
			if got != c.want {
				t.Errorf("next is %q, want %q", got, c.want)
			}
		})
	}
}

// TestSequence fixes what is made by which seed, where every third node fails
// and the others score by their number.
func TestSequence(t *testing.T) {
	var b strings.Builder
	for seed := range uint64(3) {
		p := policy{Drafts: 3, DebugProbability: 0.5, DebugDepth: 2}
		tree := &solutions{better: higher}
		rng := rand.New(rand.NewPCG(seed, 0))
		fmt.Fprintf(&b, "seed %d:", seed)
		for range 20 {
			n := tree.add(p.next(tree, rng))
			n.done, n.code = true, "print()"
			if n.id%3 == 0 {
				n.buggy = true
			} else {
				n.score = &score{float64(n.id * 7 % 10), agents.Measured}
			}
			fmt.Fprintf(&b, " %s", n.stage)
			if n.parent != nil {
				fmt.Fprintf(&b, " %d", n.parent.id)
			}
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	golden(t, "sequence.golden", b.String())
}

func TestRemembered(t *testing.T) {
	tree := plant(t, higher,
		"draft 0.5", "draft bug", "draft 0.6", // 1 2 3
		"debug 2 bug", "debug 4 bug", // 4 5
		"improve 3 0.7", "improve 6 0.65", "improve 6 bug", "improve 6 0.1", // 6 7 8 9
	)
	ids := func(nodes []*node) string {
		var s []string
		for _, n := range nodes {
			s = append(s, fmt.Sprint(n.id))
		}
		return strings.Join(s, " ")
	}
	for _, c := range []struct {
		name   string
		stage  stage
		parent int
		most   int
		want   string
	}{
		{"a draft knows all drafts and what worked", draft, 0, 16, "1 2 3 6 7 9"},
		{"an improvement knows what was tried on the same, and what worked", improve, 6, 16, "1 3 7 8 9"},
		{"a repair knows its chain only", debug, 5, 16, "2 4"},
		{"the newest, and always the best", draft, 0, 4, "2 3 6 9"},
		{"none when there is no room", improve, 6, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var parent *node
			if c.parent > 0 {
				parent = tree.nodes[c.parent-1]
			}
			if got := ids(remembered(tree, c.stage, parent, c.most)); got != c.want {
				t.Errorf("remembered %q, want %q", got, c.want)
			}
		})
	}
}
