package mlebench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"proctor/tasks"
)

// ValidationPort is the loopback port at which an agent expects the
// validation server inside its sandbox.
const ValidationPort = 5000

// The validation server's own words, which agents' prompts and tools know.
const (
	validMessage   = "Submission is valid."
	invalidMessage = "Submission invalid! "
	attemptMessage = invalidMessage + "The attempt to grade the submission has resulted in the following error message:\n"
	notCSVMessage  = invalidMessage + "Submission file must be a CSV file."
)

// Validate says whether a submission would be graded and, if not, why not;
// never its score. Like the benchmark's own validator it has the grader
// judge the file and keeps only that. The error says why nobody could tell:
// the data or the grader is missing or broken, or ctx ended.
func (g *Grader) Validate(ctx context.Context, s tasks.Submission, b tasks.Bench) (valid bool, message string, err error) {
	o, err := g.judge(ctx, s, b, true)
	if err != nil {
		return false, "", err
	}
	switch o.status {
	case tasks.Graded:
		return true, validMessage, nil
	case tasks.InvalidSubmission:
		return false, attemptMessage + o.reason, nil
	case tasks.NoSubmission:
		return false, fmt.Sprintf("%sSubmission file %s does not exist.", invalidMessage, output), nil
	}
	return false, "", fmt.Errorf("validating a submission to %q: %s", g.id, o.reason)
}

// ValidationHandler serves MLE-bench's validation protocol: POST /validate
// with a multipart field "file" answers {"result": message}, GET /health
// answers {"status": "running"}. Files are judged on b, one at a time. note
// is told of each answer, to be recorded, and may be nil.
func (g *Grader) ValidationHandler(b tasks.Bench, note func(valid bool, message string)) http.Handler {
	v := &validator{grader: g, bench: b, note: note, turn: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /validate", v.validate)
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]string{"status": "running"})
	})
	return mux
}

type validator struct {
	grader *Grader
	bench  tasks.Bench
	note   func(valid bool, message string)
	turn   chan struct{} // held by the request that is being judged
}

func (v *validator) validate(w http.ResponseWriter, r *http.Request) {
	select {
	case v.turn <- struct{}{}:
		defer func() { <-v.turn }()
	case <-r.Context().Done():
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxSubmission+1<<20)
	file, err := upload(r)
	if err != nil {
		reply(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	valid, message, err := v.judge(r.Context(), file)
	if err != nil {
		reply(w, http.StatusInternalServerError, map[string]string{
			"error": "An unexpected error occurred.", "details": err.Error(),
		})
		return
	}
	if v.note != nil {
		v.note(valid, message)
	}
	reply(w, http.StatusOK, map[string]string{"result": message})
}

// upload returns the part called file.
func upload(r *http.Request) (*multipart.Part, error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, errors.New(`expected a multipart form with a field "file"`)
	}
	for {
		part, err := parts.NextPart()
		if err != nil {
			return nil, errors.New(`the form has no field "file"`)
		}
		if part.FormName() == "file" {
			return part, nil
		}
	}
}

// judge puts an upload where the grader looks for a submission.
func (v *validator) judge(ctx context.Context, file *multipart.Part) (valid bool, message string, err error) {
	if !strings.EqualFold(filepath.Ext(file.FileName()), ".csv") {
		return false, notCSVMessage, nil
	}
	dir, err := os.MkdirTemp("", "proctor-validate-")
	if err != nil {
		return false, "", err
	}
	defer os.RemoveAll(dir)
	target := filepath.Join(dir, filepath.FromSlash(output))
	if err := save(target, file); err != nil {
		var tooLong *http.MaxBytesError
		if errors.As(err, &tooLong) {
			return false, attemptMessage + fmt.Sprintf("it is longer than the %d bytes that are graded", int64(maxSubmission)), nil
		}
		return false, "", err
	}
	return v.grader.Validate(ctx, tasks.Submission{Dir: dir}, v.bench)
}

func save(target string, from io.Reader) error {
	if err := os.Mkdir(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	f, err := os.Create(target)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

func reply(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // whoever asked may have gone
}
