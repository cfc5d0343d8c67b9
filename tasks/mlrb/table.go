package mlrb

import "proctor/tasks"

// A known is what prompts.py does not say about a task. Metrics are those of
// the paper (arXiv 2410.22553, table 1); published results are the means that
// it reports.
type known struct {
	metric    string
	lower     bool   // lower is better
	folder    string // where it is not called like the task
	published []tasks.Reference
	warnings  []string
}

func table() map[string]known {
	return map[string]known{
		"llm_efficiency": {metric: "MMLU accuracy"},
		"baby_lm":        {metric: "BLiMP accuracy"},
		"mini_pile": {metric: "SuperGLUE", published: []tasks.Reference{
			{Name: "Claude 3.5 Sonnet", Score: 0.541, How: "mean of the 4 valid runs of 5"},
			{Name: "GPT-4o", Score: 0.457, How: "the only valid run of 5"},
		}},
		"llm_merging": {metric: "MMLU accuracy", warnings: []string{
			"the prompt contradicts itself: its result is judged on CosmosQA and XSum, its evaluation is MMLU; its README is that of another task"}},
		"edge_llm_compression": {metric: "MMLU accuracy", published: []tasks.Reference{
			{Name: "best run of any agent", Score: 0.551, How: "of 5 runs each by two agents"},
		}},
		"edge_llm_training":      {metric: "SuperGLUE"},
		"math_reasoning":         {metric: "self-evaluated", warnings: []string{"the suite has no evaluation: the agent judges itself on a part of the data"}},
		"budget_model_training":  {metric: "TWE"},
		"budget_model_inference": {metric: "TWE"},

		"mini_llm_efficiency":       {metric: "score"},
		"mini_baby_lm":              {metric: "score"},
		"mini_mini_pile":            {metric: "score"},
		"mini_llm_merging":          {metric: "score"},
		"mini_edge_llm_compression": {metric: "score"},
		"mini_math_reasoning":       {metric: "score"},
		"mini_budget_inference": {metric: "tokens per second", folder: "mini_budget_model_inference",
			warnings: []string{"its folder is called mini_budget_model_inference, under which the suite's own get_task does not find it"}},
		"mini_smoke_test": {metric: "validation loss", lower: true,
			warnings: []string{"the checkout has no files for it, and its prompt names a path on its author's machine"}},
		"check_gpu": {metric: "GPU is confirmed"},
	}
}
