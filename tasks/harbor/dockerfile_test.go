package harbor

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestParseDockerfile(t *testing.T) {
	for name, tc := range map[string]struct {
		src  string
		want dockerfile
	}{
		"nothing":                  {"", dockerfile{}},
		"lower case and continued": {"from x\nworkdir \\\n  /a \nWORKDIR b\n", dockerfile{workdir: "/a/b"}},
		"copies": {
			"WORKDIR /app\nCOPY a.txt b.txt dir/\nADD src .\nCOPY [\"with space\", \"/x y\"]\nCOPY ./c /d\nCOPY --chmod=755 /e /f/.",
			dockerfile{workdir: "/app", copies: []copying{
				{"a.txt", "/app/dir/"}, {"b.txt", "/app/dir/"}, {"src", "/app/"}, {"with space", "/x y"}, {"c", "/d"}, {"e", "/f/"}}},
		},
		"not ours": {
			"COPY --from=build a /a\nADD https://example.com/x /x\nCOPY $SRC /y\nCOPY <<EOF /z\nRUN hidden\nEOF\nRUN one\nRUN two\nUSER me\nENV A=1\n",
			dockerfile{without: []string{"COPY of other than the task's own files", "ADD of other than the task's own files", "RUN", "USER", "ENV"}},
		},
		"work directory by argument": {"WORKDIR $HOME", dockerfile{without: []string{"WORKDIR"}}},
		"unfinished":                 {"RUN x \\", dockerfile{without: []string{"RUN"}}},
		"endless heredoc":            {"RUN <<X\nCOPY a b", dockerfile{without: []string{"RUN"}}},
	} {
		if diff := cmp.Diff(tc.want, parseDockerfile(tc.src), cmp.AllowUnexported(dockerfile{}, copying{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func FuzzDockerfile(f *testing.F) {
	f.Add("FROM x\nWORKDIR /app\nCOPY . .\nCOPY [\"a\", \"b\"]\nRUN <<E\nE\n")
	f.Add("COPY ../../etc/passwd [a-\nWORKDIR ..\\\n")
	env := fstest.MapFS{"a": {}, "d/b": {}}
	f.Fuzz(func(t *testing.T, src string) {
		d := parseDockerfile(src)
		list, _, err := seeds(env, &d, "/app")
		if err != nil {
			return
		}
		for _, s := range list {
			if !within("/app", "/app/"+s.To) && s.To != "." {
				t.Errorf("a seed outside the workspace: %q", s.To)
			}
		}
	})
}

func TestInSeeds(t *testing.T) {
	env := fstest.MapFS{"data/a.csv": {}, "b.txt": {}, "Dockerfile": {}}
	all, _, err := seeds(env, nil, "/app")
	if err != nil {
		t.Fatal(err)
	}
	d := parseDockerfile("WORKDIR /app\nCOPY data /app/in/data\nCOPY b.txt c.txt")
	some, _, err := seeds(env, &d, "/app")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		path      string
		all, some bool
	}{
		{".", true, true}, {"data", true, false}, {"data/a.csv", true, false}, {"Dockerfile", false, false},
		{"in", false, true}, {"in/data", false, true}, {"in/data/a.csv", false, true}, {"in/data/b", false, false},
		{"b.txt", true, false}, {"c.txt", false, true},
	} {
		if got := inSeeds(all, tc.path); got != tc.all {
			t.Errorf("%s among all: %v", tc.path, got)
		}
		if got := inSeeds(some, tc.path); got != tc.some {
			t.Errorf("%s among some: %v", tc.path, got)
		}
	}
}
