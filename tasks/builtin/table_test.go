package builtin_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// table builds a submission from the held-out answers, with a line of the
// caller's for each.
func table(t *testing.T, name string, line func(i int, id, answer string) string) string {
	t.Helper()
	header, rest, _ := strings.Cut(string(readFile(t, name+"/tests/answers.csv")), "\n")
	var b strings.Builder
	b.WriteString(header + "\n")
	i := 0
	for row := range strings.Lines(rest) {
		id, answer, _ := strings.Cut(strings.TrimSpace(row), ",")
		b.WriteString(line(i, id, answer))
		i++
	}
	return b.String()
}

// with is the right table, except for its third row.
func with(t *testing.T, name, third string) string {
	return table(t, name, func(i int, id, answer string) string {
		if i == 2 {
			return third
		}
		return id + "," + answer + "\n"
	})
}

func submit(t *testing.T, dir, content string) {
	t.Helper()
	file := filepath.Join(dir, "submission", "submission.csv")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Tables that are right, if unusual, score in full.
func TestUnusualTablesAreAccepted(t *testing.T) {
	python3(t)
	right := table(t, "digits", func(_ int, id, answer string) string { return id + "," + answer + "\n" })
	lines := strings.Split(strings.TrimSpace(right), "\n")
	backwards := lines[0] + "\n"
	for i := len(lines) - 1; i > 0; i-- {
		backwards += lines[i] + "\n"
	}
	swapped := table(t, "digits", func(_ int, id, answer string) string { return answer + "," + id + "\n" })
	for name, content := range map[string]string{
		"shuffled":            backwards,
		"columns exchanged":   strings.Replace(swapped, "id,label", "label,id", 1),
		"Windows line ends":   strings.ReplaceAll(right, "\n", "\r\n"),
		"byte order mark":     "\ufeff" + right,
		"quoted":              table(t, "digits", func(_ int, id, answer string) string { return `"` + id + `","` + answer + "\"\n" }),
		"written as decimals": table(t, "digits", func(_ int, id, answer string) string { return id + ", " + answer + ".0\n" }),
		"blank lines":         strings.ReplaceAll(right, "\n", "\n\n"),
		"no last line end":    strings.TrimSpace(right),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			submit(t, dir, content)
			if got := grade(t, "digits", dir).score(t, readSpec(t, "digits")); got != 1 {
				t.Errorf("accuracy %v, want 1", got)
			}
		})
	}
}

func TestRefusedTables(t *testing.T) {
	python3(t)
	for _, test := range []struct {
		name, task, content, want string
	}{
		{"empty", "digits", "", "submission/submission.csv is empty: expected the header id,label and 898 rows"},
		{"header only", "digits", "id,label\n", "submission/submission.csv: 898 of 898 ids are missing (900, 901, 902, ...)"},
		{"no header", "digits", "900,3\n", "submission/submission.csv: the header is '900,3', expected id,label"},
		{"wrong columns", "diabetes", "id,target\n222,1\n", "submission/submission.csv: the header is 'id,target', expected id,progression"},
		{"a column too many", "digits", "id,label,sure\n900,3,1\n", "submission/submission.csv: the header is 'id,label,sure', expected id,label"},
		{"extra row", "digits", with(t, "digits", "902,1\n5000,1\n"), "submission/submission.csv, line 5: the id '5000' is not one of the 898 to predict"},
		{"missing row", "digits", with(t, "digits", ""), "submission/submission.csv: 1 of 898 ids are missing (902)"},
		{"id twice", "digits", with(t, "digits", "901,1\n"), "submission/submission.csv, line 4: the id '901' is there twice"},
		{"fields missing", "digits", with(t, "digits", "902\n"), "submission/submission.csv, line 4: 1 fields, expected 2 (id,label)"},
		{"no digit", "digits", with(t, "digits", "902,10\n"), "submission/submission.csv, line 4: label is '10', expected a digit from 0 to 9"},
		{"half a digit", "digits", with(t, "digits", "902,1.5\n"), "submission/submission.csv, line 4: label is '1.5', expected a digit from 0 to 9"},
		{"digit of another script", "digits", with(t, "digits", "902,٣\n"), "submission/submission.csv, line 4: label is '٣', expected a digit from 0 to 9"},
		{"NaN", "diabetes", with(t, "diabetes", "224,nan\n"), "submission/submission.csv, line 4: progression is 'nan', expected a finite number"},
		{"infinity", "diabetes", with(t, "diabetes", "224,-inf\n"), "submission/submission.csv, line 4: progression is '-inf', expected a finite number"},
		{"overflow", "diabetes", with(t, "diabetes", "224,1e999\n"), "submission/submission.csv, line 4: progression is '1e999', expected a finite number"},
		{"beyond all sense", "diabetes", with(t, "diabetes", "224,1e200\n"), "submission/submission.csv, line 4: progression is '1e200', expected a number between -1,000,000 and 1,000,000"},
		{"no number", "diabetes", with(t, "diabetes", "224,high\n"), "submission/submission.csv, line 4: progression is 'high', expected a finite number"},
		{"nothing", "diabetes", with(t, "diabetes", "224,\n"), "submission/submission.csv, line 4: progression is '', expected a finite number"},
		{"open quote", "digits", "id,label\n\"900,3\n", "submission/submission.csv, line 2: not a CSV table (unexpected end of data)"},
		{"huge", "digits", "id,label\n" + strings.Repeat("x", 10_000_000), "submission/submission.csv is larger than 10 MB"},
		{"not UTF-8", "digits", with(t, "digits", "902,\xff\n"), "submission/submission.csv is not UTF-8 text: byte 25 cannot be read"},
		{"binary", "digits", string(bytes.Repeat([]byte{0}, 64)), "submission/submission.csv"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			submit(t, dir, test.content)
			refused(t, grade(t, test.task, dir), "invalid_submission", test.want)
		})
	}
}

func TestRefusedFiles(t *testing.T) {
	python3(t)
	for _, test := range []struct {
		name string
		lay  func(dir, file string) error
		kind string
		want string
	}{
		{"nothing", func(dir, _ string) error { return os.Remove(dir) },
			"no_submission", "submission/submission.csv is missing: nothing was handed in"},
		{"folder without the file", func(_, _ string) error { return nil },
			"no_submission", "submission/submission.csv is missing: nothing was handed in"},
		{"folder of that name", func(_, file string) error { return os.Mkdir(file, 0o755) },
			"invalid_submission", "submission/submission.csv is a folder, expected a regular file"},
		{"named pipe", func(_, file string) error { return syscall.Mkfifo(file, 0o600) },
			"invalid_submission", "submission/submission.csv is a named pipe, expected a regular file"},
		{"link", func(_, file string) error { return os.Symlink("/etc/passwd", file) },
			"invalid_submission", "submission/submission.csv is a symbolic link, expected a regular file"},
		{"linked folder", func(dir, _ string) error {
			if err := os.Remove(dir); err != nil {
				return err
			}
			return os.Symlink("/etc", dir)
		}, "invalid_submission", "submission/submission.csv cannot be read: 'submission' is a symbolic link, expected a folder"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			dir := filepath.Join(root, "submission")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := test.lay(dir, filepath.Join(dir, "submission.csv")); err != nil {
				t.Fatal(err)
			}
			refused(t, grade(t, "digits", root), test.kind, test.want)
		})
	}
}

// refused checks that a grader gave no score and said why.
func refused(t *testing.T, got reward, kind, message string) {
	t.Helper()
	if got["kind"] != kind {
		t.Errorf("kind %v, want %s", got["kind"], kind)
	}
	if text, _ := got["error"].(string); !strings.HasPrefix(text, message) {
		t.Errorf("the message is\n\t%s\nwant\n\t%s", text, message)
	}
	if len(got) != 2 {
		t.Errorf("more than an error was reported: %v", got)
	}
}
