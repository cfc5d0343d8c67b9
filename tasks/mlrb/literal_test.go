package mlrb

import (
	"encoding/json"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"proctor/tasks/benchtest"
)

func TestLiteral(t *testing.T) {
	for source, want := range map[string]any{
		`"a"`:                                    "a",
		`'it''s' "x"`:                            "itsx",
		`("a" 'b'` + "\n\"c\")":                  "abc",
		`"""a` + "\n" + `  "b" c"""`:             "a\n  \"b\" c",
		`"a\tb\\\x41\u00e9\101\q\` + "\n" + `z"`: "a\tb\\AéA\\qz",
		`r"\text\"x"`:                            `\text\"x`,
		`u'x'`:                                   "x",
		`None`:                                   nil,
		`[True, False,]`:                         []any{true, false},
		`(1, -2.5, 1_000, 1e3)`:                  []any{integer(1), -2.5, integer(1000), 1000.0},
		`(1,)`:                                   []any{integer(1)},
		`()`:                                     []any{},
		`{"a": {"b": []}, 'a': 2 # no}` + "\n}":  map[string]any{"a": integer(2)},
		"{\"k\": \"v\" \\\n \"w\"}":              map[string]any{"k": "vw"},
	} {
		l := &literal{text: source}
		got, err := l.value(0)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v; want %#v", source, got, err, want)
		}
	}
	for source, says := range map[string]string{
		`f"{x}"`:                "computed",
		`b"x"`:                  "bytes",
		`open("x")`:             "not written out",
		`[1, 2`:                 "ends",
		`{"a" 1}`:               "expected ':'",
		`{1: 2}`:                "no string",
		`[1 2]`:                 "expected",
		"\n\n'a\nb'":            "line 3",
		`"""x`:                  "without its end",
		`"\x4"`:                 "escape",
		`"\U99999999"`:          "escape",
		`0x10`:                  "no number",
		``:                      "ends",
		strings.Repeat("[", 99): "deep",
	} {
		l := &literal{text: source}
		if got, err := l.value(0); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %#v, %v; want an error saying %q", source, got, err, says)
		}
	}
}

func TestPythonStr(t *testing.T) {
	for want, value := range map[string]any{
		"None": nil, "True": true, "242.7": 242.70, "0.0": 0.0, "30044544": integer(30044544), "1e+20": 1e20, "text": "text", "1, a": []any{integer(1), "a"},
	} {
		if got := pythonStr(value); got != want {
			t.Errorf("%#v: %q, want %q", value, got, want)
		}
	}
}

// Where Python is at hand, it reads the same.
func TestLiteralAgainstPython(t *testing.T) {
	benchtest.New(t)
	for _, source := range []string{
		`["a" "b", 'c\'d', """e` + "\n" + `f\
g""", r'\h', None, True, 1.5, -3, {"k": ("x", ["y"],), "k": "z"}, "S = M_{\text{avg}} \cdot \x41\060\7é\N"[0:0] if 0 else ""]`,
		`["tab\there", "bell\a", '\'', "\"", "a\
b", '''x'y''z''', "é\u00e9\U0001F600", "$${not} ${a}", ("one"
  "two"), 1e-5, 1_0]`,
	} {
		l := &literal{text: source}
		got, err := l.value(0)
		out, pyErr := exec.Command("python3", "-c", "import ast, json, sys; print(json.dumps(ast.literal_eval(sys.argv[1])))", source).Output()
		if (err == nil) != (pyErr == nil) {
			t.Errorf("%s: %v here, %v in Python", source, err, pyErr)
			continue
		}
		if err != nil {
			continue
		}
		ours, _ := json.Marshal(got)
		var a, b any
		_ = json.Unmarshal(ours, &a)
		if err := json.Unmarshal(out, &b); err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s:\n%s here\n%s in Python (%v)", source, ours, out, err)
		}
	}
}

func FuzzLiteral(f *testing.F) {
	for _, s := range []string{`{"a": [1, "b" 'c', (None,)]}`, `"""\`, `r"`, `"\`, `"\x`, `-`, `1__`, "#", "\\\n", `u`, `[("a"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		l := &literal{text: source}
		if _, err := l.value(0); err == nil && (l.pos == 0 || l.pos > len(source)) {
			t.Fatalf("%q: read to %d", source, l.pos)
		}
		if list, _, err := readPrompts("task_templates = [" + source); err == nil {
			for _, t := range list {
				t.render(standard)
			}
		}
	})
}
