package mlrcbench

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"time"

	"proctor/tasks"
)

//go:embed python/*.py python/MLAgentBench/*.py python/MLAgentBench/bases.json
var python embed.FS

// success is the share of the gap between baseline and top human above which
// a run counts as successful, as the paper has it.
const success = 0.05

// A known is what the suite's folders do not say about a task. Top humans and
// the best published margins are those of the paper (arXiv 2504.09702) and of
// its leaderboard; baselines, in bases.json, those of
// MLAgentBench/constants.py at commit e2a714e. A higher score is always better.
type known struct {
	title   string
	metric  string
	human   float64 // on the test set; 0 for none
	best    float64 // % of the gap that the best agent closed; 0 when not published
	bestBy  string
	kaggle  bool // the test set is scored by Kaggle
	offline bool // needs no data and no network
	gpuGiB  int64
	modules []string
	budget  tasks.Budget // where it is not the usual one
	notes   []string
}

var usual = tasks.Budget{Time: 5 * time.Hour, Steps: 50, Cost: 10}

func table() map[string]known {
	return map[string]known{
		template: {title: "Template", metric: "performance", offline: true,
			notes: []string{"the suite's template for new tasks: it always scores 0.5 and shows that everything works"}},
		"llm-merging": {title: "LLM merging", metric: "accuracy", human: 0.83, best: 3.4, kaggle: true, gpuGiB: 48,
			modules: []string{"torch", "transformers", "datasets", "peft"}},
		"backdoor-trigger-recovery": {title: "Backdoor trigger recovery", metric: "recall and REASR", human: 67.5732,
			best: 39.9, bestBy: "Claude 3.5 Sonnet v2 with MLAB", gpuGiB: 48,
			modules: []string{"torch", "transformers", "datasets", "nltk"}},
		"perception_temporal_action_loc": {title: "Temporal action localisation", metric: "mAP", human: 0.4859, best: 2.2, gpuGiB: 16,
			modules: []string{"torch", "numpy", "pandas"}},
		"machine_unlearning": {title: "Machine unlearning", metric: "forgetting × utility", human: 0.0984971, kaggle: true, gpuGiB: 16,
			modules: []string{"torch", "torchvision"}},
		"meta-learning": {title: "Cross-domain meta-learning", metric: "balanced accuracy", human: 0.699, best: 5.4, gpuGiB: 16,
			modules: []string{"torch", "numpy", "pandas"}},
		"product-recommendation": {title: "Product recommendation", metric: "MRR", human: 0.41208,
			modules: []string{"numpy", "pandas"}},
		"weather_forcast": {title: "Weather forecast", metric: "mean CSI", human: 0.1014596, gpuGiB: 16,
			modules: []string{"torch", "pytorch_lightning", "h5py"},
			budget:  tasks.Budget{Time: 10 * time.Hour, Steps: 100, Cost: 20},
			notes:   []string{"its baseline is not published, so no margin can be computed"}},
		"erasing_invisible_watermarks": {title: "Erasing invisible watermarks", metric: "-sqrt(Q²+A²)", human: -0.043634, gpuGiB: 16,
			modules: []string{"torch", "diffusers"},
			notes:   []string{"not among the paper's seven tasks"}},
	}
}

// template is the task that runs with nothing but Python.
const template = "base-competition"

// A base is the suite's baseline method, by phase.
type base struct {
	Performance map[string]float64 `json:"performance"`
	Seconds     map[string]float64 `json:"seconds"`
}

func bases() (map[string]base, error) {
	data, err := fs.ReadFile(python, "python/MLAgentBench/bases.json")
	if err != nil {
		return nil, err
	}
	var b map[string]base
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("reading the embedded baselines: %w", err)
	}
	return b, nil
}

// standing is what a test score is compared with.
func (k known) standing(b base) tasks.Standing {
	var s tasks.Standing
	if test, ok := b.Performance["test"]; ok {
		s.Baseline = &test
	}
	if k.human != 0 {
		human := k.human
		s.TopHuman = &human
	}
	if k.best != 0 {
		s.Published = append(s.Published, tasks.Reference{Name: cmp.Or(k.bestBy, "best agent"), Score: k.best,
			How:   "best of 8 runs",
			Scale: "margin closed, in % of the gap between baseline and top human"})
	}
	return s
}
