package mlebench

import (
	"context"
	"embed"
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
	"proctor/tasks/grade"
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
// is told what was answered to each call, to be recorded, and may be nil.
func (g *Grader) ValidationHandler(b tasks.Bench, note func(answer string)) http.Handler {
	v := &validator{grader: g, bench: b, note: note, turn: make(chan struct{}, 1)}
	if note == nil {
		v.note = func(string) {}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /validate", v.validate)
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]string{"status": "running"})
	})
	return mux
}

// service is the server as a part of the task.
func (g *Grader) service() tasks.Service {
	return tasks.Service{
		Name: "validation", Port: ValidationPort,
		Env: "VALIDATION_URL=http://{address}/validate",
		Handler: func(b tasks.Bench, note func(string)) http.Handler {
			return g.ValidationHandler(b, func(answer string) { note(grade.OneLine(answer, 300)) })
		},
	}
}

type validator struct {
	grader *Grader
	bench  tasks.Bench
	note   func(answer string)
	turn   chan struct{} // held by the request that is being judged
}

// maxForm is what a form may hold beside the longest submission.
const maxForm = 1 << 20

func (v *validator) validate(w http.ResponseWriter, r *http.Request) {
	select {
	case v.turn <- struct{}{}:
		defer func() { <-v.turn }()
	case <-r.Context().Done():
		return
	}
	status, answer := http.StatusOK, map[string]string{}
	valid, message, err := v.answer(w, r)
	switch {
	case errors.As(err, new(formError)):
		status, answer["error"] = http.StatusBadRequest, err.Error()
	case err != nil:
		status, answer["error"], answer["details"] = http.StatusInternalServerError, "An unexpected error occurred.", err.Error()
	default:
		answer["result"] = message
	}
	switch {
	case r.Context().Err() != nil:
		v.note("the call was given up")
	case errors.As(err, new(formError)):
		v.note("refused: " + err.Error())
	case err != nil:
		v.note("could not tell: " + err.Error())
	case valid:
		v.note(message)
	default:
		v.note(strings.Replace(message, attemptMessage, invalidMessage, 1))
	}
	reply(w, status, answer)
}

// answer judges the file of a request.
func (v *validator) answer(w http.ResponseWriter, r *http.Request) (valid bool, message string, err error) {
	if r.ContentLength > maxSubmission+maxForm {
		// One that asks before it sends is told at once. Another would not
		// hear while it sends, so it may; nothing of it is kept.
		if r.Header.Get("Expect") == "" {
			_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, mostDrained))
		}
		return false, tooLong(), nil
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxSubmission+maxForm)
	file, err := upload(r)
	if err != nil {
		return false, "", err
	}
	return v.judge(r.Context(), file)
}

// mostDrained is how much of an upload that is too long is listened to, in
// bytes.
const mostDrained = 64 << 30

func tooLong() string {
	return attemptMessage + fmt.Sprintf("it is longer than the %d bytes that are graded", int64(maxSubmission))
}

// A formError says what is wrong with a request.
type formError struct{ what string }

func (e formError) Error() string { return e.what }

// upload returns the part called file.
func upload(r *http.Request) (*multipart.Part, error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, formError{`expected a multipart form with a field "file"`}
	}
	for {
		part, err := parts.NextPart()
		if err != nil {
			return nil, formError{`the form has no field "file"`}
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
	// Where the bench keeps things: /tmp may be memory.
	dir, err := v.bench.Stage("validation", embed.FS{})
	if err != nil {
		return false, "", err
	}
	defer os.RemoveAll(dir)
	target := filepath.Join(dir, filepath.FromSlash(output))
	if err := save(target, file); err != nil {
		if errors.As(err, new(*http.MaxBytesError)) {
			return false, tooLong(), nil
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
