package runner

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"proctor/agents"
	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/tasks"
	"proctor/tasks/grade"
)

// ungraded is a grader that cannot judge, but knows what a score is worth.
type ungraded struct{ status tasks.Status }

func (g ungraded) Grade(context.Context, tasks.Submission, tasks.Bench) (*tasks.Verdict, error) {
	return &tasks.Verdict{Status: g.status, Metric: "accuracy", HigherIsBetter: true, Reason: "no module", Flags: []string{"leaky"}}, nil
}

func (ungraded) Read(score float64) *tasks.Verdict {
	success := score > 0.5
	v := grade.Apply(tasks.Standing{}, tasks.Metric{Name: "accuracy", HigherIsBetter: true}, score)
	v.Success = &success
	return v
}

func handedIn(ctx context.Context, s *agents.Session) error {
	_, err := s.Run(ctx, agents.Action{Kind: agents.Execute, Title: "write", Shell: "echo 0.7 > out.txt"})
	return err
}

func over(t *testing.T, g tasks.Grader) *live {
	t.Helper()
	l := begin(t, handedIn, func(_ *rundir.Request, task *tasks.Task, _ *Settings) { task.Grader = g })
	l.ends()
	return l
}

func TestEnter(t *testing.T) {
	for _, status := range []tasks.Status{tasks.GraderUnavailable, tasks.GraderFailed, tasks.DataMissing} {
		l := over(t, ungraded{status})
		before, err := Summary(l.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := Enter(t.Context(), l.Dir, Judgement{Score: 0.75, By: " ada ", Note: "twice"}, l.parts, l.set); err != nil {
			t.Fatal(err)
		}
		s, err := Summary(l.Dir)
		if err != nil {
			t.Fatal(err)
		}
		v := s.Verdict
		if v.Status != tasks.Graded || *v.Score != 0.75 || !*v.Success || v.Flags[0] != "leaky" || v.SubmissionSHA256 == "" || v.WorkingSeconds != before.Verdict.WorkingSeconds {
			t.Errorf("verdict %+v", v)
		}
		if e := v.Entered; e == nil || e.By != "ada" || e.Note != "twice" || e.Instead != status || e.Why != "no module" || e.At.IsZero() {
			t.Errorf("entered %+v", e)
		}
		if s.Seq != before.Seq+2 || s.Ended.Status != "graded" || s.Phase != event.Done {
			t.Errorf("seq %d after %d, ended %+v, %s", s.Seq, before.Seq, s.Ended, s.Phase)
		}
		var saved tasks.Verdict
		if data, err := os.ReadFile(l.Verdict()); err != nil || json.Unmarshal(data, &saved) != nil || !reflect.DeepEqual(&saved, v) {
			t.Errorf("verdict.json %s, %v", data, err)
		}
		err = Enter(t.Context(), l.Dir, Judgement{Score: 0.8, By: "bob"}, l.parts, l.set)
		if err == nil || !strings.Contains(err.Error(), "ada has entered 0.75 already") {
			t.Errorf("a second time: %v", err)
		}
	}
}

// Without the task, what the score is worth is read from the record.
func TestEnterWithoutTheTask(t *testing.T) {
	bronze, baseline := 0.6, 0.5
	l := begin(t, handedIn, func(_ *rundir.Request, task *tasks.Task, _ *Settings) {
		task.Grader = ungraded{tasks.GraderUnavailable}
		task.Standing = tasks.Standing{Baseline: &baseline, Thresholds: tasks.Thresholds{Bronze: &bronze}}
	})
	l.ends()
	l.parts.OpenTask = func(context.Context, string) (*tasks.Task, error) { return nil, os.ErrNotExist }
	if err := Enter(t.Context(), l.Dir, Judgement{Score: 0.6, By: "ada"}, l.parts, l.set); err != nil {
		t.Fatal(err)
	}
	s, err := Summary(l.Dir)
	if err != nil || s.Verdict.Medal != "bronze" || math.Abs(*s.Verdict.Improvement-0.2) > 1e-12 {
		t.Errorf("%+v, %v", s.Verdict, err)
	}
}

func TestEnterRefuses(t *testing.T) {
	graded := over(t, numberGrader{})
	unavailable := over(t, ungraded{tasks.GraderUnavailable})
	nothing := begin(t, func(context.Context, *agents.Session) error { return nil })
	nothing.ends()
	held, release := make(chan struct{}), make(chan struct{})
	alive := begin(t, func(context.Context, *agents.Session) error {
		close(held)
		<-release
		return nil
	})
	<-held
	defer close(release)
	for name, tc := range map[string]struct {
		l    *live
		j    Judgement
		want string
	}{
		"graded":        {graded, Judgement{Score: 1, By: "ada"}, "its grader has judged it (graded)"},
		"no submission": {nothing, Judgement{Score: 1, By: "ada"}, "its grader has judged it (no submission)"},
		"alive":         {alive, Judgement{Score: 1, By: "ada"}, "it is alive"},
		"nobody":        {unavailable, Judgement{Score: 1, By: " "}, "--by NAME"},
		"not a number":  {unavailable, Judgement{Score: math.NaN(), By: "ada"}, "finite"},
		"infinite":      {unavailable, Judgement{Score: math.Inf(-1), By: "ada"}, "finite"},
	} {
		err := Enter(t.Context(), tc.l.Dir, tc.j, tc.l.parts, tc.l.set)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// A grader that comes to be there judges what the run handed in then.
func TestGradeAnew(t *testing.T) {
	l := over(t, ungraded{tasks.GraderUnavailable})
	before, err := Summary(l.Dir)
	if err != nil {
		t.Fatal(err)
	}
	open := l.parts.OpenTask
	l.parts.OpenTask = func(ctx context.Context, ref string) (*tasks.Task, error) {
		task, err := open(ctx, ref)
		if err != nil {
			return nil, err
		}
		now := *task
		now.Grader = numberGrader{}
		return &now, nil
	}
	if err := Grade(t.Context(), l.Dir, l.parts, l.set); err != nil {
		t.Fatal(err)
	}
	s, err := Summary(l.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if v := s.Verdict; v.Status != tasks.Graded || *v.Score != 0.7 || v.WallSeconds != before.Verdict.WallSeconds || s.Phase != event.Done {
		t.Errorf("%s, verdict %+v", s.Phase, v)
	}
	if err := Grade(t.Context(), l.Dir, l.parts, l.set); err != ErrGraded {
		t.Errorf("a third time: %v", err)
	}
}
