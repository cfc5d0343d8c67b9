package export

import "strconv"

// The types below are Harbor's files, field by field. A field that Harbor
// fills in by itself when it is absent is left out.

type jobConfig struct {
	Name              string        `json:"job_name"`
	JobsDir           string        `json:"jobs_dir"`
	Attempts          int           `json:"n_attempts"`
	TimeoutMultiplier float64       `json:"timeout_multiplier"`
	Concurrent        int           `json:"n_concurrent_trials"`
	Agents            []harborAgent `json:"agents"`
	Tasks             []harborTask  `json:"tasks"`
}

type harborAgent struct {
	Name      string         `json:"name"`
	ModelName *string        `json:"model_name"`
	Override  *float64       `json:"override_timeout_sec"`
	Kwargs    map[string]any `json:"kwargs,omitempty"`
}

type harborTask struct {
	Path   string  `json:"path"`
	Source *string `json:"source"`
}

type harborTaskID struct {
	Path string `json:"path"`
}

type trialConfig struct {
	Task              harborTask     `json:"task"`
	TrialName         string         `json:"trial_name"`
	TrialsDir         string         `json:"trials_dir"`
	TimeoutMultiplier float64        `json:"timeout_multiplier"`
	Agent             harborAgent    `json:"agent"`
	Environment       map[string]any `json:"environment"`
	JobID             string         `json:"job_id"`
}

type trialResult struct {
	ID               string          `json:"id"`
	TaskName         string          `json:"task_name"`
	TrialName        string          `json:"trial_name"`
	TrialURI         string          `json:"trial_uri"`
	TaskID           harborTaskID    `json:"task_id"`
	Source           *string         `json:"source"`
	TaskChecksum     string          `json:"task_checksum"` // not known to a record
	Config           trialConfig     `json:"config"`
	AgentInfo        agentInfo       `json:"agent_info"`
	AgentResult      *agentResult    `json:"agent_result"`
	VerifierResult   *verifierResult `json:"verifier_result"`
	ExceptionInfo    *exceptionInfo  `json:"exception_info"`
	Started          *string         `json:"started_at"`
	Finished         *string         `json:"finished_at"`
	EnvironmentSetup *timing         `json:"environment_setup"`
	AgentSetup       *timing         `json:"agent_setup"`
	AgentExecution   *timing         `json:"agent_execution"`
	Verifier         *timing         `json:"verifier"`
}

type agentInfo struct {
	Name      string     `json:"name"`
	Version   string     `json:"version"`
	ModelInfo *modelInfo `json:"model_info"`
}

type modelInfo struct {
	Name     string  `json:"name"`
	Provider *string `json:"provider"`
}

type agentResult struct {
	Input    *int64         `json:"n_input_tokens"` // cached ones included
	Cache    *int64         `json:"n_cache_tokens"`
	Output   *int64         `json:"n_output_tokens"`
	Cost     *float64       `json:"cost_usd"`
	Metadata map[string]any `json:"metadata"`
}

type verifierResult struct {
	Rewards map[string]float64 `json:"rewards"`
}

type exceptionInfo struct {
	Type      string  `json:"exception_type"`
	Message   string  `json:"exception_message"`
	Traceback string  `json:"exception_traceback"`
	At        *string `json:"occurred_at"`
}

type timing struct {
	Started  *string `json:"started_at"`
	Finished *string `json:"finished_at"`
}

type jobResult struct {
	ID       string   `json:"id"`
	Started  *string  `json:"started_at"`
	Updated  *string  `json:"updated_at"`
	Finished *string  `json:"finished_at"`
	Trials   int      `json:"n_total_trials"`
	Stats    jobStats `json:"stats"`
}

type jobStats struct {
	Completed int                   `json:"n_completed_trials"`
	Errored   int                   `json:"n_errored_trials"`
	Running   int                   `json:"n_running_trials"`
	Pending   int                   `json:"n_pending_trials"`
	Cancelled int                   `json:"n_cancelled_trials"`
	Retries   int                   `json:"n_retries"`
	Evals     map[string]*evalStats `json:"evals"`
	Input     *int64                `json:"n_input_tokens"`
	Cache     *int64                `json:"n_cache_tokens"`
	Output    *int64                `json:"n_output_tokens"`
	Cost      *float64              `json:"cost_usd"`
}

type evalStats struct {
	Trials     int                            `json:"n_trials"`
	Errors     int                            `json:"n_errors"`
	Metrics    []map[string]float64           `json:"metrics"`
	PassAtK    map[int]float64                `json:"pass_at_k"`
	Rewards    map[string]map[string][]string `json:"reward_stats"`    // reward, value, trials
	Exceptions map[string][]string            `json:"exception_stats"` // type, trials
}

func newEvalStats() *evalStats {
	return &evalStats{
		Metrics: []map[string]float64{}, PassAtK: map[int]float64{},
		Rewards: map[string]map[string][]string{}, Exceptions: map[string][]string{},
	}
}

// add counts a trial in, as Harbor does.
func (s *jobStats) add(e *evalStats, t *trialResult) {
	s.Completed++
	if v := t.VerifierResult; v != nil {
		e.Trials++
		for name, x := range v.Rewards {
			if e.Rewards[name] == nil {
				e.Rewards[name] = map[string][]string{}
			}
			value := strconv.FormatFloat(x, 'g', -1, 64)
			e.Rewards[name][value] = append(e.Rewards[name][value], t.TrialName)
		}
	}
	if x := t.ExceptionInfo; x != nil {
		e.Exceptions[x.Type] = append(e.Exceptions[x.Type], t.TrialName)
		e.Errors++
		s.Errored++
		if x.Type == "CancelledError" {
			s.Cancelled++
		}
	}
	plus(&s.Input, t.AgentResult.Input)
	plus(&s.Cache, t.AgentResult.Cache)
	plus(&s.Output, t.AgentResult.Output)
	plus(&s.Cost, t.AgentResult.Cost)
}

// plus adds what is known to a sum that is nil while nothing is.
func plus[T int64 | float64](sum **T, x *T) {
	if x == nil {
		return
	}
	if *sum == nil {
		*sum = new(T)
	}
	**sum += *x
}
