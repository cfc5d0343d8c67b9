package research

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"proctor/agents"
)

func TestParse(t *testing.T) {
	type in = map[string]string
	plain := "Reflection: r\nResearch Plan and Status: p\nFact Check: f\nThought: t\nAction: %\n"
	list := in{"dir_path": "."}
	write := func(content string) in { return in{"file_name": "a.py", "content": content} }
	for _, test := range []struct {
		name, text, action string
		input              in
	}{
		{"as asked", strings.Replace(plain, "%", "List Files", 1) + `Action Input: {"dir_path": "."}`, "List Files", list},
		{"only the action", "Action: List Files\nAction Input: {\"dir_path\": \".\"}", "List Files", list},
		{"Windows line ends", "Action: List Files\r\nAction Input: {\"dir_path\": \".\"}\r\n", "List Files", list},
		{"Markdown", "### Thought\nwell\n\n**Action:** `List Files`\n**Action Input:**\n```json\n{\n  \"dir_path\": \".\"\n}\n```\n", "List Files", list},
		{"numbered", "1. Reflection: r\n2. Research Plan and Status: p\n4. Thought: t\n5. Action: List Files\n6. Action Input: {\"dir_path\": \".\"}", "List Files", list},
		{"all in a fence", "```\nAction: List Files\nAction Input: {\"dir_path\": \".\"}\n```", "List Files", list},
		{"prose after it", "Action: List Files\nAction Input: {\"dir_path\": \".\"}\nI hope that this helps {or not}.", "List Files", list},
		{"a made up observation", "Action: List Files\nAction Input: {\"dir_path\": \".\"}\nObservation: a b\nThought: x\nAction: Final Answer\nAction Input: {\"final_answer\": \"x\"}", "List Files", list},
		{"input on the action's line", `Action: List Files {"dir_path": "."}`, "List Files", list},
		{"input without its heading", "Action: List Files\n{\"dir_path\": \".\"}", "List Files", list},
		{"other case and spacing", "ACTION: list_files\naction_input: {\"dir_path\": \".\"}", "List Files", list},
		{"without (AI)", `Action: Edit Script` + "\n" + `Action Input: {"script_name": "a", "edit_instruction": "b"}`, "Edit Script (AI)", in{"script_name": "a", "edit_instruction": "b", "save_name": "a"}},
		{"one plain argument", "Action: Execute Script\nAction Input: train.py\nObservation: ok", "Execute Script", in{"script_name": "train.py"}},
		{"a quoted argument", "Action: Execute Script\nAction Input: \"train.py\"", "Execute Script", in{"script_name": "train.py"}},
		{"thinking in the text", "<think>Action: Final Answer\n</think>\nAction: List Files\nAction Input: {\"dir_path\": \".\"}", "List Files", list},
		{"one JSON object", `{"Thought": "t", "Action": "List Files", "Action Input": {"dir_path": "."}}`, "List Files", list},
		{"numbers", `Action: Inspect Script Lines` + "\n" + `Action Input: {"script_name": "a", "start_line_number": 1, "end_line_number": "20"}`,
			"Inspect Script Lines", in{"script_name": "a", "start_line_number": "1", "end_line_number": "20"}},
		{"more arguments", `Action: List Files` + "\n" + `Action Input: {"dir_path": ".", "why": ["x", 1, null]}`, "List Files", list},
		{"headings in the content", "Action: Write File\nAction Input: {\"file_name\": \"a.py\", \"content\": \"x\nAction: Final Answer\nAction Input: {}\nObservation: y\"}",
			"Write File", write("x\nAction: Final Answer\nAction Input: {}\nObservation: y")},
		{"line breaks in a string", "Action: Write File\nAction Input: {\"file_name\": \"a.py\", \"content\": \"x = 1\n\tprint(x)\n\"}", "Write File", write("x = 1\n\tprint(x)\n")},
		{"quotes in a string", "Action: Write File\nAction Input: {\"file_name\": \"a.py\", \"content\": \"print(\"hi\")\"}", "Write File", write(`print("hi")`)},
		{"Python's quotes", "Action: Write File\nAction Input: {'file_name': 'a.py', 'content': 'it\\'s'}", "Write File", write("it's")},
		{"tripled quotes", "Action: Write File\nAction Input: {\"file_name\": \"a.py\", \"content\": \"\"\"x = {\"a\": 1}\ny\"\"\",}", "Write File", write("x = {\"a\": 1}\ny")},
		{"Unicode", `Action: Write File` + "\n" + `Action Input: {"file_name": "a.py", "content": "\u00e9\ud83d\ude00\ud83d!",}`, "Write File", write("é😀\ufffd!")},
		{"a backslash of its own", `Action: Write File` + "\n" + `Action Input: {"file_name": "a.py", "content": "\d+\n"}`, "Write File", write("\\d+\n")},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := parse(test.text)
			if err != nil {
				t.Fatal(err)
			}
			if p.action.name != test.action {
				t.Errorf("the action is %q", p.action.name)
			}
			if diff := cmp.Diff(test.input, p.input); diff != "" {
				t.Errorf("input (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseSections(t *testing.T) {
	p, err := parse(whole)
	if err != nil {
		t.Fatal(err)
	}
	if p.reflection != "Nothing has been observed yet." || p.thought != "The baseline comes first." ||
		!strings.HasPrefix(p.plan, "1. Run") || !strings.HasPrefix(p.facts, "- train.py") || p.more {
		t.Errorf("got %+v", p)
	}
	again, err := parse(p.String())
	if err != nil || again.String() != p.String() {
		t.Errorf("what it says of itself is read as %+v, %v", again, err)
	}
}

func TestPlanEntries(t *testing.T) {
	type e = agents.PlanEntry
	entry := func(status agents.PlanStatus, content string) e {
		return e{Content: content, Priority: "medium", Status: status}
	}
	for _, test := range []struct {
		name, section string
		want          []e
	}{
		{"nothing", " \n", nil},
		{"words", "1. Look - done\n2. Train (in progress)\n3. Tune: not done yet\n4. Submit", []e{
			entry(agents.Completed, "Look - done"), entry(agents.InProgress, "Train (in progress)"),
			entry(agents.Pending, "Tune: not done yet"), entry(agents.Pending, "Submit")}},
		{"boxes", "- [x] look\n- [ ] train\n- [~] read", []e{
			entry(agents.Completed, "look"), entry(agents.Pending, "train"), entry(agents.InProgress, "read")}},
		{"marks", "✓ is no list\n", []e{entry(agents.Completed, "✓ is no list")}},
		{"a status below", "1. **Look**\n   - Status: Completed\n   - Result: 0.8\n2. Train\n   Status: pending", []e{
			entry(agents.Completed, "Look"), entry(agents.InProgress, "Train")}},
		{"prose", "Plan:\nFirst look.\n**Then train.**", []e{entry(agents.InProgress, "First look."), entry(agents.Pending, "Then train.")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, planEntries(test.section)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMarkFacts(t *testing.T) {
	for section, want := range map[string]string{
		"":                           "",
		"The score is 0.8.":          "· unmarked: The score is 0.8.",
		"- It is 0.8 (confirmed)":    "✓ confirmed: It is 0.8 (confirmed)",
		"- It has not been verified": "? guessed: It has not been verified",
		"Confirmed:\n- a\n- b is a guess\nGuessed:\n1. c":                           "✓ confirmed: a\n? guessed: b is a guess\n? guessed: c",
		"That a is 1 is directly confirmed. I assume that b is 2.\n**c** may be 3.": "✓ confirmed: That a is 1 is directly confirmed.\n? guessed: I assume that b is 2.\n? guessed: c may be 3.",
	} {
		if got := markFacts(section); got != want {
			t.Errorf("%q is marked\n%s\nwant\n%s", section, got, want)
		}
	}
}

func TestDiff(t *testing.T) {
	for _, test := range []struct{ from, to, want string }{
		{"a\n", "a\n", ""},
		{"", "a\n", "@@ line 1 @@\n+a\n"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nfive\n6\n7\n8\n", "@@ line 2 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{"a\nb\nc\n", "b\nc\nd", "@@ line 1 @@\n-a\n b\n c\n+d\n"},
	} {
		if got := diff(test.from, test.to); got != test.want {
			t.Errorf("%q to %q:\n%s\nwant\n%s", test.from, test.to, got, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add("Action: Write File\nAction Input: {\"file_name\": 'a', \"content\": \"\"\"x\n\\u00e9\\\"\"\"\", [1, {}]}")
	f.Add(`{"Action": "List Files", "Action Input": "."}`)
	f.Add("**Action**\n`Understand File`\nAction Input: {a: b, c: None,}")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parse(text)
		if err != nil {
			return
		}
		for _, a := range p.action.args {
			if _, ok := p.input[a.name]; !ok {
				t.Errorf("%s lacks %s", p.action.name, a.name)
			}
		}
		planEntries(p.plan)
		markFacts(p.facts)
		// What the model is shown of its reply means what was done.
		again, err := parse("Action: " + p.action.name + "\nAction Input: " + p.inputJSON())
		if err != nil {
			t.Fatalf("%q is written as %q: %v", text, p.inputJSON(), err)
		}
		if again.inputJSON() != p.inputJSON() {
			t.Errorf("%q is read as %q and then %q", text, p.inputJSON(), again.inputJSON())
		}
	})
}

func FuzzLoose(f *testing.F) {
	f.Add(`{"a": 'b', c: [1, 2,], "d": """x"""}`)
	f.Fuzz(func(t *testing.T, text string) {
		object, rest, err := readObject(text)
		if err == nil && object == nil && !strings.Contains(text, "null") {
			t.Error("no object and no error")
		}
		if !strings.HasSuffix(text, rest) {
			t.Errorf("the rest %q is not the end of %q", rest, text)
		}
	})
}
