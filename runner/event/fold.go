package event

import (
	"unicode/utf8"

	"proctor/runner/gpu"
	"proctor/tasks"
)

// folds says what each type of event does to a State.
var folds = map[Type]func(*State, Event) error{
	TypeRunStarted:     fold((*State).runStarted),
	TypeState:          fold((*State).stateChange),
	TypePlan:           fold(func(s *State, _ Event, p Plan) { s.Plan = p.Entries }),
	TypeThought:        fold(func(s *State, e Event, t Text) { s.feed(e, Note{Text: t.Text}) }),
	TypeMessage:        fold(func(s *State, e Event, t Text) { s.feed(e, Note{Text: t.Text}) }),
	TypeNote:           fold((*State).note),
	TypeActionStarted:  fold((*State).actionStarted),
	TypeActionFinished: fold((*State).actionFinished),
	TypeMetric:         fold((*State).metric),
	TypeUsage:          fold((*State).usage),
	TypeBudget:         fold((*State).budget),
	TypeHint:           fold((*State).hint),
	TypeHintDelivered:  fold((*State).hintDelivered),
	TypeAsk:            fold(func(s *State, e Event, a Ask) { s.Ask = &AskState{Ask: a, At: e.At} }),
	TypeAnswer:         fold((*State).answer),
	TypeTakeover:       fold((*State).takeover),
	TypeMode:           fold(func(s *State, _ Event, m Mode) { s.Mode = m.Mode }),
	TypeGPU:            fold((*State).gpu),
	TypeResources:      fold(func(s *State, _ Event, r Resources) { s.Resources = r }),
	TypeCheckpoint:     fold((*State).checkpoint),
	TypeSubmission:     fold(func(s *State, _ Event, sub Submission) { s.Submission = &sub }),
	TypeVerdict:        fold(func(s *State, _ Event, v tasks.Verdict) { s.Verdict = &v }),
	TypeRunEnded:       fold(func(s *State, _ Event, r RunEnded) { s.Ended = &r }),
}

func fold[T any](apply func(*State, Event, T)) func(*State, Event) error {
	return func(s *State, e Event) error {
		v, err := Decode[T](e)
		if err != nil {
			return err
		}
		apply(s, e, v)
		return nil
	}
}

func (s *State) runStarted(e Event, r RunStarted) {
	s.Run, s.Started, s.Limits, s.Mode = r, e.At, r.Budget, r.Mode
	s.Phase, s.Since = Preparing, e.At
}

func (s *State) stateChange(e Event, c StateChange) {
	if c.To == Paused {
		s.mark(e, "pause")
	}
	s.Phase, s.Since, s.Reason, s.Actor, s.Frozen = c.To, e.At, c.Reason, c.Actor, c.Frozen
	s.PausePending = false
	if c.To == Finishing || c.To.Over() {
		s.TakenOver = false // with the sandbox the terminal is gone
	}
	if c.To != Waiting {
		s.Ask = nil
	}
}

func (s *State) note(e Event, n Note) {
	if n.Kind == KindPauseRequested {
		s.PausePending = true
	}
	s.feed(e, n)
}

func (s *State) feed(e Event, n Note) {
	n.Text = clip(n.Text, MaxObservation)
	s.Feed = keep(append(s.Feed, FeedItem{Type: e.Type, At: e.At, Step: s.Steps, Note: n}), MaxNotes)
}

func (s *State) actionStarted(e Event, a ActionStarted) {
	s.Steps++
	if len(a.Input) > MaxObservation {
		a.Input = nil // the log has it; the title says what it is
	}
	s.Actions = keep(append(s.Actions, ActionState{ActionStarted: a, At: e.At, Work: e.Work}), MaxActions)
}

func (s *State) actionFinished(_ Event, f ActionFinished) {
	for i := len(s.Actions) - 1; i >= 0; i-- {
		if a := &s.Actions[i]; a.ID == f.ID {
			f.Text = clip(f.Text, MaxObservation)
			a.Finished, a.Error = &f.Observation, f.Error
			return
		}
	}
}

func (s *State) metric(e Event, m Point) {
	m.Work = e.Work
	s.Points = append(s.Points, m)
	if len(s.Points) > MaxPoints {
		s.Points = thin(s.Points, s.Run.Task.HigherIsBetter)
	}
	if m.Name != s.Run.Task.Metric {
		return
	}
	better := s.Best == nil || tasks.Metric{HigherIsBetter: s.Run.Task.HigherIsBetter}.Better(m.Value, *s.Best)
	if better && m.Source != "graded" {
		s.Best = &m.Value
	}
	for i := len(s.Actions) - 1; i >= 0; i-- {
		if s.Actions[i].Step == m.Step {
			s.Actions[i].Metric = &m.Value
			return
		}
	}
}

func (s *State) usage(_ Event, u Usage) {
	t := &s.Usage
	t.Calls++
	t.Input += u.Input
	t.Cached += u.Cached
	t.Output += u.Output
	t.Estimated = t.Estimated || u.Estimated
	if u.Cost == nil {
		t.UnknownCost = true
		return
	}
	t.Cost += *u.Cost
}

func (s *State) budget(e Event, b Budget) {
	if b.What == "extended" {
		s.Extensions++
		SetLimit(&s.Limits, b.Dimension, b.Limit)
		s.mark(e, "extended "+b.Dimension)
		return
	}
	s.Fired = keep(append(s.Fired, b), MaxNotes)
	s.mark(e, b.What+" limit: "+b.Dimension)
}

func (s *State) hint(e Event, h Hint) {
	s.Hints = append(s.Hints, HintState{Hint: h, At: e.At, Work: e.Work, Step: s.Steps})
	s.mark(e, h.Text)
}

func (s *State) hintDelivered(_ Event, d HintDelivered) {
	for i := range s.Hints {
		if s.Hints[i].ID == d.ID {
			s.Hints[i].How, s.Hints[i].Reply = d.How, d.Reply
		}
	}
}

func (s *State) answer(_ Event, a Answer) {
	if a.Choice == "edit" || a.Choice == "deny" {
		s.Edits++
	}
	if s.Ask != nil && s.Ask.ID == a.ID {
		s.Ask = nil
	}
}

func (s *State) takeover(e Event, t Takeover) {
	s.TakenOver = t.On
	if t.On && !t.Own {
		s.Takeovers++
		s.mark(e, "take over")
	}
}

func (s *State) checkpoint(_ Event, c Checkpoint) {
	if c.Standing {
		s.Checkpoint = &c
	}
}

func (s *State) gpu(e Event, g gpu.Event) {
	s.GPU.Apply(e.Work, g)
	if g.Action == nil {
		return
	}
	for i := len(s.Actions) - 1; i >= 0; i-- {
		if s.Actions[i].ID == g.Action.ID {
			s.Actions[i].GPU = g.Action
			return
		}
	}
}

func (s *State) mark(e Event, label string) {
	s.Marks = keep(append(s.Marks, Mark{Work: e.Work, Kind: e.Type, Label: clip(label, 200)}), MaxNotes)
}

// keep drops the oldest items of a list that has grown past max. It lets the
// list grow by a quarter more before it moves anything, so that a long run
// does not copy the whole list at each event.
func keep[T any](list []T, max int) []T {
	if len(list) <= max+max/4 {
		return list
	}
	return append(list[:0:0], list[len(list)-max:]...)
}

// thin halves a series, keeping of each pair the better one, so that the
// best score never disappears from a plot.
func thin(points []Point, higher bool) []Point {
	better := tasks.Metric{HigherIsBetter: higher}.Better
	kept := points[:0]
	for i := 0; i+1 < len(points); i += 2 {
		p := points[i]
		if better(points[i+1].Value, p.Value) {
			p = points[i+1]
		}
		kept = append(kept, p)
	}
	return kept
}

// clip keeps the head and the tail of a text within max bytes.
func clip(text string, max int) string {
	if len(text) <= max {
		return text
	}
	const gap = "\n…\n"
	head, tail := max/2, len(text)-(max/2-len(gap))
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + gap + text[tail:]
}
