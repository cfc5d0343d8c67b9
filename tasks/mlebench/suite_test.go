package mlebench

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"proctor/tasks"
)

func TestList(t *testing.T) {
	h := newHouse(t)
	list, problems := h.open(t, "").List(t.Context())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var names []string
	for _, task := range list {
		names = append(names, task.Ref)
		if len(task.Missing) > 0 || task.Budget.Time != 24*time.Hour || task.Workdir != "/home" {
			t.Errorf("%s: missing %v, budget %v, workdir %s", task.Ref, task.Missing, task.Budget, task.Workdir)
		}
		if !slices.Contains(task.Keywords, "low") || !slices.Contains(task.Keywords, "lite") {
			t.Errorf("%s has the keywords %v", task.Ref, task.Keywords)
		}
	}
	want := []string{"mle-bench/house-diabetes", "mle-bench/house-diabetes-pair", "mle-bench/house-diabetes-stage",
		"mle-bench/house-digit-odds", "mle-bench/house-digits", "mle-bench/house-tumors"}
	if !slices.Equal(names, want) {
		t.Errorf("listed %v", names)
	}
}

func TestTask(t *testing.T) {
	h := newHouse(t)
	task := h.task(t, "house-diabetes", "")
	if task.Metric.Name != "RMSE" || task.Metric.HigherIsBetter {
		t.Errorf("metric %+v", task.Metric)
	}
	for _, want := range []string{"/home/submission/submission.csv", "http://localhost:5000/validate", "diabetes has progressed", "/home/description.md"} {
		if !strings.Contains(task.Instruction, want) {
			t.Errorf("the instruction lacks %q", want)
		}
	}
	if !slices.Equal(task.Outputs, []string{"submission/submission.csv"}) {
		t.Errorf("outputs %v", task.Outputs)
	}
	if m := task.Mounts[0]; m.Target != "/home/data" || filepath.Base(m.Source) != "public" || m.Writable {
		t.Errorf("data mount %+v", m)
	}
	if s := task.Services; len(s) != 1 || s[0].Port != ValidationPort || s[0].Handler == nil {
		t.Errorf("services %+v", s)
	}
	if want := `mkdir -p submission && cp "${DATA_DIR:-/home/data}/sample_submission.csv" submission/submission.csv`; task.Starter != want {
		t.Errorf("starter %s", task.Starter)
	}
	// 80 teams: gold to the 8th, silver to the 16th, bronze to the 32nd.
	board := boardOf(80, 50, 90)
	th := task.Standing.Thresholds
	if *th.Gold != board[7] || *th.Silver != board[15] || *th.Bronze != board[31] || *th.Median != (board[39]+board[40])/2 {
		t.Errorf("thresholds %v %v %v %v", *th.Gold, *th.Silver, *th.Bronze, *th.Median)
	}
	// Once prepared by mlebench, the description lies with the data.
	write(t, filepath.Join(h.data, "house-diabetes", "prepared", "public", "description.md"), "x\n")
	task = h.task(t, "house-diabetes", "")
	if !strings.Contains(task.Instruction, "/home/data/description.md") || len(task.Mounts) != 1 {
		t.Errorf("mounts %v", task.Mounts)
	}
}

func TestSeedsMakeTheFoldersAnAgentExpects(t *testing.T) {
	task := newHouse(t).task(t, "house-tumors", "")
	dir := t.TempDir()
	for _, s := range task.Seeds {
		to := filepath.Join(dir, s.To)
		if err := os.MkdirAll(to, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(to, s.From); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"submission", "code", "instructions.txt", "validate_submission.sh"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestASingleCompetitionOpens(t *testing.T) {
	h := newHouse(t)
	dir := filepath.Dir(h.file("house-digits", "x"))
	if !Detect(dir) || !Detect(h.root) || Detect(h.data) || Detect(t.TempDir()) || Detect("/nonexistent") {
		t.Fatal("Detect is wrong")
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, problems := s.List(t.Context())
	if len(list) != 1 || len(problems) != 0 || list[0].Name != "house-digits" || len(list[0].Missing) > 0 {
		t.Errorf("%v %v", list, problems)
	}
	if _, err := Open(h.data); err == nil {
		t.Error("opened what is no checkout")
	}
}

func TestUnknownCompetition(t *testing.T) {
	s := newHouse(t).open(t, "")
	_, err := s.Open(t.Context(), "house-digit")
	if err == nil || !strings.Contains(err.Error(), `did you mean "house-digits"?`) {
		t.Error(err)
	}
}

// A checkout at another version: what can be read is listed, and the rest is
// named with the reason.
func TestDamagedCheckout(t *testing.T) {
	h := newHouse(t)
	edit := func(id, name string, change func(string) string) {
		data, err := os.ReadFile(h.file(id, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, h.file(id, name), change(string(data)))
	}
	remove := func(file string) {
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
	}
	edit("house-tumors", "config.yaml", func(s string) string { return s + "new_key: {a: [1, 2]}\n" }) // read
	remove(h.file("house-digits", "config.yaml"))
	edit("house-digit-odds", "config.yaml", func(string) string { return "id: [unclosed\n" })
	edit("house-diabetes", "config.yaml", func(s string) string {
		return strings.Replace(s, "house-diabetes/prepared/private", "../../etc", 1)
	})
	remove(h.file("house-diabetes-pair", "description.md"))
	remove(h.file("house-diabetes-stage", "grade.py")) // has a plain metric: read
	write(t, h.file("house-orphan", "grade.py"), "")
	write(t, h.file("house-strange", "config.yaml"), strings.NewReplacer("house-tumors", "house-strange", "auc-roc", "odd").Replace(
		"id: house-tumors\ndataset: {answers: a.csv, sample_submission: b.csv}\ngrader: {name: auc-roc, grade_fn: 'm:f'}\n"))
	write(t, h.file("house-strange", "description.md"), "x\n")

	list, problems := h.open(t, "").List(t.Context())
	if len(list) != 2 || list[0].Name != "house-diabetes-stage" || list[1].Name != "house-tumors" {
		t.Errorf("listed %v", list)
	}
	want := map[string]string{
		"mle-bench/house-digits":        "config.yaml: missing, expected the competition's settings",
		"mle-bench/house-digit-odds":    "not the YAML that is expected there",
		"mle-bench/house-diabetes":      `dataset.answers is "../../etc/answers.csv", expected a path below the data directory`,
		"mle-bench/house-diabetes-pair": "description.md: missing",
		"mle-bench/house-orphan":        "config.yaml: missing",
		"mle-bench/house-strange":       "grade.py: missing, expected the competition's grader",
	}
	for _, p := range problems {
		if w := want[p.Ref]; w == "" || !strings.Contains(p.Err.Error(), w) {
			t.Errorf("%s: %v", p.Ref, p.Err)
		}
		delete(want, p.Ref)
	}
	if len(want) > 0 {
		t.Errorf("not reported: %v", want)
	}
}

const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"

func TestMissingData(t *testing.T) {
	for name, tc := range map[string]struct {
		damage func(prepared string) error
		want   []string
	}{
		"nothing":   {os.RemoveAll, []string{`prepared is missing; accept its rules on kaggle.com, then run: mlebench prepare -c house-tumors --data-dir`}},
		"no public": {func(p string) error { return os.RemoveAll(filepath.Join(p, "public")) }, []string{"public is missing; accept"}},
		"empty public": {func(p string) error {
			return os.RemoveAll(filepath.Join(p, "public", "test.csv"))
		}, nil},
		"no private": {func(p string) error { return os.RemoveAll(filepath.Join(p, "private")) }, []string{"answers.csv is missing"}},
		"empty answers": {func(p string) error {
			return os.Truncate(filepath.Join(p, "private", "answers.csv"), 0)
		}, []string{"answers.csv is empty"}},
		"pointer": {func(p string) error {
			return os.WriteFile(filepath.Join(p, "private", "answers.csv"), []byte(pointer), 0o644)
		}, []string{"answers.csv is a git-LFS pointer"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			if err := tc.damage(filepath.Join(h.data, "house-tumors", "prepared")); err != nil {
				t.Fatal(err)
			}
			missing := h.task(t, "house-tumors", "").Missing
			if len(missing) != len(tc.want) {
				t.Fatalf("missing %q", missing)
			}
			for i, want := range tc.want {
				if !strings.Contains(missing[i], want) {
					t.Errorf("%q lacks %q", missing[i], want)
				}
			}
		})
	}
}

func TestDataDirectory(t *testing.T) {
	h := newHouse(t)
	elsewhere := t.TempDir()
	s, err := OpenWith(h.root, Options{Data: elsewhere})
	if err != nil {
		t.Fatal(err)
	}
	task, err := s.Open(t.Context(), "house-tumors")
	if err != nil {
		t.Fatal(err)
	}
	if len(task.Missing) != 1 || !strings.Contains(task.Missing[0], elsewhere) {
		t.Errorf("missing %q", task.Missing)
	}
	if err := os.Rename(h.data, h.data+"-moved"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", "/cache")
	t.Setenv("HOME", "/cache")
	if dir, err := dataDir(h.root, ""); err != nil || !regexp.MustCompile(`^/cache/.*mle-bench/data$`).MatchString(dir) {
		t.Errorf("default %q, %v", dir, err)
	}
}

// A real competition without its leaderboard is judged by the built-in table,
// and says so; known flaws stand beside it.
func TestKnownCompetitionWithoutLeaderboard(t *testing.T) {
	h := newHouse(t)
	const id = "random-acts-of-pizza"
	write(t, h.file(id, "config.yaml"), "id: "+id+"\nname: Random Acts of Pizza\ndataset:\n  answers: "+id+"/prepared/private/test.csv\n  sample_submission: "+id+
		"/prepared/public/sampleSubmission.csv\ngrader:\n  name: auc-roc\n  grade_fn: mlebench.competitions."+id+".grade:grade\n")
	write(t, h.file(id, "description.md"), "Pizza.\n")
	write(t, h.file(id, "leaderboard.csv"), pointer)
	header := "request_id,requester_received_pizza\n"
	write(t, filepath.Join(h.data, id, "prepared", "public", "sampleSubmission.csv"), header+"a,0\nb,0\nc,0\n")
	write(t, filepath.Join(h.data, id, "prepared", "private", "test.csv"), header+"a,0\nb,1\nc,0\n")

	task := h.task(t, id, noPython)
	all := strings.Join(task.Warnings, "\n")
	if !strings.Contains(all, "leak: ") || !strings.Contains(all, "built-in table, since leaderboard.csv is a git-LFS pointer") {
		t.Errorf("warnings %q", all)
	}
	if len(task.Standing.Published) == 0 || *task.Standing.Baseline != 0.5 {
		t.Errorf("standing %+v", task.Standing)
	}
	v := gradeIt(t, task, submission(t, header+"c,0.2\nb,0.9\na,0.1\n"), newBench(t))
	if v.Status != tasks.Graded || *v.Score != 1 || v.Medal != "gold" || *v.Thresholds.Silver != 0.76482 || !slices.Equal(v.Flags, task.Warnings) {
		t.Errorf("verdict %+v", v)
	}
	// A leaderboard that was cut to its first rows gives itself away.
	write(t, h.file(id, "leaderboard.csv"), "score\n0.99\n0.98\n0.97\n")
	if all := strings.Join(h.task(t, id, noPython).Warnings, "\n"); !strings.Contains(all, "leaderboard.csv has 3 teams and sets other medal thresholds") {
		t.Errorf("warnings %q", all)
	}
}

func TestKnownTable(t *testing.T) {
	counts := map[string]int{}
	for id, k := range knownCompetitions() {
		counts[k.split]++
		g, s, b := *k.thresholds.Gold, *k.thresholds.Silver, *k.thresholds.Bronze
		m := tasks.Metric{HigherIsBetter: k.higher}
		if m.Better(s, g) || m.Better(b, s) || m.Better(*k.thresholds.Median, b) {
			t.Errorf("%s: thresholds %v %v %v are out of order", id, g, s, b)
		}
	}
	if counts["low"] != 22 || counts["medium"] != 38 || counts["high"] != 15 || counts["dev"] != 7 {
		t.Errorf("splits %v", counts)
	}
	all := plans()
	for id, p := range all {
		k, ok := knownCompetitions()[id]
		if !ok || k.higher != p.higher {
			t.Errorf("the plan of %s: known %v, higher %v", id, ok, p.higher)
		}
	}
	for id, k := range knownCompetitions() {
		if k.split == "low" && all[id] == nil {
			t.Errorf("%s of the low split has no plan", id)
		}
	}
	for _, id := range []string{"aerial-cactus-identification", "smartphone-decimeter-2022", "dog-breed-identification"} {
		if len(flaws(id)) == 0 {
			t.Errorf("%s has no flag", id)
		}
	}
}
