//go:build unix

package tree

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"proctor/agents"
	"proctor/agents/llm"
	"proctor/agents/llm/scripted"
	"proctor/agents/llm/wire"
	"proctor/agents/roster/agentstest"
	"proctor/tasks"
)

// A trial is one run of the agent, with a scripted model and real processes.
type trial struct {
	*agentstest.Host
	server *scripted.Server
	extra  string
	host   agents.Host // in place of Host, where it differs
	model  llm.Model
}

// start makes a trial of a task whose one output is sub/out.txt.
func start(t *testing.T, script scripted.Script) *trial {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
			t.Fatal("python3 is required")
		}
		t.Skip("there is no python3")
	}
	task := &tasks.Task{
		Ref: "test/task", Instruction: "Guess well.", Outputs: []string{"sub/out.txt"},
		Metric: tasks.Metric{Name: "accuracy", HigherIsBetter: true, Pattern: regexp.MustCompile(`acc[=: ]+([0-9.]+)`)},
	}
	tr := &trial{Host: agentstest.New(t, task), extra: `{"drafts":2}`}
	tr.server = scripted.Start(t, script)
	tr.model = llm.Model{Provider: llm.Compatible, BaseURL: tr.server.URL + "/v1", Name: "any"}
	if err := os.WriteFile(filepath.Join(tr.Dir, "train.csv"), []byte("id,label\n1,cat\n2,dog\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return tr
}

func (tr *trial) run(t *testing.T) error {
	t.Helper()
	agent, err := Kind().New(agents.Options{Extra: json.RawMessage(tr.extra)})
	if err != nil {
		t.Fatal(err)
	}
	client, err := llm.New(tr.model, llm.Options{Backoff: time.Millisecond, Retries: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := tr.Session(1)
	s.Model = client
	if tr.host != nil {
		s.Host = tr.host
	}
	return agent.Run(ctx, s)
}

func (tr *trial) ok(t *testing.T) {
	t.Helper()
	if err := tr.run(t); err != nil {
		t.Fatalf("%v; notes %q", err, tr.Notes)
	}
}

// output is what would be graded.
func (tr *trial) output(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(tr.Dir, "sub/out.txt"))
	if os.IsNotExist(err) {
		return "(none)"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// solution is a reply with a script of these lines.
func solution(lines ...string) scripted.Turn {
	return scripted.Turn{Text: "A design.\n```python\n" + strings.Join(lines, "\n") + "\n```\n", Usage: &wire.Usage{Input: 100, Output: 10}}
}

// good is a script that writes its name and prints a metric.
func good(name, metric string) scripted.Turn {
	return solution(fmt.Sprintf("open('sub/out.txt','w').write(%q)", name), fmt.Sprintf("print('acc: %s')", metric))
}

// says is a review.
func says(bug bool, metric string) scripted.Turn {
	return scripted.Turn{Calls: []scripted.Call{{Name: "review", Args: fmt.Sprintf(`{"is_bug":%v,"summary":"So it went.","metric":%s}`, bug, metric)}}}
}

func TestBestIsRestored(t *testing.T) {
	for _, c := range []struct {
		name   string
		higher bool
		want   string
		figure string
	}{
		{"higher is better", true, "second", "1 ★"},
		{"lower is better", false, "third", "0.25 ★"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := start(t, scripted.Turns(
				good("first", "0.5"), says(false, "0.5"),
				good("second", "1"), says(false, "1"), // an integer is a number
				good("third", "0.25"), says(false, "0.25"),
			))
			tr.Task.Metric.HigherIsBetter = c.higher
			tr.extra = `{"drafts":2,"nodes":3}`
			tr.ok(t)
			if got := tr.output(t); got != c.want {
				t.Errorf("%q would be graded, want %q", got, c.want)
			}
			if plan := tr.LastPlan(); !strings.Contains(plan, c.figure) {
				t.Errorf("the plan lacks %q:\n%s", c.figure, plan)
			}
			script, err := os.ReadFile(filepath.Join(tr.Dir, "solution.py"))
			if err != nil || !strings.Contains(string(script), c.want) {
				t.Errorf("solution.py is %q (%v), want the best's", script, err)
			}
			kept, err := os.ReadFile(filepath.Join(tr.Dir, "nodes/001.py"))
			if err != nil || !strings.Contains(string(kept), "first") {
				t.Errorf("nodes/001.py is %q (%v)", kept, err)
			}
			standing := tr.Checkpoints[0]
			for _, k := range tr.Checkpoints {
				if k.Standing {
					standing = k
				}
			}
			if last := tr.Restored[len(tr.Restored)-1]; last != standing.ID {
				t.Errorf("%s was restored last, but %s stands", last, standing.ID)
			}
			first := tr.server.Requests()[0]
			for _, want := range []string{"Guess well.", "./train.csv (21 bytes)", "1,cat", "acc: 0.5", "sub/out.txt"} {
				if !first.Contains(want) {
					t.Errorf("the first request lacks %q", want)
				}
			}
			if improving := tr.server.Requests()[4]; !improving.Contains("A design.") || !improving.Contains("So it went.") {
				t.Error("the improvement is not told of what it improves")
			}
		})
	}
}

func TestAllBuggy(t *testing.T) {
	tr := start(t, scripted.Turns(
		solution("open('sub/out.txt','w').write('x')", "print('acc: 0.9')", "raise SystemExit(3)"), says(false, "0.9"),
		solution("open('sub/out.txt','w').write('x')", "print('fine')"), says(false, "null"),
		good("cheat", "1"), says(true, "1"),
		solution("print('acc: 0.9')"), says(false, "0.9"), // nothing written
	))
	tr.extra = `{"drafts":4,"nodes":4}`
	err := tr.run(t)
	if err == nil || !strings.Contains(err.Error(), "none of 4 nodes worked") {
		t.Errorf("the error is %v", err)
	}
	if got := tr.output(t); got != "(none)" {
		t.Errorf("%q would be graded, though nothing worked", got)
	}
	for _, k := range tr.Checkpoints {
		if k.Standing {
			t.Errorf("checkpoint %v stands", k)
		}
	}
	want := "completed   ├ 1 draft · buggy: exit code 3\n" +
		"completed   ├ 2 draft · buggy: no metric\n" +
		"completed   ├ 3 draft · buggy\n" +
		"completed   └ 4 draft · buggy: no sub/out.txt\n"
	if diff := cmp.Diff(want, tr.LastPlan()); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// TestStaleOutput has a node pass off another's output as its own.
func TestStaleOutput(t *testing.T) {
	tr := start(t, scripted.Turns(good("mine", "0.5"), solution("print('acc: 0.9')")))
	tr.extra = `{"nodes":2,"review":false}`
	tr.ok(t)
	if got := tr.output(t); got != "mine" {
		t.Errorf("%q would be graded", got)
	}
	if plan := tr.LastPlan(); !strings.Contains(plan, "2 draft · buggy: no sub/out.txt") {
		t.Errorf("the plan is\n%s", plan)
	}
}

// TestGivenOutput has a task that gives its output, as a file to change.
func TestGivenOutput(t *testing.T) {
	tr := start(t, scripted.Turns(
		solution("open('step.py','a').write('# slow\\n')", "print('acc: 0.5')"),
		solution("open('step.py','a').write('# fast\\n')", "print('acc: 0.9')"),
		solution("open('step.py','w').write('broken')", "raise SystemExit(1)"),
	))
	tr.Task.Outputs = []string{"step.py"}
	step := filepath.Join(tr.Dir, "step.py")
	if err := os.WriteFile(step, []byte("# given\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tr.extra = `{"drafts":3,"nodes":3,"review":false}`
	tr.ok(t)
	if got, err := os.ReadFile(step); err != nil || string(got) != "# given\n# fast\n" {
		t.Errorf("step.py is %q (%v)", got, err)
	}
}

func TestDebugging(t *testing.T) {
	tr := start(t, scripted.Turns(
		good("a", "0.5"), says(false, "0.5"),
		solution("raise ValueError('of no value')"), says(true, "null"),
		good("b", "0.7"), says(false, "0.7"),
	))
	tr.extra = `{"drafts":2,"nodes":3}`
	tr.ok(t)
	if plan := tr.LastPlan(); !strings.Contains(plan, "└ 3 debug 2 · 0.7 ★") {
		t.Errorf("the plan is\n%s", plan)
	}
	r := tr.server.Requests()[4]
	if !r.Contains("of no value") || !r.Contains("raise ValueError") || !r.Contains("does not work") {
		t.Error("the repair is not told what failed and how")
	}
}

func TestReviews(t *testing.T) {
	printing := func(line string) scripted.Turn {
		return solution("open('sub/out.txt','w').write('x')", "print("+fmt.Sprintf("%q", line)+")")
	}
	for _, c := range []struct {
		name    string
		turns   []scripted.Turn
		plan    string
		claimed []agents.Metric
	}{
		{"a claim where nothing was measured", []scripted.Turn{printing("accuracy was 0.75"), says(false, "0.75")},
			"· 0.75 claimed ★", []agents.Metric{{Name: "accuracy", Value: 0.75, Source: agents.Claimed}}},
		{"a claim that is made up", []scripted.Turn{printing("done"), says(false, "0.99")}, "buggy: no metric", nil},
		{"a made-up review is not believed in anything", []scripted.Turn{printing("acc: 0.5"), says(true, "0.99")}, "· 0.5 ★", nil},
		{"a claim beside a measured metric", []scripted.Turn{printing("acc: 0.5 of 0.6"), says(false, "0.6")}, "· 0.5 ★", nil},
		{"the fallback line", []scripted.Turn{printing("validation metric: 3"), says(false, "3")},
			"· 3 ★", []agents.Metric{{Name: "accuracy", Value: 3, Source: agents.Measured}}},
		{"a malformed review, then a good one", []scripted.Turn{printing("acc: 0.5"),
			{Calls: []scripted.Call{{Name: "review", Args: `{"is_bug":fal`}}}, says(true, "0.5")}, "buggy", nil},
		{"an unknown tool, then only words", []scripted.Turn{printing("acc: 0.5"),
			{Calls: []scripted.Call{{Name: "bash", Args: `{}`}}}, {Text: "Looks fine to me."}}, "· 0.5 ★", nil},
		{"an empty review", []scripted.Turn{printing("acc: 0.5"), {}, {}}, "· 0.5 ★", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := start(t, scripted.Turns(c.turns...))
			tr.extra = `{"nodes":1}`
			_ = tr.run(t) // an error where nothing worked
			if plan := tr.LastPlan(); !strings.Contains(plan, c.plan) {
				t.Errorf("the plan lacks %q:\n%s\n%q", c.plan, plan, tr.Notes)
			}
			if diff := cmp.Diff(c.claimed, tr.Metrics); diff != "" {
				t.Errorf("metrics (-want +got):\n%s", diff)
			}
			if n := len(tr.server.Requests()); n != len(c.turns) {
				t.Errorf("%d requests, want %d", n, len(c.turns))
			}
		})
	}
}

func TestMalformedReplies(t *testing.T) {
	big := scripted.Turn{Text: strings.Repeat("very ", 2<<20), Chunk: 1 << 16}
	tr := start(t, scripted.Turns(
		scripted.Turn{Text: "I would use a tree."}, scripted.Turn{}, big, // node 1
		scripted.Turn{Text: "```python\nprint(1)\n```\n```python\nprint(2)\n```"}, good("a", "0.5"), // node 2
	))
	tr.extra = `{"drafts":2,"nodes":2,"review":false}`
	tr.ok(t)
	if diff := cmp.Diff("completed   ├ 1 draft · buggy: no script\ncompleted   └ 2 draft · 0.5 ★\n", tr.LastPlan()); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if r := tr.server.Requests(); !r[1].Contains("it has no fenced block") || !r[4].Contains("it has 2 fenced blocks") || r[3].Contains("cannot be used") {
		t.Error("the model is not told what was wrong with its reply, or too late")
	}
	for i, r := range tr.server.Requests() {
		if len(r.Body) > 64<<10 {
			t.Errorf("request %d has %d bytes", i, len(r.Body))
		}
	}
}

func TestMuteModelEndsTheRun(t *testing.T) {
	tr := start(t, func(int, scripted.Request) scripted.Turn { return scripted.Turn{Text: "Hm."} })
	tr.extra = ""
	err := tr.run(t)
	if err == nil || !strings.Contains(err.Error(), "no usable reply for 3 nodes in a row") {
		t.Errorf("the error is %v", err)
	}
	if n := len(tr.server.Requests()); n != mostMute*mostReplies {
		t.Errorf("%d requests, want %d", n, mostMute*mostReplies)
	}
}

func TestProviderTrouble(t *testing.T) {
	for _, c := range []struct {
		name    string
		trouble scripted.Turn
		fails   bool
	}{
		{"the key is refused", scripted.Turn{Status: 401}, true},
		{"a 500 that passes", scripted.Turn{Status: 500}, false},
		{"a stream that is cut", scripted.Turn{Text: strings.Repeat("x", 200), Cut: true}, false},
		{"an error inside a stream", scripted.Turn{Text: strings.Repeat("x", 200), StreamError: "overloaded"}, false},
		{"the budget is spent", scripted.Turn{Status: 402, Body: `{"error":{"type":"budget_spent","message":"the budget is spent"}}`}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := start(t, func(n int, _ scripted.Request) scripted.Turn {
				if n == 1 {
					return c.trouble
				}
				return good("a", "0.5")
			})
			tr.extra = `{"nodes":2,"review":false}`
			if err := tr.run(t); (err != nil) != c.fails {
				t.Errorf("the error is %v", err)
			}
			if got := tr.output(t); got != "a" {
				t.Errorf("%q would be graded, want what was made before", got)
			}
		})
	}
}

func TestContextIsCompacted(t *testing.T) {
	tr := start(t, func(n int, r scripted.Request) scripted.Turn {
		if n == 1 && r.Contains("A design.") {
			return scripted.Turn{Status: 400, Message: "maximum context length is 100 tokens"}
		}
		return good("a", "0.5")
	})
	tr.extra = `{"drafts":1,"nodes":2,"review":false}`
	tr.ok(t)
	if len(tr.server.Requests()) != 3 || !strings.Contains(strings.Join(tr.Notes, "\n"), "compacted") {
		t.Errorf("%d requests, notes %q", len(tr.server.Requests()), tr.Notes)
	}

	tr = start(t, scripted.Turns(good("a", "0.5")))
	tr.model.Context = 5000
	tr.Task.Instruction = strings.Repeat("Guess well. ", 5000)
	tr.extra = `{"nodes":1,"review":false}`
	tr.ok(t)
	if size := len(tr.server.Requests()[0].Body); size > 16<<10 {
		t.Errorf("the request has %d bytes for a window of 5000 tokens", size)
	}
}

func TestBudgetStops(t *testing.T) {
	endless := func(n int, _ scripted.Request) scripted.Turn { return good("a", fmt.Sprintf("0.%d", n+1)) }
	t.Run("steps", func(t *testing.T) {
		tr := start(t, endless)
		tr.extra, tr.Steps = `{"review":false}`, 8 // a look, three nodes of two, and one too few
		tr.ok(t)
		if len(tr.Actions) != 7 || tr.output(t) != "a" {
			t.Errorf("%d actions, output %q", len(tr.Actions), tr.output(t))
		}
	})
	t.Run("time", func(t *testing.T) {
		tr := start(t, endless)
		tr.extra, tr.Time = `{"review":false,"drafts":100}`, 100*time.Second
		tr.Exec = func(a agents.Action) agents.Observation { // without a process
			if a.Kind != agents.Execute {
				return agents.Observation{}
			}
			if a.Timeout > 25*time.Second || a.Timeout <= 0 {
				t.Errorf("a script may take %v", a.Timeout)
			}
			for _, name := range tr.Task.Outputs {
				if err := tr.WriteFile(name, []byte("a")); err != nil {
					t.Error(err)
				}
			}
			return agents.Observation{Text: "acc: 0.5", Seconds: 15}
		}
		tr.ok(t)
		if n := len(tr.server.Requests()); n != 6 { // 10 s are left, a node takes 15
			t.Errorf("%d nodes, want 6", n)
		}
	})
	t.Run("none at all", func(t *testing.T) {
		tr := start(t, endless)
		tr.extra = `{"review":false}`
		tr.Exec = func(a agents.Action) agents.Observation { return agents.Observation{} }
		_ = tr.run(t)
		if n := len(tr.server.Requests()); n != unlimitedNodes {
			t.Errorf("%d nodes, want %d", n, unlimitedNodes)
		}
	})
	t.Run("time limit of a script", func(t *testing.T) {
		tr := start(t, scripted.Turns(solution("open('sub/out.txt','w').write('x')", "print('acc: 1')", "import time", "time.sleep(600)")))
		tr.extra = `{"review":false,"nodes":1,"node_time":"300ms"}`
		if err := tr.run(t); err == nil {
			t.Error("a script that was stopped counts")
		}
		if plan := tr.LastPlan(); !strings.Contains(plan, "buggy: out of time") || tr.output(t) != "(none)" {
			t.Errorf("output %q, plan\n%s", tr.output(t), plan)
		}
	})
}

// denying is a host where a person refuses the n-th run.
type denying struct {
	*agentstest.Host
	n int
}

func (d *denying) Run(ctx context.Context, a agents.Action) (agents.Observation, error) {
	if d.n--; d.n == 0 {
		return agents.Observation{Denied: true, Text: "it reads the answers"}, nil
	}
	return d.Host.Run(ctx, a)
}

func TestDenied(t *testing.T) {
	tr := start(t, scripted.Turns(good("a", "0.5"), good("b", "0.6")))
	tr.host = &denying{tr.Host, 2}
	tr.extra = `{"drafts":1,"nodes":2,"review":true}`
	_ = tr.run(t) // the script has no review of the second
	if plan := tr.LastPlan(); !strings.Contains(plan, "1 draft · buggy: denied") || !strings.Contains(plan, "2 debug 1") {
		t.Errorf("the plan is\n%s", plan)
	}
	if !tr.server.Requests()[1].Contains("it reads the answers") {
		t.Error("the model is not told why")
	}
}

func TestHints(t *testing.T) {
	var tr *trial
	tr = start(t, func(n int, _ scripted.Request) scripted.Turn {
		if n == 0 { // in the middle of a call
			tr.Hint("h2", "mind the leak")
		}
		return []scripted.Turn{good("a", "0.5"), says(false, "0.5"), good("b", "0.6"), says(false, "0.6")}[n]
	})
	tr.Hint("h1", "try the cabin")
	tr.extra = `{"nodes":2}`
	tr.ok(t)
	r := tr.server.Requests()
	if !r[0].Contains("try the cabin") || r[0].Contains("mind the leak") || !r[1].Contains("mind the leak") || !r[2].Contains("try the cabin") || !r[2].Contains("mind the leak") {
		t.Error("hints are not in the next request and all that follow")
	}
	want := []agentstest.Reply{
		{ID: "h1", How: agents.Injected, Text: "told to the model: node 1 (draft)"},
		{ID: "h2", How: agents.Injected, Text: "told to the model: review of node 1 (draft)"},
	}
	if diff := cmp.Diff(want, tr.Replies); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

func TestInterrupt(t *testing.T) {
	var tr *trial
	gate := make(chan struct{}, 10)
	gate <- struct{}{}
	gate <- struct{}{}
	var once sync.Once
	tr = start(t, func(n int, _ scripted.Request) scripted.Turn {
		if n > 0 {
			return good("a", "0.5")
		}
		return scripted.Turn{Text: strings.Repeat("Thinking. ", 50), Gate: gate, Sent: func(string) {
			once.Do(func() {
				tr.Hint("h1", "also this")
				tr.Interrupt("h2", "rather a forest")
			})
		}}
	})
	tr.extra = `{"nodes":1,"review":false}`
	tr.ok(t)
	if r := tr.server.Requests(); len(r) != 2 || !r[1].Contains("rather a forest") || !r[1].Contains("also this") {
		t.Errorf("%d requests", len(r))
	}
	want := []agentstest.Reply{
		{ID: "h1", How: agents.Injected, Text: "told to the model: node 1 (draft)"},
		{ID: "h2", How: agents.Interrupted, Text: "told to the model: node 1 (draft)"},
	}
	if diff := cmp.Diff(want, tr.Replies); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

// TestReviewCutShort keeps what was measured when the run ends during a review.
func TestReviewCutShort(t *testing.T) {
	tr := start(t, scripted.Turns(good("a", "0.5"), scripted.Turn{Status: 401}))
	if err := tr.run(t); err == nil {
		t.Error("no error")
	}
	if k := tr.Checkpoints[len(tr.Checkpoints)-1]; !k.Standing || tr.output(t) != "a" {
		t.Errorf("checkpoint %v, output %q", k, tr.output(t))
	}
}

func TestOptions(t *testing.T) {
	for extra, want := range map[string]string{
		`{"drafts":0}`:              "drafts = 0",
		`{"debug_probability":1.5}`: "debug_probability = 1.5",
		`{"debug_depth":-1}`:        "debug_depth = -1",
		`{"nodes":-1}`:              "nodes = -1",
		`{"node_time":"soon"}`:      `"soon" is not a duration`,
		`{"python":""}`:             "python is empty",
		`{"color":"red"}`:           `unknown field "color"`,
		`{`:                         "reading [agents.tree] of the settings",
	} {
		if _, err := Kind().New(agents.Options{Extra: json.RawMessage(extra)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v", extra, err)
		}
		if missing := Kind().Check(t.Context(), nil, agents.Options{Extra: json.RawMessage(extra)}); len(missing) != 1 {
			t.Errorf("%s: Check says %q", extra, missing)
		}
	}
	if missing := Kind().Check(t.Context(), &tasks.Task{Ref: "x", Outputs: []string{"."}}, agents.Options{}); missing != nil {
		t.Errorf("Check says %q", missing)
	}
	agent, err := Kind().New(agents.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Run(t.Context(), &agents.Session{Task: &tasks.Task{}}); err == nil || !strings.Contains(err.Error(), "needs a model") {
		t.Errorf("without a model the error is %v", err)
	}
}
