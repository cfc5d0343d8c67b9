package mlebench

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"proctor/tasks"
)

// post uploads a text as a file called name and returns status and answer.
func post(t *testing.T, url, field, name, text string) (int, map[string]string) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile(field, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(part, text); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := http.Post(url+"/validate", form.FormDataContentType(), &body)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	answer := map[string]string{}
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, answer
}

func TestValidationServer(t *testing.T) {
	h := newHouse(t)
	good := h.submissions["house-tumors"]
	g := h.task(t, "house-tumors", noPython).Grader.(*Grader)
	var notes []string
	server := httptest.NewServer(g.ValidationHandler(newBench(t), func(message string) {
		notes = append(notes, message)
	}))
	defer server.Close()

	for _, tc := range []struct {
		field, name, text string
		status            int
		key, want         string
	}{
		{"file", "submission.csv", good, 200, "result", "Submission is valid."},
		{"file", "submission.csv", "id,benign\n", 200, "result", "Submission invalid! The attempt to grade the submission has resulted in the following error message:\nit has 0 rows, expected 121"},
		{"file", "submission.csv", "", 200, "result", "is empty"},
		{"file", "submission.txt", good, 200, "result", "Submission invalid! Submission file must be a CSV file."},
		{"upload", "submission.csv", good, 400, "error", `the form has no field "file"`},
	} {
		status, answer := post(t, server.URL, tc.field, tc.name, tc.text)
		if status != tc.status || !strings.Contains(answer[tc.key], tc.want) || len(answer) != 1 {
			t.Errorf("%s %s: %d %v", tc.field, tc.name, status, answer)
		}
		for _, value := range answer {
			if strings.Contains(value, "0.97") {
				t.Errorf("the answer %q tells the score", value)
			}
		}
	}
	if len(notes) != 5 || notes[0] != validMessage || notes[4] != `refused: the form has no field "file"` {
		t.Errorf("noted %q", notes)
	}

	if r, err := http.Get(server.URL + "/health"); err != nil || r.StatusCode != 200 {
		t.Errorf("health: %v %v", r, err)
	} else {
		r.Body.Close()
	}
	if r, err := http.Post(server.URL+"/validate", "text/plain", strings.NewReader("x")); err != nil || r.StatusCode != 400 {
		t.Errorf("no form: %v %v", r, err)
	} else {
		r.Body.Close()
	}

	if err := os.RemoveAll(filepath.Join(h.data, "house-tumors")); err != nil {
		t.Fatal(err)
	}
	if status, answer := post(t, server.URL, "file", "submission.csv", good); status != 500 || answer["error"] == "" || !strings.Contains(answer["details"], "is missing") {
		t.Errorf("no data: %d %v", status, answer)
	}
}

// The benchmark's own graders validate too, and the sidecar drops the score.
func TestValidateWithPython(t *testing.T) {
	needPython(t)
	h := newHouse(t)
	g := h.task(t, "house-tumors", python).Grader.(*Grader)
	o, err := g.judge(t.Context(), submission(t, h.submissions["house-tumors"]), newBench(t), true)
	if err != nil || o.status != tasks.Graded || o.score != 0 || !strings.HasPrefix(o.by, "grade.py") {
		t.Errorf("%+v, %v", o, err)
	}
	valid, message, err := g.Validate(t.Context(), submission(t, "id,benign\nt000,0.5\n"), newBench(t))
	if valid || err != nil || !strings.HasSuffix(message, "error message:\nSubmission has 1 rows, expected 121") {
		t.Errorf("%v %q %v", valid, message, err)
	}
	valid, message, err = g.Validate(t.Context(), tasks.Submission{Dir: t.TempDir()}, newBench(t))
	if valid || err != nil || !strings.HasSuffix(message, "does not exist.") {
		t.Errorf("%v %q %v", valid, message, err)
	}
}

// The script that agents are given gets the server's answer, with curl and
// without.
func TestValidationScript(t *testing.T) {
	h := newHouse(t)
	g := h.task(t, "house-tumors", noPython).Grader.(*Grader)
	server := httptest.NewServer(g.ValidationHandler(newBench(t), nil))
	defer server.Close()
	file := filepath.Join(submission(t, h.submissions["house-tumors"]).Dir, filepath.FromSlash(output))

	bare := t.TempDir()
	python3 := python
	if _, err := os.Stat(python3); err != nil {
		if python3, err = exec.LookPath("python3"); err != nil {
			t.Skip("there is no python3")
		}
	}
	if err := os.Symlink(python3, filepath.Join(bare, "python3")); err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{"python3": bare + ":/usr/bin/nothing"}
	if _, err := exec.LookPath("curl"); err == nil {
		paths["curl"] = os.Getenv("PATH")
	}
	for with, path := range paths {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "home/validate_submission.sh", file)
		cmd.Env = []string{"PATH=" + path, "VALIDATION_URL=" + server.URL + "/validate", "HOME=" + os.Getenv("HOME")}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), validMessage) {
			t.Errorf("with %s: %v: %s", with, err, out)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "/bin/sh", "home/validate_submission.sh", "/nonexistent.csv").CombinedOutput(); err == nil {
		t.Errorf("accepted a file that is not there: %s", out)
	}
}
