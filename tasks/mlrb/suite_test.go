package mlrb

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"proctor/tasks"
	"proctor/tasks/benchtest"
)

// A prompts.py in the suite's shape.
const promptsPy = `from string import Template
import os; os.abort()  # nothing of this is run

task_templates = [
    {
        "name": "baby_lm",
        "full_name": "BabyLM Challenge",
        "task": """train a language model. It must be trained from scratch.
        """,
        "dataset": "babylm",
        "compute": "One A100 40GB GPU, 128GB of RAM",
        "time_limit": "24 hours",
        "result": "a model",
        "rules": """
        - You may not train on BLiMP.
            - Not at all.
        """,
        "evaluation": """
        You may run:
        python -m lm_eval --model hf \
        --model_args pretrained=<path_to_your_model> \
        --tasks blimp \
        --device cuda:0
        """,
        "additional_info": """None""",
    },
    # the small ones
    {
        "name": "mini_budget_inference",
        "task": "Speed up a ${model_description} of ${tokens_per_second} tokens, $$5 and ${unknown}.",
        "time_limit": "8 hours",
        "additional_info": "See {your working directory number}/example.py",
        "evaluation": "agent-eval --model_args <path> --task mini_budget_inference",
        "rules": None,
    },
    {
        "name": "mini_pile",
        "task": "pre-train.",
        "time_limit": "30 minutes",
    },
    {"name": "baby_lm", "task": "the same again"},
    {"name": "../escape", "task": "x"},
    {"name": "empty", "task": ""},
    {"task": "without a name"},
]

def retreive_tasks(model_size):
    model_metrics = [
        {'model': 'x-small', 'model_description': '30 million parameter model', 'tokens_per_second': 242.70},
        {'model': 'small', 'model_description': 'another'},
    ]
`

const layout = "Your task is to: {{ task }}\n\nData: {{dataset}}\nRules: {{ rules }}\nEvaluation: {{ evaluation }}\n{{additional_info}}"

func layCheckout(t testing.TB) string {
	return benchtest.Lay(t, map[string]string{
		"mlrb_agent_tasks/prompts.py":                                                   promptsPy,
		"mlrb_agent_tasks/prompt_template.j2":                                           layout,
		"mlrb_agent_tasks/full_benchmark/baby_lm/README.md":                             "Participate.",
		"mlrb_agent_tasks/full_benchmark/mini_pile/README.md":                           "Pile.",
		"mlrb_agent_tasks/mini_benchmark/mini_budget_model_inference/example.py":        "print(1)\n",
		"mlrb_agent_tasks/mini_benchmark/mini_edge_llm_training/README.md":              "No prompt.",
		"mlrb_agent_tasks/mini_benchmark/mini_budget_model_inference/__pycache__/x.pyc": "",
	})
}

func openTask(t testing.TB, dir, name string) *tasks.Task {
	t.Helper()
	return openTaskWith(t, dir, name, Options{})
}

func openTaskWith(t testing.TB, dir, name string, o Options) *tasks.Task {
	t.Helper()
	s, err := OpenWith(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	task, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func TestList(t *testing.T) {
	dir := layCheckout(t)
	if !Detect(dir) || !Detect(dir+"/mlrb_agent_tasks") || Detect(t.TempDir()) {
		t.Error("detected wrongly")
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, problems := s.List(t.Context())
	var names []string
	for _, task := range list {
		names = append(names, task.Name)
	}
	if want := []string{"baby_lm", "mini_budget_inference", "mini_pile"}; !slices.Equal(names, want) {
		t.Errorf("tasks %q, want %q", names, want)
	}
	want := []string{"has this name", "cannot be a task's name", "what is to be done", "without a name", "mini_edge_llm_training"}
	if len(problems) != len(want) {
		t.Errorf("problems %v", problems)
	}
	for i, says := range want[:min(len(want), len(problems))] {
		if !strings.Contains(problems[i].Err.Error(), says) {
			t.Errorf("problem %d: %v, want %q", i, problems[i].Err, says)
		}
	}
	if _, err := s.Open(t.Context(), "baby_ml"); err == nil || !strings.Contains(err.Error(), "baby_lm") {
		t.Errorf("a misspelt name: %v", err)
	}
	if _, err := s.Open(t.Context(), "mini_edge_llm_training"); err == nil || !strings.Contains(err.Error(), "no readable prompt") {
		t.Errorf("a folder without a prompt: %v", err)
	}
}

func TestTask(t *testing.T) {
	dir := layCheckout(t)
	task := openTask(t, dir, "baby_lm")
	for _, says := range []string{
		"Your task is to: train a language model. It must be trained from scratch.\n\nData: babylm\nRules: - You may not train on BLiMP.\n    - Not at all.\nEvaluation: You may run:",
		"--tasks blimp", "limit of 24h is enforced", "`submission/`",
	} {
		if !strings.Contains(task.Instruction, says) {
			t.Errorf("the instruction lacks %q:\n%s", says, task.Instruction)
		}
	}
	if task.Budget.Time != 24*time.Hour || task.Needs.GPUs != 1 || task.Needs.GPUMemory != 40<<30 || !task.Needs.Network ||
		task.Metric.Name != "BLiMP accuracy" || !slices.Contains(task.Keywords, "full") {
		t.Errorf("task %+v", task)
	}
	if task.Summary != "Train a language model." || task.Title != "BabyLM Challenge" {
		t.Errorf("summary %q, title %q", task.Summary, task.Title)
	}
	mini := openTask(t, dir, "mini_budget_inference")
	if !strings.Contains(mini.Instruction, "a 30 million parameter model of 242.7 tokens, $5 and ${unknown}.") ||
		!strings.Contains(mini.Instruction, "See /workspace/example.py") || !strings.Contains(mini.Instruction, "Rules: None") {
		t.Errorf("the instruction is\n%s", mini.Instruction)
	}
	if len(mini.Seeds) != 1 || mini.Budget.Time != 8*time.Hour || !slices.Contains(mini.Keywords, "mini") {
		t.Errorf("task %+v", mini)
	}
	if pile := openTask(t, dir, "mini_pile"); !slices.Contains(pile.Keywords, "full") || pile.Budget.Time != 30*time.Minute ||
		len(pile.Standing.Published) != 2 {
		t.Errorf("task %+v", pile)
	}
}

func TestOtherVersions(t *testing.T) {
	dir := layCheckout(t)
	at := "mlrb_agent_tasks/"
	benchtest.Add(t, dir, map[string]string{
		at + "prompt_template.j2": "{% if rules %}{{ rules }}{% endif %}",
		at + "prompts.py": `task_templates: list = [
    {"name": "baby_lm", "task": "train.", "new_field": [1, 2]},
    {"name": "late", "task": f"train {x}, [(\"and",  # don't, [
     "more": {1: (2, "]")}},
    {"name": "later", "task": "x"}, lookup["a, b"]("c", d), *rest,
    {"name": "last", "task": "y"},
]`,
	})
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, problems := s.List(t.Context())
	if len(list) != 3 || !strings.Contains(list[0].Instruction, "Your task is to: train.") || len(list[0].Warnings) != 1 || list[2].Name != "last" {
		t.Fatalf("tasks %+v", list)
	}
	if text := problems[0].Err.Error(); problems[0].Ref != "mlrb/late" || !strings.Contains(text, "line 3") || !strings.Contains(text, "prompts.py") {
		t.Errorf("problem %s %q", problems[0].Ref, text)
	}
	if problems[1].Ref != "mlrb/prompts.py" || problems[2].Ref != "mlrb/prompts.py" {
		t.Errorf("entries that are no dictionaries: %v", problems)
	}
	benchtest.Add(t, dir, map[string]string{at + "prompts.py": "TASKS = []\n"})
	if list, problems := s.List(t.Context()); len(list) != 0 || !strings.Contains(problems[0].Err.Error(), "task_templates") {
		t.Errorf("tasks %v, problems %v", list, problems)
	}
}

func TestRealList(t *testing.T) {
	dir := os.Getenv("PROCTOR_MLRB")
	if dir == "" {
		t.Skip("PROCTOR_MLRB is not set to a checkout of ML-Research-Agent-Tasks")
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, problems := s.List(t.Context())
	known := table()
	for _, task := range list {
		if _, ok := known[task.Name]; !ok {
			t.Errorf("%s is not in the table", task.Name)
		}
		if strings.Contains(task.Instruction, "${") || strings.Contains(task.Instruction, "{{") {
			t.Errorf("%s: placeholders are left in\n%s", task.Name, task.Instruction)
		}
	}
	for _, p := range problems {
		t.Log(p.Err)
	}
	if len(list) != 18 {
		t.Errorf("%d tasks, want 18", len(list))
	}
}
