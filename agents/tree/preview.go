package tree

import (
	"context"
	"fmt"
	"strings"
	"time"

	"proctor/agents"
)

// previewTime limits the look around at the start, in working time.
const previewTime = time.Minute

// look is run once, before the first script. Its arguments are the
// directories with the task's files. It ends with the exit code of Python.
const look = `for d in %[1]s; do
  [ -e "$d" ] || continue
  find "$d" -maxdepth 4 -name '.?*' -prune -o -type f -print 2>/dev/null
done | sort | head -n 120 | while IFS= read -r f; do echo "$f ($(wc -c <"$f") bytes)"; done
for d in %[1]s; do
  [ -e "$d" ] || continue
  find "$d" -maxdepth 4 -name '.?*' -prune -o -type f \( -name '*.csv' -o -name '*.tsv' -o -name '*.jsonl' \) -print 2>/dev/null
done | sort | head -n 8 | while IFS= read -r f; do
  echo; echo "The first lines of $f:"
  head -n 4 "$f" | cut -c 1-500
done
echo; echo 'Python and what it can import:'
%[2]s -c 'import sys, importlib.util as u
print(sys.version.split()[0], *[m for m in ("numpy","pandas","scipy","sklearn","torch","torchvision","transformers","datasets","tensorflow","jax","xgboost","lightgbm","catboost","timm","statsmodels","PIL","cv2","polars","matplotlib") if u.find_spec(m)] or ["(the standard library only)"])'`

// preview shows what the scripts will work with: the files, how the tables
// begin, and what Python can import. A person may not allow it; then the
// model has only the task's own words.
func (g *grower) preview(ctx context.Context) (string, error) {
	dirs := []string{"."}
	for _, m := range g.Task.Mounts {
		dirs = append(dirs, quote(m.Target))
	}
	obs, err := g.Session.Run(ctx, agents.Action{
		Kind: agents.Read, Title: "look at the files", Timeout: previewTime,
		Shell: fmt.Sprintf(look, strings.Join(dirs, " "), g.Python),
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("tree: look at the files: %w", err)
	case obs.Denied, obs.TimedOut:
		return "", nil
	case obs.ExitCode != 0:
		return "", fmt.Errorf("tree: the sandbox has no working %q to run scripts with (exit code %d); set python in its settings", g.Python, obs.ExitCode)
	}
	return strings.TrimSpace(obs.Text), nil
}

// starter returns the name and text of the task's starter script, both empty
// when there is none that can be read.
func (g *grower) starter() (name, text string) {
	for word := range strings.FieldsSeq(g.Task.Starter) {
		if !strings.HasSuffix(word, ".py") {
			continue
		}
		if b, err := g.ReadFile(word, 12<<10); err == nil {
			return word, strings.ToValidUTF8(string(b), "�")
		}
	}
	return "", ""
}
