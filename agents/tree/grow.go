package tree

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"proctor/agents"
	"proctor/agents/llm"
)

const (
	mostReplies = 3        // attempts at a usable reply
	recorded    = 16 << 10 // bytes of one thing the model says that go on record
	mostMute    = 3        // nodes in a row without one, after which the run ends
)

// A grower is one tree in the making.
type grower struct {
	*agents.Session
	options
	rng  *rand.Rand
	tree solutions
	work *workspace

	files                    string // the look at the files
	starterName, starterCode string

	hints    []agents.Hint // that have been passed on
	waiting  []agents.Hint // that came during a call
	squeezed int           // of the last request
	mute     int           // nodes in a row without a usable reply
	standing *node         // whose outputs are graded if the run ends now
}

func (g *grower) run(ctx context.Context) error {
	g.work = openWorkspace(g.Session)
	if g.Nodes == 0 && unlimited(g.Remaining()) {
		g.Nodes = unlimitedNodes
	}
	var err error
	if g.files, err = g.preview(ctx); err != nil {
		return err
	}
	g.starterName, g.starterCode = g.starter()
	for {
		reason := g.reason()
		if reason != "" {
			return g.finish(ctx, reason)
		}
		err := g.grow(ctx)
		switch {
		case err == nil:
		case errors.Is(err, llm.BudgetSpent) && ctx.Err() == nil:
			return g.finish(ctx, "the model's budget is spent")
		default:
			return errors.Join(err, g.leaveBest())
		}
	}
}

// reason says why there is no further node, "" when there is one.
func (g *grower) reason() string {
	if g.Nodes > 0 && len(g.tree.nodes) >= g.Nodes {
		return fmt.Sprintf("%d nodes are made", len(g.tree.nodes))
	}
	if g.mute >= mostMute {
		return fmt.Sprintf("the model gave no usable reply for %d nodes in a row", g.mute)
	}
	var took []time.Duration
	for _, n := range g.tree.nodes {
		if n.took > 0 {
			took = append(took, n.took)
		}
	}
	return over(g.Remaining(), took, g.standing != nil)
}

// grow makes one node.
func (g *grower) grow(ctx context.Context) error {
	before := g.Remaining().Time
	n := g.tree.add(g.next(&g.tree, g.rng))
	err := g.solve(ctx, n)
	if after := g.Remaining().Time; before != nil && after != nil {
		n.took = max(0, *before-*after) // negative when the budget was extended
	}
	n.done = true
	if n.score == nil && n.why == "" {
		n.buggy, n.why = true, "given up"
	}
	g.show(nil, "")
	return err
}

// solve has a node's script written, runs it and judges it.
func (g *grower) solve(ctx context.Context, n *node) error {
	g.show(n, "thinking")
	if err := g.propose(ctx, n); err != nil || n.code == "" {
		return err
	}
	obs, err := g.try(ctx, n)
	if err != nil {
		return err
	}
	kept := ""
	if failure(obs, "") == "" {
		n.checkpoint, kept = g.work.keep(n)
	}
	own := false
	if n.score, own = measure(obs); own && !obs.Denied {
		g.Metric(agents.Metric{Name: g.metricName(), Value: n.score.value, Source: agents.Measured})
	}
	rev, err := g.review(ctx, n, obs)
	judge(n, failure(obs, kept), rev)
	if !n.buggy && n.score.source == agents.Claimed {
		g.Metric(agents.Metric{Name: g.metricName(), Value: n.score.value, Source: agents.Claimed})
	}
	// Also when the review failed because the run is at its end: what was
	// measured is worth keeping.
	return errors.Join(err, g.promote())
}

// propose asks the model for a node's design and script. A model that gives
// none, over several attempts, leaves a buggy node.
func (g *grower) propose(ctx context.Context, n *node) error {
	var talk []llm.Message
	why := ""
	for range mostReplies {
		reply, err := g.ask(ctx, n.name(), func(q squeeze) llm.Request {
			return llm.Request{System: g.system(q), Messages: append([]llm.Message{llm.Say(g.request(n, q))}, talk...)}
		})
		if err != nil {
			return err
		}
		if n.sketch, n.code, why = readSolution(reply); why == "" {
			g.mute = 0
			if n.sketch != "" {
				g.Message(fmt.Sprintf("%s: %s", n.name(), clip(n.sketch, recorded)))
			}
			return nil
		}
		g.Note(fmt.Sprintf("%s: the model's reply cannot be used: %s", n.name(), why))
		talk = []llm.Message{
			{Role: llm.Assistant, Text: clip(reply.Text, 4<<10)},
			llm.Say("Your reply cannot be used: " + why + ". Answer again: the design in a few sentences, then the whole program in exactly one fenced block that begins with ```python."),
		}
	}
	g.mute++
	n.buggy, n.why = true, "no script"
	n.output = "The model's reply could not be used: " + why + "."
	return nil
}

// try writes and runs a node's script.
func (g *grower) try(ctx context.Context, n *node) (agents.Observation, error) {
	g.show(n, "running")
	obs, err := g.work.write(ctx, n)
	if err != nil {
		return obs, fmt.Errorf("tree: write the script of %s: %w", n.name(), err)
	}
	if !obs.Denied {
		if err := g.work.prepare(); err != nil {
			return obs, fmt.Errorf("tree: before %s: %w", n.name(), err)
		}
		obs, err = g.Session.Run(ctx, agents.Action{
			Kind: agents.Execute, Title: "run " + n.name(),
			Shell:   g.work.command(g.Python),
			Timeout: timeLimit(g.Remaining().Time, time.Duration(g.NodeTime)),
		})
		if err != nil {
			return obs, fmt.Errorf("tree: run %s: %w", n.name(), err)
		}
	}
	n.output = obs.Text
	if obs.Denied {
		n.output = "A person did not allow this program to run: " + obs.Text
	}
	return obs, nil
}

// review asks the model what came of a node. It returns nil when there is no
// review to go by: none was wanted, none was usable, or it was made up.
func (g *grower) review(ctx context.Context, n *node, obs agents.Observation) (*review, error) {
	if !g.Review || obs.Denied {
		return nil, nil
	}
	g.show(n, "reviewing")
	var talk []llm.Message
	for range mostReplies - 1 {
		reply, err := g.ask(ctx, "review of "+n.name(), func(q squeeze) llm.Request {
			r := g.reviewRequest(n, obs, q)
			r.Messages = append(r.Messages, talk...)
			return r
		})
		if err != nil {
			return nil, err
		}
		rev, why := readReview(reply)
		if why == "" {
			if invents(rev, obs.Text) {
				g.Note(fmt.Sprintf("the review of %s is ignored: it names a metric of %v, which the output does not have", n.name(), *rev.Claim))
				return nil, nil
			}
			return &rev, nil
		}
		g.Note(fmt.Sprintf("the review of %s cannot be used: %s", n.name(), why))
		talk = objection(reply, why)
	}
	return nil, nil
}

// objection goes on with a conversation whose last reply cannot be used.
func objection(reply llm.Reply, why string) []llm.Message {
	if len(reply.Calls) == 0 {
		return []llm.Message{{Role: llm.Assistant, Text: clip(reply.Text, 4<<10)}, llm.Say("Your reply cannot be used: " + why + ".")}
	}
	talk := []llm.Message{reply.Message()}
	for _, c := range reply.Calls {
		talk = append(talk, llm.Answer(c, "This cannot be used: "+why+". Call review again."))
	}
	return talk
}

// promote makes the best node's outputs the ones that stand.
func (g *grower) promote() error {
	best := g.tree.best()
	if best == nil || best == g.standing {
		return nil
	}
	if err := g.work.stand(best, fmt.Sprintf("%s: %s %s", best.name(), g.metricName(), figure(best.score.value))); err != nil {
		return err
	}
	g.standing = best
	return nil
}

// leaveBest puts the best node's outputs and script back into the workspace.
func (g *grower) leaveBest() error {
	if g.standing == nil {
		return nil
	}
	if err := g.Restore(g.standing.checkpoint); err != nil {
		return fmt.Errorf("tree: put the outputs of %s back: %w", g.standing.name(), err)
	}
	if err := g.WriteFile(g.work.script, []byte(g.standing.code)); err != nil {
		return fmt.Errorf("tree: put the script of %s back: %w", g.standing.name(), err)
	}
	return nil
}

// finish leaves the best node's outputs to be graded, or nothing when none
// worked, and says what the search came to.
func (g *grower) finish(ctx context.Context, reason string) error {
	for _, h := range append(g.waiting, g.Hints()...) {
		g.Delivered(h.ID, agents.Queued, "too late: the search is over, since "+reason)
	}
	g.show(nil, "")
	if g.standing == nil {
		err := fmt.Errorf("tree: none of %d nodes worked: %s", len(g.tree.nodes), reason)
		return errors.Join(err, g.work.empty(ctx))
	}
	if err := g.leaveBest(); err != nil {
		return err
	}
	buggy := 0
	for _, n := range g.tree.nodes {
		if n.buggy {
			buggy++
		}
	}
	source := ""
	if g.standing.score.source == agents.Claimed {
		source = " (claimed, not measured)"
	}
	text := fmt.Sprintf("Best %s %s%s: %s of %d nodes, %d of them buggy. Finished because %s.",
		g.metricName(), strings.TrimSpace(figure(g.standing.score.value)+" "+g.Task.Metric.Unit), source, g.standing.name(), len(g.tree.nodes), buggy, reason)
	g.Message(text)
	return nil
}

// show draws the tree with what its live node is at.
func (g *grower) show(live *node, doing string) { g.Plan(entries(&g.tree, live, doing)) }
