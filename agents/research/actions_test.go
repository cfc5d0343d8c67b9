//go:build unix

package research

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"proctor/agents"
	"proctor/agents/llm/scripted"
)

// told runs one action, with the replies of the calls that it makes itself,
// and returns the request in which the model is told what came of it.
func told(t *testing.T, h *host, settings string, turns ...scripted.Turn) scripted.Request {
	t.Helper()
	h.Task.Outputs = nil
	s, err := try(t, h, settings, scripted.Turns(append(turns, answered)...))
	if err != nil {
		t.Fatal(err)
	}
	requests := s.Requests()
	return requests[len(requests)-1]
}

func TestActions(t *testing.T) {
	needs(t, "python3")
	for _, test := range []struct {
		name  string
		turns []scripted.Turn
		says  []string          // what the model is told
		files map[string]string // as they are then; "" means gone
		kind  agents.ActionKind // of the first action
	}{
		{"List Files", []scripted.Turn{doing("List Files", `{"dir_path": "/workspace"}`)}, []string{"data/", "train.py"}, nil, agents.Read},
		{"Read File", []scripted.Turn{doing("Read File", `{"file_name": "train.py"}`)}, []string{"n = 1\nprint('score:', n)\n"}, nil, agents.Read},
		{"Read File beside the workspace", []scripted.Turn{doing("Read File", `{"file_name": "/proc/self/comm"}`)}, []string{"cat\n"}, nil, agents.Read},
		{"Read File, missing", []scripted.Turn{doing("Read File", `{"file_name": "no.py"}`)}, []string{"EnvError: ", "no.py"}, nil, agents.Read},
		{"Write File", []scripted.Turn{doing("Write File", `{"file_name": "new/it's é.txt", "content": "-n %s\n"}`)},
			[]string{"new/it's é.txt is written"}, map[string]string{"new/it's é.txt": "-n %s\n"}, agents.Edit},
		{"Write File, empty", []scripted.Turn{doing("Write File", `{"file_name": "train.py", "content": ""}`)}, nil, map[string]string{"train.py": ""}, agents.Edit},
		{"Append File", []scripted.Turn{doing("Append File", `{"file_name": "train.py", "content": "print(2)\n"}`)},
			nil, map[string]string{"train.py": starter + "print(2)\n"}, agents.Edit},
		{"Copy File", []scripted.Turn{doing("Copy File", `{"source": "train.py", "destination": "b.py"}`)},
			[]string{"train.py is copied to b.py"}, map[string]string{"b.py": starter}, agents.Edit},
		{"Undo Edit Script", []scripted.Turn{doing("Write File", `{"file_name": "train.py", "content": "x"}`), doing("Undo Edit Script", `{"script_name": "/workspace/train.py"}`)},
			[]string{"as it was before"}, map[string]string{"train.py": starter}, agents.Edit},
		{"Undo of a new file", []scripted.Turn{doing("Write File", `{"file_name": "b.py", "content": "x"}`), doing("Undo Edit Script", `{"script_name": "b.py"}`)},
			[]string{"b.py is removed"}, map[string]string{"b.py": gone}, agents.Edit},
		{"Undo of nothing", []scripted.Turn{doing("Undo Edit Script", `{"script_name": "train.py"}`)}, []string{"no edit of train.py to undo"}, nil, agents.Edit},
		{"Execute Script", []scripted.Turn{doing("Execute Script", `{"script_name": "train.py"}`)}, []string{"has been executed in", "score: 1"}, nil, agents.Execute},
		{"Execute Script, failing", []scripted.Turn{doing("Execute Script", `{"script_name": "no.py"}`)}, []string{"failed with exit code 2", "No such file"}, nil, agents.Execute},
		{"Python REPL", []scripted.Turn{doing("Python REPL", `{"command": "import sys\nprint('it\\'s', 6*7)\nsys.exit(3)"}`)}, []string{"exit code 3", "it's 42"}, nil, agents.Execute},
		{"Understand File", []scripted.Turn{doing("Understand File", `{"file_name": "train.py", "things_to_look_for": "n, 100 %d"}`), {Text: "n is 1, in line 1."}},
			[]string{"n is 1, in line 1."}, nil, agents.Read},
		{"Understand File, missing", []scripted.Turn{doing("Understand File", `{"file_name": "no.py", "things_to_look_for": "n"}`)}, []string{"EnvError: "}, nil, agents.Read},
		{"Inspect Script Lines", []scripted.Turn{doing("Inspect Script Lines", `{"script_name": "train.py", "start_line_number": 2, "end_line_number": 50}`)},
			[]string{"Lines 2 to 2 of train.py, which has 2:\n\nprint('score:', n)"}, nil, agents.Read},
		{"Inspect Script Lines, too many", []scripted.Turn{doing("Inspect Script Lines", `{"script_name": "train.py", "start_line_number": 1, "end_line_number": 101}`)},
			[]string{"101 lines are too many"}, nil, agents.Read},
		{"Inspect Script Lines, no number", []scripted.Turn{doing("Inspect Script Lines", `{"script_name": "train.py", "start_line_number": "top", "end_line_number": 9}`)},
			[]string{`must be a line number`}, nil, agents.Read},
		{"Edit Script (AI)", []scripted.Turn{doing("Edit Script (AI)", `{"script_name": "train.py", "edit_instruction": "n is 2", "save_name": "b.py"}`), {Text: "Sure:\n```python\nn = 2\nprint('score:', n)\n```\nDone."}},
			[]string{"saved to b.py", "-n = 1\n+n = 2\n"}, map[string]string{"b.py": strings.Replace(starter, "1", "2", 1), "train.py": starter}, agents.Edit},
		{"Edit Script (AI), asked again", []scripted.Turn{doing("Edit Script (AI)", `{"script_name": "b.py", "edit_instruction": "write it"}`), {Text: "No."}, {Text: "```\nprint(1)\n```"}},
			[]string{"saved to b.py"}, map[string]string{"b.py": "print(1)\n"}, agents.Edit},
		{"Edit Script (AI), in vain", []scripted.Turn{doing("Edit Script (AI)", `{"script_name": "train.py", "edit_instruction": "x"}`), {Text: "No."}, {Text: "No."}, {Text: "No."}},
			[]string{"LLMError: the assistant gave no code"}, map[string]string{"train.py": starter}, agents.Edit},
		{"Edit Script Segment (AI)", []scripted.Turn{doing("Edit Script Segment (AI)", `{"script_name": "train.py", "start_line_number": 1, "end_line_number": 1, "edit_instruction": "n is 2", "save_name": "train.py"}`), {Text: "```python\nn = 2\n```"}},
			[]string{"-n = 1\n+n = 2\n"}, map[string]string{"train.py": strings.Replace(starter, "1", "2", 1)}, agents.Edit},
		{"Reflection, at first", []scripted.Turn{doing("Reflection", `{"things_to_reflect_on": "all"}`)}, []string{"log is empty so far"}, nil, agents.Think},
		{"Reflection", []scripted.Turn{doing("List Files", `{"dir_path": "."}`), doing("Reflection", `{"things_to_reflect_on": "all"}`), {Text: "Look closer."}}, []string{"Look closer."}, nil, agents.Read},
		{"Retrieval from Research Log", []scripted.Turn{doing("Append Summary to Research Log", `{"content": "n is 1"}`), doing("Retrieval from Research Log", `{"current_plan": "p"}`), {Text: "It was 1."}},
			[]string{"It was 1."}, nil, agents.Think},
		{"Append Summary to Research Log", []scripted.Turn{doing("Append Summary to Research Log", `{"content": "n is 1"}`)}, []string{"research_log.md"}, nil, agents.Think},
		{"Request Help", []scripted.Turn{doing("Request Help", `{"request": "May I?"}`)}, []string{"No answer: nobody is there"}, nil, agents.Other},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHost(t)
			h.file(t, "train.py", starter)
			h.file(t, "data/x.csv", "1\n")
			request := told(t, h, "", test.turns...)
			for _, want := range test.says {
				if !request.Contains(want) {
					t.Errorf("the model is not told %q:\n%s", want, request.Body)
				}
			}
			if !request.Contains("[remaining budget: no limit]\n```") {
				t.Error("the observation does not end with the budget")
			}
			for name, want := range test.files {
				got, err := os.ReadFile(filepath.Join(h.Dir, name))
				if want == gone && !errors.Is(err, fs.ErrNotExist) || want != gone && string(got) != want {
					t.Errorf("%s has %q, %v; want %q", name, got, err, want)
				}
			}
			if got := h.Actions[0].Action; got.Kind != test.kind || strings.Contains(got.Title, "\n") {
				t.Errorf("recorded as %s %q", got.Kind, got.Title)
			}
		})
	}
}

const (
	starter = "n = 1\nprint('score:', n)\n"
	gone    = "(gone)"
)

// needs skips a test without a program, or fails it where all must run.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
		t.Fatalf("%s is not installed", program)
	}
	t.Skipf("%s is not installed", program)
}

func TestReadOnlyIsTheSandboxs(t *testing.T) {
	needs(t, "bwrap")
	h := newHost(t)
	h.Task.ReadOnly = []string{"data"}
	h.file(t, "data/x.csv", "1\n")
	inside := func(argv ...string) *exec.Cmd {
		data := filepath.Join(h.Dir, "data")
		cmd := exec.Command("bwrap", append([]string{"--ro-bind", "/", "/", "--bind", h.Dir, h.Dir, "--ro-bind", data, data, "--chdir", h.Dir, "--"}, argv...)...)
		return cmd
	}
	if out, err := inside("true").CombinedOutput(); err != nil {
		if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
			t.Fatalf("bwrap does not work here: %s", out)
		}
		t.Skipf("bwrap does not work here: %s", out)
	}
	h.Exec = func(a agents.Action) agents.Observation {
		argv := a.Argv
		if a.Shell != "" {
			argv = []string{"sh", "-c", a.Shell}
		}
		cmd := inside(argv...)
		out, err := cmd.CombinedOutput()
		o := agents.Observation{Text: string(out)}
		if err != nil {
			o.ExitCode = cmd.ProcessState.ExitCode()
		}
		return o
	}
	for _, path := range []string{"data/x.csv", "./other/../data/x.csv"} {
		h.file(t, "other/x", "")
		request := told(t, h, "", doing("Write File", `{"file_name": "`+path+`", "content": "forged"}`))
		if !request.Contains("Read-only file system") {
			t.Errorf("the model is not told why:\n%s", request.Body)
		}
	}
	request := told(t, h, "", doing("Copy File", `{"source": "other/x", "destination": "data/x.csv"}`))
	if !request.Contains("EnvError") || h.content(t, "data/x.csv") != "1\n" {
		t.Errorf("it now has %q:\n%s", h.content(t, "data/x.csv"), request.Body)
	}
}

func TestHelpIsAnswered(t *testing.T) {
	h := newHost(t)
	h.answer = &agents.Answer{Choice: "Use ridge.", Author: "tester"}
	request := told(t, h, "", doing("Request Help", `{"request": "Which model?"}`))
	if !request.Contains("The person answers: Use ridge.") || len(h.asked) != 1 || h.asked[0].Text != "Which model?" || h.asked[0].Kind != "question" {
		t.Errorf("asked %+v, told\n%s", h.asked, request.Body)
	}
}

func TestDenied(t *testing.T) {
	h := newHost(t)
	h.deny = func(agents.Action) string { return "not that one" }
	request := told(t, h, "", doing("Write File", `{"file_name": "a", "content": "b"}`), doing("Undo Edit Script", `{"script_name": "a"}`))
	if !request.Contains("did not let this happen: not that one") || !request.Contains("no edit of a to undo") {
		t.Errorf("told\n%s", request.Body)
	}
}

func TestTimeLimit(t *testing.T) {
	h := newHost(t)
	h.file(t, "slow.sh", "echo begun; sleep 60\n")
	request := told(t, h, `{"action_seconds": 1}`, doing("Execute Script", `{"script_name": "slow.sh"}`))
	if !request.Contains("was stopped after 1 s, the time limit of one action") || !request.Contains("begun") {
		t.Errorf("told\n%s", request.Body)
	}
}

func TestLongFile(t *testing.T) {
	h := newHost(t)
	content := strings.Repeat("ä", 150<<10)
	told(t, h, "", doing("Write File", `{"file_name": "a", "content": "`+content+`"}`))
	if got := h.content(t, "a"); got != content {
		t.Errorf("%d bytes of %d are there", len(got), len(content))
	}
}

func TestLongObservation(t *testing.T) {
	const print12000 = `{"command": "print('begin'); print('x' * 12000); print('end')"}`
	needs(t, "python3")
	t.Run("summarised in blocks", func(t *testing.T) {
		h := newHost(t)
		request := told(t, h, "", doing("Python REPL", print12000), scripted.Turn{Text: "many x"}, scripted.Turn{Text: "then the end"})
		if !request.Contains("many x\n\nthen the end\n[remaining") || request.Contains("xxxxxxxx") {
			t.Errorf("told\n%s", request.Body)
		}
	})
	t.Run("no summary", func(t *testing.T) {
		request := told(t, newHost(t), "", doing("Python REPL", print12000), scripted.Turn{}, scripted.Turn{})
		if !request.Contains("begin") || !request.Contains("characters left out …]") || !request.Contains("end\n[remaining") {
			t.Errorf("told\n%s", request.Body)
		}
	})
	t.Run("head and tail", func(t *testing.T) {
		request := told(t, newHost(t), `{"summarise": false}`, doing("Python REPL", print12000))
		if !request.Contains("characters left out …]") || !request.Contains("end\n[remaining") {
			t.Errorf("told\n%s", request.Body)
		}
	})
}

func TestFinalAnswerWithoutOutput(t *testing.T) {
	h := newHost(t)
	h.Task.Outputs = []string{"submission.csv"}
	s, err := try(t, h, "", scripted.Turns(answered, answered))
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Requests(); len(r) != 2 || !r[1].Contains("not there: submission.csv") {
		t.Errorf("%d requests", len(r))
	}
}

func TestLogGoesOn(t *testing.T) {
	h := newHost(t)
	h.file(t, logFile, "# What I knew\n")
	request := told(t, h, "", doing("Append Summary to Research Log", `{"content": "more"}`))
	if got := h.content(t, logFile); !strings.HasPrefix(got, "# What I knew\n\n## Summary\nmore\n") || !request.Contains("# What I knew") {
		t.Errorf("the log is\n%s", got)
	}
}
