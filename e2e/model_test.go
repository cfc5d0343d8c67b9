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
[agents.tree]
nodes = 2
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

// From inside the sandbox nothing answers but the gateway, and that leads
// nowhere but to the model.
func TestNoHostButTheGatewayAnswers(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.needBox("bwrap")
	const probe = `import http.client, os, socket, sys
def reach(host, port):
    try:
        socket.create_connection((host, int(port)), 2).close()
        return True
    except OSError:
        return False
base = os.environ["OPENAI_BASE_URL"].split("/")[2]
print("gateway", reach(*base.split(":")))
print("provider", reach("127.0.0.1", sys.argv[1]))
print("outside", reach("192.0.2.1", 80), reach("example.com", 80))
for url in "http://192.0.2.1/", "http://127.0.0.1:%s/v1/models" % sys.argv[1], "/v1/../secret", "/elsewhere":
    c = http.client.HTTPConnection(base, timeout=5)
    c.request("GET", url, headers={"Host": "192.0.2.1"})
    print("answer", c.getresponse().status)
print("interfaces", [i[1] for i in socket.if_nameindex()])
`
	var server *scripted.Server
	server = u.withModel(func(n int, _ scripted.Request) scripted.Turn {
		if n > 0 {
			return scripted.Turn{Calls: []scripted.Call{{Name: "submit", Args: `{}`}}}
		}
		return bashCall("echo 0.9 >out.txt; python3 probe.py " + server.URL[strings.LastIndex(server.URL, ":")+1:])
	})
	r, events := u.headless(u.task(task{files: map[string]string{"environment/probe.py": probe}}), "--agent", "bash", "--model", "scripted", "--sandbox", "bwrap")
	var said string
	for _, a := range only[event.ActionFinished](t, events, event.TypeActionFinished) {
		said += a.Text + "\n"
	}
	for _, want := range []string{"gateway True", "provider False", "outside False False", "interfaces ['lo']"} {
		if !strings.Contains(said, want) {
			t.Errorf("not %q; the command said:\n%s%s", want, said, r.err)
		}
	}
	if answers := strings.Count(said, "answer "); answers != 4 || strings.Count(said, "answer 4") != answers {
		t.Errorf("the gateway passed something on:\n%s", said)
	}
	for _, q := range server.Requests() {
		if q.Path != "/v1/chat/completions" {
			t.Errorf("the provider was asked for %q", q.Path)
		}
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

// The turns below cost the same each, so that a run's bill is a product.
var turnUsage = &wire.Usage{Input: 1000, Cached: 400, Output: 50}

const (
	turnTokens = 1050
	turnCost   = (600*2.0 + 400*0.2 + 50*10.0) / 1e6
)

// digits holds, for each model-driven agent, replies with which it solves the
// task digits, and what its plan shows.
var digits = map[string]struct {
	plan string
	turn func(n int) scripted.Turn
}{
	"bash": {"measure the neighbours", func(n int) scripted.Turn {
		plan := scripted.Call{Name: "plan", Args: `{"entries":[{"content":"measure the neighbours","status":"in_progress"}]}`}
		train := scripted.Call{Name: "bash", Args: `{"command":"python3 train.py --model knn"}`}
		submit := scripted.Call{Name: "submit", Args: `{"path":"submission/submission.csv"}`}
		return scripted.Turn{Calls: [][]scripted.Call{{plan, train}, {submit}}[n]}
	}},
	"research": {"measure the neighbours", func(n int) scripted.Turn {
		do := [][2]string{
			{"List Files", `{"dir_path": "."}`},
			{"Write File", `{"file_name": "go.py", "content": "import subprocess\nsubprocess.run(['python3', 'train.py', '--model', 'knn'], check=True)\n"}`},
			{"Execute Script", `{"script_name": "go.py"}`},
			{"Final Answer", `{"final_answer": "nearest neighbours"}`},
		}[n]
		return scripted.Turn{Text: "Reflection: nothing yet\nResearch Plan and Status: 1. measure the neighbours\nFact Check: nothing to check\n" +
			"Thought: go on\nAction: " + do[0] + "\nAction Input: " + do[1] + "\n"}
	}},
	// Its best is not its last.
	"tree": {"draft", func(n int) scripted.Turn {
		model := "softmax"
		if n == 0 {
			model = "knn"
		}
		return scripted.Turn{Text: "I measure the neighbours.\n```python\nimport subprocess\nsubprocess.run(['python3', 'train.py', '--model', '" + model + "'], check=True)\n```\n"}
	}},
}

// Each agent ends in a graded submission, headless and in the console, and
// the log has its plan, its actions and its bill to the token.
func TestModelAgentsFinishDigits(t *testing.T) {
	for name, agent := range digits {
		for _, inConsole := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s console=%v", name, inConsole), func(t *testing.T) {
				t.Parallel()
				u := newUser(t)
				server := u.withModel(func(n int, _ scripted.Request) scripted.Turn {
					reply := agent.turn(n)
					reply.Usage = turnUsage
					return reply
				})
				u.finishDigits(inConsole, agent.plan, "run", "builtin/digits", "--agent", name, "--model", "scripted", "--sandbox", u.anyBox())
				r := u.newest()
				s, calls := r.ends(), len(server.Requests())
				v := verdict(t, s)
				if v.Status != tasks.Graded || *v.Score < 0.95 || v.Tokens != int64(calls)*turnTokens {
					t.Errorf("%d model calls, verdict %+v", calls, v)
				}
				if want := float64(calls) * turnCost; math.Abs(s.Usage.Cost-want) > 1e-9 || s.Usage.UnknownCost {
					t.Errorf("cost %v, want %v", s.Usage.Cost, want)
				}
				if bills := only[event.Usage](t, r.events(), event.TypeUsage); len(bills) != calls {
					t.Errorf("%d bills for %d model calls", len(bills), calls)
				}
				if len(s.Plan) == 0 || s.Steps == 0 {
					t.Errorf("plan %v, %d steps", s.Plan, s.Steps)
				}
			})
		}
	}
}

// finishDigits runs a command to the verdict, as a script would or as a
// person does.
func (u *user) finishDigits(inConsole bool, plan string, args ...string) {
	u.Helper()
	if !inConsole {
		u.must(append(args, "--headless")...)
		return
	}
	c := u.console(args...)
	c.shows(plan)
	c.shows("GRADED")
	c.press("q")
	if code := c.quits(); code != 0 {
		u.Errorf("exit status %d", code)
	}
}
