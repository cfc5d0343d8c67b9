package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"proctor/agents/llm/scripted"
	"proctor/agents/llm/wire"
	"proctor/runner/event"
	"proctor/tasks"
)

const modelKey = "sk-e2e-0123456789abcdef"

// withModel gives the user a model with a price and a key, served by a script.
func (u *user) withModel(script scripted.Script) *scripted.Server {
	u.Helper()
	server := scripted.Start(u, script)
	u.configure(fmt.Sprintf(`[models.scripted]
provider = "openai-compatible"
base_url = "%s/v1"
name = "scripted-1"
key_env = "E2E_MODEL_KEY"
context = 32000
price = { input = 2.0, cached = 0.2, output = 10.0 }
`, server.URL))
	return server
}

func bashCall(command string) scripted.Turn {
	return scripted.Turn{
		Text:  "I try something.",
		Calls: []scripted.Call{{Name: "bash", Args: fmt.Sprintf(`{"command":%q}`, command)}},
		Usage: &wire.Usage{Input: 1000, Cached: 400, Output: 50},
	}
}

// A model-driven run ends in a verdict, is metered to the token and the
// cent, and its key is nowhere in the sandbox or the record.
func TestAModelDrivenRunIsMetered(t *testing.T) {
	u := newUser(t)
	u.needBox("bwrap")
	server := u.withModel(scripted.Turns(
		bashCall("env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; grep -rs "+modelKey[:12]+" . /tmp /etc /run /home; true"),
		scripted.Turn{
			Text:  "The key is " + modelKey,
			Calls: []scripted.Call{{Name: "bash", Args: `{"command":"echo ` + modelKey + `; echo 0.9 >out.txt; echo acc 0.9"}`}},
			Usage: &wire.Usage{Input: 2000, Cached: 1000, Output: 100},
		},
		scripted.Turn{Calls: []scripted.Call{{Name: "submit", Args: `{"path":"out.txt"}`}}, Usage: &wire.Usage{Input: 3000, Cached: 2000, Output: 20}},
	))
	r, events := u.headless(u.task(task{}), "--agent", "bash", "--model", "scripted", "--sandbox", "bwrap")
	if r.code != 0 {
		t.Fatalf("exit status %d\n%s%s", r.code, r.out, r.err)
	}
	s := fold(events)
	if v := verdict(t, s); v.Status != tasks.Graded || *v.Score != 0.9 || v.Tokens != 6170 {
		t.Errorf("verdict %+v", v)
	}
	// (600·2 + 400·0.2 + 50·10 + 1000·2 + 1000·0.2 + 100·10 + 1000·2 + 2000·0.2 + 20·10) / 1e6
	if want := 0.00758; math.Abs(s.Usage.Cost-want) > 1e-9 || s.Usage.UnknownCost {
		t.Errorf("cost %v, want %v", s.Usage.Cost, want)
	}
	if len(server.Requests()) != 3 {
		t.Errorf("%d model calls", len(server.Requests()))
	}
	noKeyIn(t, u.newest().Path())
	if strings.Contains(r.out, modelKey) {
		t.Error("the key was printed")
	}
}

// noKeyIn looks for the key in every file of a run but those that the agent
// itself wrote.
func noKeyIn(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(modelKey)) {
			t.Errorf("the key is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A token budget that is spent ends the run, and the log names the limit.
func TestATokenBudgetEndsTheRun(t *testing.T) {
	u := newUser(t)
	u.withModel(func(n int, _ scripted.Request) scripted.Turn { return bashCall("echo 0.5 >out.txt") })
	r, events := u.headless(u.task(task{}), "--agent", "bash", "--model", "scripted", "--tokens", "4000")
	s := fold(events)
	if r.code != 0 || len(s.Fired) == 0 || s.Fired[len(s.Fired)-1].Dimension != event.Tokens || s.Fired[len(s.Fired)-1].What != "hard" {
		t.Errorf("exit status %d, limits %+v\n%s", r.code, s.Fired, r.err)
	}
}

// The tree's best script is what is graded, not the last that was written.
func TestATreeRunIsGradedByItsBest(t *testing.T) {
	u := newUser(t)
	u.withModel(func(n int, _ scripted.Request) scripted.Turn {
		score := "0.5"
		if n == 0 {
			score = "0.9"
		}
		return scripted.Turn{Text: "A sketch of a solution.\n```python\nopen('out.txt', 'w').write('" + score + "')\nprint('acc " + score + "')\n```\n"}
	})
	r, events := u.headless(u.task(task{}), "--agent", "tree", "--model", "scripted", "--steps", "8")
	s := fold(events)
	if v := verdict(t, s); r.code != 0 || v.Status != tasks.Graded || *v.Score != 0.9 {
		t.Errorf("exit status %d, verdict %+v\n%s", r.code, v, r.err)
	}
	if len(s.Plan) == 0 {
		t.Error("the tree is not shown")
	}
}

// The research agent speaks MLAgentBench's format and ends with its Final
// Answer.
func TestAResearchRunEndsWithItsFinalAnswer(t *testing.T) {
	u := newUser(t)
	reply := func(action, input string) scripted.Turn {
		return scripted.Turn{Text: "Reflection: nothing yet\nResearch Plan and Status: 1. run the starter\nFact Check: nothing to check\n" +
			"Thought: go on\nAction: " + action + "\nAction Input: " + input + "\n"}
	}
	u.withModel(scripted.Turns(
		reply("List Files", `{"dir_path": "."}`),
		reply("Write File", `{"file_name": "go.py", "content": "open('out.txt', 'w').write('0.7')\nprint('acc 0.7')\n"}`),
		reply("Execute Script", `{"script_name": "go.py"}`),
		reply("Final Answer", `{"final_answer": "0.7"}`),
	))
	r, events := u.headless(u.task(task{}), "--agent", "research", "--model", "scripted")
	s := fold(events)
	if v := verdict(t, s); r.code != 0 || v.Status != tasks.Graded || *v.Score != 0.7 {
		t.Errorf("exit status %d, verdict %+v\n%s", r.code, v, r.err)
	}
	if len(s.Plan) == 0 {
		t.Error("the plan is not shown")
	}
}
