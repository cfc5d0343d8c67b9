package mlagentbench

import "regexp"

// success is the improvement over the baseline, as a fraction of it, above
// which a run counts as successful (paper, §4; plot.py, improve_10).
const success = 0.10

// A known is what the suite's folders do not say about a task. Directions and
// baselines are those of MLAgentBench/plot.py (lower_the_better_tasks,
// get_baseline), outputs and shapes those that scripts/eval.py reads, all at
// commit 5d71205.
type known struct {
	title    string
	metric   string
	unit     string
	lower    bool // lower is better
	baseline float64
	// skeleton: the starter is to be filled in and does not run as it is.
	skeleton bool
	starter  string // file in env/; "" for train.py
	pattern  string // finds the metric in the starter's output, on the grader's scale
	outputs  []string
	table    *shape // what a submission.csv must look like
	modules  []string
	network  bool    // fetches data or weights during the run
	gpu      bool    // does not run without one
	terms    string  // to be accepted by a person, see tasks.Needs
	opus     float64 // % of Claude 3 Opus's 8 runs that succeeded; negative when not published
	warnings []string
	flags    []string // known faults, beside every verdict
}

// A shape is what eval.py takes for granted about a submission.csv.
type shape struct {
	id      string   // column whose values may not repeat; "" for none
	columns []string // that must be there
	width   int      // number of columns, 0 for any
	rows    int      // 0 for any, or as many as answers has
	numbers []string // columns of finite numbers; "*" for all but the id
	booleans,
	filled []string // columns of truth values, and of no empty cells
	answers string // file in scripts/ with the same ids; "" for none
	ordered bool   // rows are compared by their position

}

const notMeasured = "the suite measures this task's baseline by running the starter; without one there is no improvement and no success. A run of the baseline agent gives a number to compare with"

func table() map[string]known {
	return map[string]known{
		"cifar10": {
			title: "CIFAR-10", metric: "accuracy", opus: 62.5,
			table:   &shape{id: "#1", width: 11, rows: 10000, numbers: []string{"*"}},
			modules: []string{"torch", "torchvision", "pandas"},
			flags:   []string{notMeasured},
		},
		"imdb": {
			title: "IMDb reviews", metric: "accuracy", baseline: 0.5, skeleton: true, network: true, opus: 25,
			pattern:  `Accuracy: +([0-9.]+)`,
			table:    &shape{id: "idx", columns: []string{"idx"}, width: 3, rows: 25000, numbers: []string{"*"}},
			modules:  []string{"torch", "transformers", "datasets", "pandas"},
			warnings: []string{"eval.py loads the IMDb data with the datasets library; graders have no network, so it grades only where the library finds them without"},
		},
		"ogbn-arxiv": {
			title: "ogbn-arxiv", metric: "accuracy", baseline: 0.3134, opus: 87.5,
			pattern: `Val: ([0-9.]+)`,
			table:   &shape{width: 1, numbers: []string{"*"}},
			modules: []string{"torch", "torch_geometric", "ogb", "pandas"},
		},
		"house-price": {
			title: "House prices", metric: "MAE", lower: true, baseline: 1e10, skeleton: true, opus: 100,
			table: &shape{id: "Id", columns: []string{"SalePrice"}, numbers: []string{"SalePrice"},
				answers: "answer.csv", ordered: true},
			modules: []string{"pandas", "sklearn"},
			flags:   []string{"the suite's baseline is a placeholder, 1e10: any submission improves it by nearly 100 %"},
		},
		"spaceship-titanic": {
			title: "Spaceship Titanic", metric: "accuracy", baseline: 0.5, skeleton: true, opus: 100,
			pattern: `Validation Accuracy: ([0-9.]+)`,
			table: &shape{id: "PassengerId", columns: []string{"Transported"}, booleans: []string{"Transported"},
				answers: "answer.csv", ordered: true},
			modules:  []string{"pandas", "sklearn", "seaborn", "datasets"},
			warnings: []string{"eval.py imports the datasets library, which it does not use: it must be installed all the same"},
		},
		"amp-parkinsons-disease-progression-prediction": {
			title: "Parkinson's progression", metric: "SMAPE", unit: "%", lower: true, opus: 0,
			pattern: `Overall cv score of the group model: ([0-9.]+)`,
			table: &shape{id: "prediction_id", columns: []string{"rating"}, numbers: []string{"rating"},
				answers: "answer.csv", ordered: true},
			modules: []string{"pandas", "sklearn"},
			flags:   []string{notMeasured},
		},
		"fathomnet": {
			title: "FathomNet", metric: "MAP@20 with out-of-sample AUC", baseline: 1e-10, skeleton: true, opus: 0,
			table: &shape{id: "id", columns: []string{"id", "categories", "osd"}, numbers: []string{"osd"},
				filled: []string{"categories"}, answers: "answer.csv"},
			modules: []string{"pandas", "sklearn", "tensorflow"},
			flags: []string{
				"eval.py draws the out-of-sample labels at random, so half of the score is noise; here the draw is always the same",
				"the suite's baseline is a placeholder, 1e-10: any score above zero is a success",
			},
		},
		"feedback": {
			title: "English language learning", metric: "MCRMSE", lower: true, skeleton: true, opus: 87.5,
			pattern: `final MCRMSE on validation set: +([0-9.]+)`,
			table: &shape{id: "text_id",
				columns: []string{"cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions"},
				numbers: []string{"cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions"},
				answers: "answer.csv", ordered: true},
			modules: []string{"pandas", "sklearn", "torch", "transformers"},
			flags:   []string{notMeasured},
		},
		"identify-contrails": {
			title: "Contrails", metric: "Dice", opus: -1,
			pattern: `Validation Dice Score: ([0-9.]+)`,
			table: &shape{id: "record_id", columns: []string{"record_id", "encoded_pixels"},
				filled: []string{"encoded_pixels"}},
			modules: []string{"torch", "pandas", "tqdm"},
			flags:   []string{notMeasured, "in the paper the unchanged starter succeeds in 40 % of its runs, by noise"},
		},
		"CLRS": {
			title: "CLRS floyd_warshall", metric: "score", network: true, opus: 25,
			outputs: []string{"checkpoints"},
			modules: []string{"tensorflow", "jax", "haiku", "clrs", "absl"},
			flags: []string{notMeasured,
				"eval.py unpickles the submission's checkpoints: files made to deceive could forge the score",
				"in the paper the unchanged starter succeeds in 43 % of its runs, by noise"},
		},
		"babylm": {
			title: "BabyLM", metric: "perplexity", lower: true, opus: 0,
			outputs: []string{"output"},
			modules: []string{"torch", "transformers", "datasets", "evaluate"},
			flags: []string{notMeasured,
				"eval.py loads the submission's model files: files made to deceive could forge the score"},
		},
		"llama-inference": {
			title: "Llama inference", metric: "seconds per token", unit: "s", lower: true, opus: -1,
			starter: "inference.py", network: true, gpu: true, outputs: []string{"inference.py"},
			modules:  []string{"torch", "transformers", "accelerate"},
			terms:    "the licence of the Llama weights, where they are fetched",
			warnings: []string{"it was made for an A100"},
		},
		"vectorization": {
			title: "Vectorization", metric: "seconds", unit: "s", lower: true, opus: 0,
			pattern: `Time taken for execution: ([0-9.e-]+) s`,
			outputs: []string{"train.py"}, modules: []string{"numpy"},
		},
		"bibtex-generation":      {title: "BibTeX generation", metric: "judgement", skeleton: true, network: true, opus: -1, outputs: []string{"bibtex_generation.py"}},
		"literature-review-tool": {title: "Literature review tool", metric: "judgement", skeleton: true, network: true, opus: -1, outputs: []string{"literature_review.py"}},
	}
}

// paperVectorization is the starter's time on the authors' machine (plot.py).
const paperVectorization = 6.1742

func (k known) regexp() *regexp.Regexp {
	if k.pattern == "" {
		return nil
	}
	return regexp.MustCompile(k.pattern)
}
