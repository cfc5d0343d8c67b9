package mlagentbench

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"proctor/tasks"
	"proctor/tasks/benchtest"
)

func TestGrade(t *testing.T) {
	b := benchtest.New(t)
	task := openTask(t, layCheckout(t), "house-price")
	v := benchtest.Grade(t, task, submit(t, map[string]string{"submission.csv": "Id,SalePrice\n11,110\n12,190\n13,310\n"}), b)
	if v.Status != tasks.Graded || v.Score == nil || *v.Score != 10 || v.HigherIsBetter || v.Metric != "MAE" {
		t.Fatalf("verdict %+v", v)
	}
	if v.Success == nil || !*v.Success || v.Improvement == nil || math.Abs(*v.Improvement-1) > 1e-6 || len(v.Flags) != 1 {
		t.Errorf("improvement %v, success %v, flags %q", v.Improvement, v.Success, v.Flags)
	}
	job := b.Jobs[0]
	if job.Inner || job.Timeout <= 0 {
		t.Errorf("job %+v", job)
	}
	for _, m := range job.Mounts {
		if m.Writable {
			t.Errorf("%s is writable", m.Target)
		}
	}
}

func TestGradeUnknownTask(t *testing.T) {
	b := benchtest.New(t)
	task := openTask(t, layCheckout(t), "novel")
	v := benchtest.Grade(t, task, submit(t, map[string]string{"guess.txt": "0.25"}), b)
	if v.Status != tasks.Graded || *v.Score != 0.25 || v.Improvement != nil || v.Success != nil {
		t.Fatalf("verdict %+v", v)
	}
	v = benchtest.Grade(t, task, submit(t, map[string]string{"guess.txt": "many"}), b)
	if v.Status != tasks.InvalidSubmission || !strings.Contains(v.Reason, "many") {
		t.Errorf("verdict %+v", v)
	}
	v = benchtest.Grade(t, task, submit(t, map[string]string{"guess.txt": "nan"}), b)
	if v.Status != tasks.InvalidSubmission || !strings.Contains(v.Reason, "nan") {
		t.Errorf("verdict %+v", v)
	}
	v = benchtest.Grade(t, task, submit(t, nil), b)
	if v.Status != tasks.InvalidSubmission || !strings.Contains(v.Reason, "guess.txt") {
		t.Errorf("verdict %+v", v)
	}
}

func TestUngradable(t *testing.T) {
	dir := layCheckout(t)
	good := map[string]string{"submission.csv": answers}
	v := benchtest.Grade(t, openTask(t, dir, "cifar10"), submit(t, good), nil)
	if v.Status != tasks.DataMissing || !strings.Contains(v.Remedy, "prepare_task cifar10") {
		t.Errorf("not prepared: %+v", v)
	}
	v = benchtest.Grade(t, openTask(t, dir, "llama-inference"), submit(t, map[string]string{"inference.py": ""}), nil)
	if v.Status != tasks.GraderUnavailable || !strings.Contains(v.Remedy, "proctor grade RUN --score X --by NAME") {
		t.Errorf("no eval.py: %+v", v)
	}
	b := benchtest.New(t)
	b.Fail = errors.New("no sandbox today")
	v = benchtest.Grade(t, openTask(t, dir, "house-price"), submit(t, good), b)
	if v.Status != tasks.GraderUnavailable || !strings.Contains(v.Reason, "no sandbox today") {
		t.Errorf("a bench that fails: %+v", v)
	}
}

// Each way in which an eval.py fails is told apart from the others.
func TestEvalFails(t *testing.T) {
	b := benchtest.New(t)
	for _, c := range []struct {
		name, eval string
		status     tasks.Status
		says       string
	}{
		{"a module", "import nosuchmodule.part\n", tasks.GraderUnavailable, "nosuchmodule"},
		{"a module, late", "def get_score(f):\n    import nosuchmodule\n", tasks.GraderUnavailable, "nosuchmodule"},
		{"a syntax error", "def get_score(f:\n", tasks.GraderFailed, "SyntaxError"},
		{"no get_score", "x = 1\n", tasks.GraderFailed, "get_score"},
		{"not a number", "def get_score(f):\n    return 'high'\n", tasks.GraderFailed, "high"},
		{"nothing", "def get_score(f):\n    return None\n", tasks.GraderFailed, "None"},
		{"infinity", "def get_score(f):\n    return float('inf')\n", tasks.InvalidSubmission, "inf"},
		{"a crash", "def get_score(f):\n    raise RuntimeError('boom')\n", tasks.GraderFailed, "boom"},
		{"another version", "def get_score(f):\n    return [].median()\n", tasks.GraderFailed, "median"},
		{"a missing key", "def get_score(f):\n    return {}['SalePrice']\n", tasks.InvalidSubmission, "SalePrice"},
		{"an exit", "import sys\ndef get_score(f):\n    sys.exit(3)\n", tasks.GraderFailed, "status 3"},
		{"lost answers", "import os\ndef get_score(f):\n    open(os.path.dirname(__file__) + '/gone.csv')\n", tasks.DataMissing, "gone.csv"},
		{"a download", "import urllib.error\ndef get_score(f):\n    raise urllib.error.URLError('no route')\n", tasks.GraderUnavailable, "download"},
		{"threads left", "import threading, time\ndef get_score(f):\n    threading.Thread(target=time.sleep, args=(600,)).start()\n    return 5\n", tasks.Graded, ""},
		{"a process killed", "import os\ndef get_score(f):\n    os.kill(os.getpid(), 9)\n", tasks.GraderFailed, "wrote no reward"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := layCheckout(t)
			benchtest.Add(t, folder(dir, "house-price"), map[string]string{"scripts/eval.py": c.eval})
			v := benchtest.Grade(t, openTask(t, dir, "house-price"), submit(t, map[string]string{"submission.csv": answers}), b)
			if v.Status != c.status || !strings.Contains(v.Reason, c.says) {
				t.Errorf("verdict %s: %q, want %s saying %q", v.Status, v.Reason, c.status, c.says)
			}
			if (v.Status == tasks.GraderUnavailable || v.Status == tasks.DataMissing) && v.Remedy == "" {
				t.Error("no remedy")
			}
		})
	}
}

// Each bad submission has its own status and words, and none a score.
func TestBadSubmissions(t *testing.T) {
	task := openTask(t, layCheckout(t), "house-price")
	for _, c := range []struct {
		name, table string
		status      tasks.Status
		says        string
	}{
		{"empty", "", tasks.InvalidSubmission, "is empty"},
		{"header only", "Id,SalePrice\n", tasks.InvalidSubmission, "no rows"},
		{"wrong columns", "Id,Price\n11,1\n12,2\n13,3\n", tasks.InvalidSubmission, `lacks the column "SalePrice"`},
		{"a column twice", "Id,SalePrice,SalePrice\n11,1,1\n12,2,1\n13,3,1\n", tasks.InvalidSubmission, "twice"},
		{"extra rows", answers + "14,5\n", tasks.InvalidSubmission, "has 4 rows, expected 3"},
		{"too few rows", "Id,SalePrice\n11,1\n", tasks.InvalidSubmission, "has 1 rows, expected 3"},
		{"duplicated ids", "Id,SalePrice\n11,1\n11,2\n13,3\n", tasks.InvalidSubmission, `the Id "11" is there twice`},
		{"strange ids", "Id,SalePrice\n11,1\n12,2\n99,3\n", tasks.InvalidSubmission, `no Id "99"`},
		{"shuffled", "Id,SalePrice\n13,300\n12,200\n11,100\n", tasks.InvalidSubmission, "another order"},
		{"NaN", "Id,SalePrice\n11,NaN\n12,2\n13,3\n", tasks.InvalidSubmission, "line 2: SalePrice"},
		{"infinity", "Id,SalePrice\n11,1\n12,-inf\n13,3\n", tasks.InvalidSubmission, "line 3: SalePrice"},
		{"overflow", "Id,SalePrice\n11,1\n12,1e999\n13,3\n", tasks.InvalidSubmission, "no finite number"},
		{"an empty cell", "Id,SalePrice\n11,1\n12,\n13,3\n", tasks.InvalidSubmission, "empty, expected a number"},
		{"words", "Id,SalePrice\n11,much\n12,2\n13,3\n", tasks.InvalidSubmission, `"much"`},
		{"ragged", "Id,SalePrice\n11,1,2\n12,2\n13,3\n", tasks.InvalidSubmission, "line 2"},
		{"bytes", "\x00\xff\xfe\x00", tasks.InvalidSubmission, "lacks the column"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := benchtest.Grade(t, task, submit(t, map[string]string{"submission.csv": c.table}), nil)
			if v.Status != c.status || v.Score != nil || !strings.Contains(v.Reason, c.says) {
				t.Errorf("verdict %s %q, want %s saying %q", v.Status, v.Reason, c.status, c.says)
			}
		})
	}
}

func TestBadSubmissionFiles(t *testing.T) {
	task := openTask(t, layCheckout(t), "house-price")
	dir := t.TempDir()
	for _, c := range []struct {
		name   string
		sub    tasks.Submission
		status tasks.Status
		says   string
	}{
		{"missing", tasks.Submission{Dir: dir, Missing: []string{"submission.csv"}}, tasks.NoSubmission, "left no submission.csv"},
		{"a link", tasks.Submission{Dir: dir, Refused: map[string]string{"submission.csv": "a symbolic link"}}, tasks.InvalidSubmission, "symbolic link"},
		{"a FIFO", tasks.Submission{Dir: dir, Refused: map[string]string{"submission.csv": "a named pipe"}}, tasks.InvalidSubmission, "named pipe"},
		{"a directory", submit(t, map[string]string{"submission.csv/": ""}), tasks.InvalidSubmission, "is a directory"},
		{"five gigabytes", huge(t), tasks.InvalidSubmission, "more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := benchtest.Grade(t, task, c.sub, nil)
			if v.Status != c.status || v.Score != nil || !strings.Contains(v.Reason, c.says) {
				t.Errorf("verdict %s %q, want %s saying %q", v.Status, v.Reason, c.status, c.says)
			}
		})
	}
}

// huge is a submission of 5 GB that takes no room on the disk.
func huge(t testing.TB) tasks.Submission {
	dir := t.TempDir()
	path := filepath.Join(dir, "submission.csv")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 5<<30); err != nil {
		t.Skip("no sparse files here: ", err)
	}
	return tasks.Submission{Dir: dir}
}

func TestShapes(t *testing.T) {
	for name, k := range table() {
		if k.table == nil {
			continue
		}
		if k.table.answers != "" && k.table.id == "" {
			t.Errorf("%s: answers without an id", name)
		}
		for _, column := range append(k.table.booleans, k.table.filled...) {
			found := false
			for _, c := range k.table.columns {
				found = found || c == column
			}
			if !found {
				t.Errorf("%s: the column %s is looked into, but not asked for", name, column)
			}
		}
	}
	s := table()["spaceship-titanic"].table
	for text, says := range map[string]string{
		"PassengerId,Transported\na,True\nb,False\n": "",
		"PassengerId,Transported\na,1\nb,0\n":        "",
		"PassengerId,Transported\na,True\nb,0\n":     "line 3",
		"PassengerId,Transported\na,True\nb,maybe\n": "line 3",
		"PassengerId,Transported\na,True\nb,\n":      "line 3",
	} {
		g, err := parseTable(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.cellsOf(g); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

func FuzzTable(f *testing.F) {
	for _, seed := range []string{answers, "\ufeffId,SalePrice\n1,2\n", "a\"b,c\n\"", ",,\n,,\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := parseTable(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, k := range table() {
			if k.table == nil || k.table.columnsOf(g) != nil || k.table.cellsOf(g) != nil {
				continue
			}
			for _, row := range g.rows {
				for i, name := range g.header {
					if name == "SalePrice" && k.metric == "MAE" && number(row[i]) != nil {
						t.Fatalf("%q was let through", row[i])
					}
				}
			}
		}
	})
}
