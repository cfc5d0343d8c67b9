package export

import (
	"path/filepath"
	"slices"
	"time"

	"proctor/runner/attempts"
)

// A job gathers trials.
type job struct {
	config jobConfig
	result jobResult
	groups map[string]*evals // by agent, model and dataset
	ended  time.Time
}

// evals is what one agent did on one dataset.
type evals struct {
	passes map[string][]bool // by task
	binary bool              // every reward is one number, 0 or 1
	single bool              // every reward is one number
	sum    float64
	trials int
}

func newJob(dir string, runs []*Run) *job {
	j := &job{
		config: jobConfig{Name: filepath.Base(dir), JobsDir: filepath.Dir(dir), Attempts: 1, TimeoutMultiplier: 1, Concurrent: 1},
		result: jobResult{ID: uuid(filepath.Base(dir)), Trials: len(runs), Stats: jobStats{Evals: map[string]*evalStats{}}},
		groups: map[string]*evals{},
	}
	started := runs[0].times.started
	for _, r := range runs {
		if r.times.started.Before(started) {
			started = r.times.started
		}
		if a := r.request.Attempt; a != nil {
			j.config.Attempts = max(j.config.Attempts, a.Number)
		}
	}
	j.result.Started = moment(started)
	return j
}

// add counts a trial in.
func (j *job) add(r *Run, t *trialResult) {
	if !slices.ContainsFunc(j.config.Tasks, func(have harborTask) bool { return have.Path == t.Config.Task.Path }) {
		j.config.Tasks = append(j.config.Tasks, t.Config.Task)
	}
	agent := t.Config.Agent
	agent.Kwargs = nil // the seed is the trial's
	if !slices.ContainsFunc(j.config.Agents, func(have harborAgent) bool { return have.same(agent) }) {
		j.config.Agents = append(j.config.Agents, agent)
	}
	if r.times.ended.After(j.ended) {
		j.ended = r.times.ended
	}
	key := t.AgentInfo.Name
	if m := t.AgentInfo.ModelInfo; m != nil {
		key += "__" + m.Name
	}
	if t.Source == nil {
		key += "__adhoc"
	} else {
		key += "__" + *t.Source
	}
	if j.groups[key] == nil {
		j.groups[key] = &evals{passes: map[string][]bool{}, binary: true, single: true}
		j.result.Stats.Evals[key] = newEvalStats()
	}
	j.result.Stats.add(j.result.Stats.Evals[key], t)
	j.groups[key].add(t)
}

func (e *evals) add(t *trialResult) {
	e.trials++
	if t.VerifierResult == nil {
		e.passes[t.TaskName] = append(e.passes[t.TaskName], false)
		return
	}
	if len(t.VerifierResult.Rewards) != 1 {
		e.single, e.binary = false, false
	}
	for _, x := range t.VerifierResult.Rewards {
		e.sum += x
		e.binary = e.binary && (x == 0 || x == 1)
		e.passes[t.TaskName] = append(e.passes[t.TaskName], x == 1)
	}
}

// finish computes what Harbor computes at a job's end: the mean of the
// rewards, and pass@k where they are 0 or 1.
func (j *job) finish() {
	j.result.Finished, j.result.Updated = moment(j.ended), moment(j.ended)
	for key, e := range j.groups {
		stats := j.result.Stats.Evals[key]
		if e.single {
			stats.Metrics = append(stats.Metrics, map[string]float64{"mean": e.sum / float64(e.trials)})
		}
		if e.binary {
			stats.PassAtK = e.passAt()
		}
	}
}

// passAt is the mean of the tasks' pass@k, for the k that Harbor reports:
// powers of two and multiples of five, up to the trials of the task with the
// fewest.
func (e *evals) passAt() map[int]float64 {
	fewest := e.trials
	for _, passes := range e.passes {
		fewest = min(fewest, len(passes))
	}
	rates := map[int]float64{}
	for k := 2; k <= fewest; k++ {
		if k%5 != 0 && k&(k-1) != 0 {
			continue
		}
		for _, passes := range e.passes {
			c := 0
			for _, passed := range passes {
				if passed {
					c++
				}
			}
			rates[k] += attempts.PassAt(len(passes), c, k).Value / float64(len(e.passes))
		}
	}
	return rates
}

func (a harborAgent) same(b harborAgent) bool {
	equal := func(x, y *string) bool { return x == y || x != nil && y != nil && *x == *y }
	return a.Name == b.Name && equal(a.ModelName, b.ModelName)
}
