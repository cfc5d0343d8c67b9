package mlagentbench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"proctor/tasks"
	"proctor/tasks/benchtest"
)

// A convolution in the shape of the suite's starter, with some of its loops.
const starter = `import numpy as np, csv, time

class Conv2DLayer:
    def __init__(self, input_channels, num_filters, kernel_size, stride, padding, activation='relu'):
        self.kernel_matrices = np.random.randn(kernel_size, kernel_size, input_channels, num_filters)
        self.biases = np.random.randn(1, 1, 1, num_filters)
        self.stride, self.padding, self.activation = stride, padding, activation

    def forward(self, batch):
        p, s, k = self.padding, self.stride, self.kernel_matrices.shape[0]
        x = np.pad(batch, ((0, 0), (p, p), (p, p), (0, 0)))
        h = (x.shape[1] - k) // s + 1
        w = (x.shape[2] - k) // s + 1
        out = np.zeros((x.shape[0], h, w, self.kernel_matrices.shape[3]))
        kernels = self.kernel_matrices.reshape(-1, out.shape[3])
        for n in range(x.shape[0]):
            for i in range(h):
                for j in range(w):
                    out[n, i, j] = x[n, i*s:i*s+k, j*s:j*s+k, :].reshape(-1) @ kernels
        return np.maximum(out + self.biases, 0)

if __name__ == "__main__":
    start = time.time()
    Conv2DLayer(3, 8, 3, 2, 2).forward(np.random.randn(32, 64, 64, 3))
    with open("submission.csv", "a+") as f:
        csv.writer(f, delimiter=";").writerow([time.time() - start])
`

// loops is where a submission differs from the starter.
const loops = `        for n in range(x.shape[0]):
            for i in range(h):
                for j in range(w):
                    out[n, i, j] = x[n, i*s:i*s+k, j*s:j*s+k, :].reshape(-1) @ kernels
`

const vectorized = `        for i in range(k):
            for j in range(k):
                out += x[:, i:i+h*s:s, j:j+w*s:s, :] @ self.kernel_matrices[i, j]
`

func layVectorization(t testing.TB) *tasks.Task {
	dir := benchtest.Lay(t, map[string]string{
		"MLAgentBench/benchmarks/vectorization/scripts/research_problem.txt": "Make it fast.",
		"MLAgentBench/benchmarks/vectorization/scripts/eval.py":              "raise SystemExit('never run')",
		"MLAgentBench/benchmarks/vectorization/env/train.py":                 starter,
	})
	task := openTask(t, dir, "vectorization")
	task.Grader.(*grader).rounds = 1
	return task
}

func TestVectorization(t *testing.T) {
	b := benchtest.New(t, "numpy")
	task := layVectorization(t)
	if task.Outputs[0] != "train.py" || task.Standing.Baseline != nil || task.Starter != "python3 -u train.py" {
		t.Errorf("task %+v", task)
	}
	fast := strings.Replace(starter, loops, vectorized, 1)
	submission := submit(t, map[string]string{"train.py": fast, "submission.csv": "0.000001\n"})
	v := benchtest.Grade(t, task, submission, b)
	// It is several times as fast, but on a machine that is busy with other
	// things one reading may say anything.
	for range 3 {
		if v.Success == nil || *v.Success {
			break
		}
		v = benchtest.Grade(t, task, submission, b)
	}
	if v.Status != tasks.Graded || v.Score == nil || v.Baseline == nil || v.Success == nil || !*v.Success {
		t.Fatalf("verdict %+v", v)
	}
	if *v.Score >= *v.Baseline || *v.Score <= 0 || v.Rewards["speedup"] <= 1 {
		t.Errorf("score %v, baseline %v, %v", *v.Score, *v.Baseline, v.Rewards)
	}
	if !b.Jobs[0].Inner {
		t.Error("submitted code is not run in an inner sandbox")
	}
	// The task itself is not changed by what one grading measured.
	if task.Standing.Baseline != nil {
		t.Error("the baseline stuck")
	}
}

func TestVectorizationRefuses(t *testing.T) {
	b := benchtest.New(t, "numpy")
	for _, c := range []struct{ name, train, says string }{
		{"empty", " \n", "is empty"},
		{"no Python", "def forward(:\n", "not Python (line 1)"},
		{"bytes", "\xff\xff", "not UTF-8"},
		{"another library", "import torch\n" + starter, "imports torch (line 1)"},
		{"from another library", "def f():\n    from numba import jit\n" + starter, "imports numba"},
		{"no class", "x = 1\n", "Conv2DLayer"},
		{"another result", strings.Replace(starter, "np.maximum(out + self.biases, 0)", "np.maximum(out, 0)", 1), "computes something else"},
		{"another shape", strings.Replace(starter, "np.maximum(out + self.biases, 0)", "out[0]", 1), "shape"},
		{"an exit", "import os\nos._exit(0)\n", "without handing its results over"},
		{"forged words", "import os\nos.write(1, b'[]')\nos._exit(0)\n", "without handing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := benchtest.Grade(t, layVectorization(t), submit(t, map[string]string{"train.py": c.train}), b)
			if v.Status != tasks.InvalidSubmission || v.Score != nil || !strings.Contains(v.Reason, c.says) {
				t.Errorf("verdict %s %q, want one saying %q", v.Status, v.Reason, c.says)
			}
		})
	}
	v := benchtest.Grade(t, layVectorization(t), tasks.Submission{Dir: t.TempDir(), Missing: []string{"train.py"}}, b)
	if v.Status != tasks.NoSubmission {
		t.Errorf("verdict %+v", v)
	}
}

func TestVectorizationWithoutNumpy(t *testing.T) {
	b := benchtest.New(t)
	task := layVectorization(t)
	// A numpy that cannot be found: one that says so itself.
	program := strings.Replace(starter, "import numpy as np, csv, time", "raise ModuleNotFoundError(\"No module named 'numpy'\")", 1)
	dir := task.Grader.(*grader).dir
	if err := os.WriteFile(filepath.Join(string(dir), "env", "train.py"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	v := benchtest.Grade(t, task, submit(t, map[string]string{"train.py": starter}), b)
	if v.Status != tasks.GraderUnavailable || !strings.Contains(v.Reason, "numpy") || v.Remedy == "" {
		t.Errorf("verdict %+v", v)
	}
}

func TestRealVectorization(t *testing.T) {
	dir := realCheckout(t)
	b := benchtest.New(t, "numpy")
	task := openTask(t, dir, "vectorization")
	task.Grader.(*grader).rounds = 2
	original, err := os.ReadFile(filepath.Join(folder(dir, "vectorization"), "env", "train.py"))
	if err != nil {
		t.Fatal(err)
	}
	v := benchtest.Grade(t, task, submit(t, map[string]string{"train.py": string(original)}), b)
	if v.Status != tasks.Graded || *v.Success {
		t.Fatalf("the unchanged starter: %+v", v)
	}
	t.Logf("starter %.4f s measured beside %.4f s", *v.Score, *v.Baseline)
	// The same convolution without its four loops.
	text := string(original)
	from := strings.Index(text, "        for index in range(batch_size)")
	to := strings.Index(text, "        if self.activation == 'relu'")
	if from < 0 || to < 0 {
		t.Skip("this version's starter is written otherwise")
	}
	text = text[:from] + `        k, s = filter_size, self.stride
        for i in range(k):
            for j in range(k):
                output += padded_batch[:, i:i+h_new*s:s, j:j+w_new*s:s, :] @ self.kernel_matrices[i, j]
        output += self.biases
` + text[to:]
	v = benchtest.Grade(t, task, submit(t, map[string]string{"train.py": text}), b)
	if v.Status != tasks.Graded || !*v.Success {
		t.Fatalf("the vectorized one: %+v", v)
	}
	t.Logf("vectorized %.4f s beside %.4f s: %.1f times as fast", *v.Score, *v.Baseline, v.Rewards["speedup"])
}
