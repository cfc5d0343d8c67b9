package tomlfile

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

func TestKeyLines(t *testing.T) {
	src := `# a comment with [brackets]
a = 1
"quoted key" = """
[not.a.table]
b = "still text" \"""
"""   # c = 3
d.e = 'x # y'
list = [
  "[x]", # ] in a comment
  {k = 1},
]
f = '''
it ends in a quote''''
[t . "u.v"]
g = "\"#"
[[many]]
h = 1
[[many]]
h = 2
[many.sub]
i = 1
[[many.deep]]
j = 1
[t2]`
	want := map[string]int{
		"a": 2, "quoted key": 3, "d": 7, "d.e": 7, "list": 8, "f": 12,
		"t": 14, "t.u.v": 14, "t.u.v.g": 15,
		"many": 16, "many[0]": 16, "many[0].h": 17,
		"many[1]": 18, "many[1].h": 19, "many[1].sub": 20, "many[1].sub.i": 21,
		"many[1].deep": 22, "many[1].deep[0]": 22, "many[1].deep[0].j": 23, "t2": 24,
	}
	var v map[string]any
	if _, err := toml.Decode(src, &v); err != nil {
		t.Fatalf("the test's own document: %v", err)
	}
	if diff := cmp.Diff(want, keyLines(src)); diff != "" {
		t.Error(diff)
	}
}

// Whatever the decoder takes, every key that is not in an inline table must
// be found, on a line that the document has; and nothing may crash.
func FuzzKeyLines(f *testing.F) {
	for _, seed := range []string{
		"a = 1\n[b]\nc = 'x'\n[[d]]\ne = [1,\n2]\n", "a.b.'c d' = \"\"\"\nx\"\"\"\"\"\n[x]", "[[a]]\n[[a.b]]\n[a.b.c]\nd=1",
		"\"\\u0061\" = 1\r\nb = 2", "a = {b = 1}", "]\n[[a\xb1.b\n[a.b.a", "a=[[1],[2]]#x\nb='''\n'''", "[a]\n[a.\"\"]\nb=1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if _, deep := tooDeep(src); deep || strings.Contains(src, "{") {
			return
		}
		var v map[string]any
		lines := keyLines(src)
		if _, err := toml.Decode(src, &v); err != nil {
			return
		}
		var check func(path string, v any)
		check = func(path string, v any) {
			if line := lines[path]; path != "" && (line < 1 || line > strings.Count(src, "\n")+1) {
				t.Errorf("%q is on line %d of %q", path, line, src)
			}
			switch v := v.(type) {
			case map[string]any:
				for key, value := range v {
					check(join(path, key), value)
				}
			}
		}
		check("", v)
	})
}
