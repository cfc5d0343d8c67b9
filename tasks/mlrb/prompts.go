package mlrb

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A template is one entry of task_templates: the parts of a prompt, by name.
type template map[string]any

// text returns a part, "" when it is absent or "None" in some spelling.
func (t template) text(part string) string {
	text, _ := t[part].(string)
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, "none") {
		return ""
	}
	return text
}

var (
	templatesAt = regexp.MustCompile(`(?m)^task_templates[ \t]*(?::[^=\n]*)?=[ \t]*\[`)
	metricsAt   = regexp.MustCompile(`(?m)^[ \t]*model_metrics[ \t]*(?::[^=\n]*)?=[ \t]*\[`)
)

// modelSize is the small model that the mini tasks are about; the suite's
// get_task uses no other.
const modelSize = "x-small"

// An unread is an entry of task_templates that is not written out as values.
type unread struct {
	name string // "" when that cannot be read either
	err  error
}

// readPrompts reads the entries of task_templates in prompts.py, with the
// placeholders of the small model filled in, and passes over those that it
// cannot read. The error is that there is no list, or that it does not end.
func readPrompts(source string) (found []template, others []unread, err error) {
	at := templatesAt.FindStringIndex(source)
	if at == nil {
		return nil, nil, errors.New("it has no task_templates = [")
	}
	l := &literal{text: source, pos: at[1] - 1}
	err = l.elements(']', func() error {
		l.space()
		start := l.pos
		v, err := l.value(0)
		if entry, ok := v.(map[string]any); ok && err == nil {
			found = append(found, entry)
			return nil
		}
		if err == nil {
			err = l.errorf("an entry that is no dictionary")
		}
		l.pos = start
		l.pass()
		others = append(others, unread{entryName(source[start:l.pos]), err})
		return nil
	})
	if err != nil {
		err = fmt.Errorf("%w; what follows in the list is not read", err)
	}
	model := readModel(source)
	for _, t := range found {
		t.substitute(model)
	}
	return found, others, err
}

var nameAt = regexp.MustCompile(`["']name["'][ \t]*:[ \t]*["']([A-Za-z0-9_.-]+)["']`)

// entryName finds the name in an entry's source.
func entryName(source string) string {
	if m := nameAt.FindStringSubmatch(source); m != nil {
		return m[1]
	}
	return ""
}

// readModel returns what is known of the small model, nothing when the file
// has it in another form.
func readModel(source string) map[string]any {
	at := metricsAt.FindStringIndex(source)
	if at == nil {
		return nil
	}
	l := &literal{text: source, pos: at[1] - 1}
	models, err := l.list(']', 0)
	if err != nil {
		return nil
	}
	for _, m := range models {
		if model, ok := m.(map[string]any); ok && model["model"] == modelSize {
			return model
		}
	}
	return nil
}

var placeholder = regexp.MustCompile(`\$(?:\$|[_A-Za-z][_A-Za-z0-9]*|\{[_A-Za-z][_A-Za-z0-9]*\})`)

// substitute fills in $name and ${name} in all parts, from the model and the
// other parts. Unknown names stay.
func (t template) substitute(model map[string]any) {
	original := make(template, len(t))
	for part, value := range t {
		original[part] = value
	}
	for part, value := range original {
		text, ok := value.(string)
		if !ok {
			continue
		}
		t[part] = placeholder.ReplaceAllStringFunc(text, func(found string) string {
			name := strings.Trim(found[1:], "{}")
			if name == "$" {
				return "$"
			}
			if value, ok := model[name]; ok {
				return pythonStr(value)
			}
			if value, ok := original[name]; ok {
				return pythonStr(value)
			}
			return found
		})
	}
}

// standard is how a prompt is laid out where the checkout has no
// prompt_template.j2, or one that is more than names in double braces.
const standard = `Your task is to: {{ task }}

- Dataset: {{ dataset }}
- Shape of the dataset: {{ dataset_shape }}
- Models: {{ models }}
- Compute: {{ compute }}
- Time limit: {{ time_limit }}
- Result: {{ result }}
- Evaluation: {{ evaluation }}
- Rules: {{ rules }}

{{ additional_info }}`

var variable = regexp.MustCompile(`\{\{-?\s*([A-Za-z_][A-Za-z0-9_]*)\s*-?\}\}`)

// plainLayout reports whether a prompt_template.j2 has nothing but names in
// double braces, so that it needs no template engine.
func plainLayout(layout string) bool {
	return !strings.Contains(layout, "{%") && !strings.Contains(variable.ReplaceAllString(layout, ""), "{{")
}

// render makes the prompt. As in the suite, an absent part is empty.
func (t template) render(layout string) string {
	return variable.ReplaceAllStringFunc(layout, func(found string) string {
		value, ok := t[variable.FindStringSubmatch(found)[1]]
		if !ok {
			return ""
		}
		return dedent(pythonStr(value))
	})
}

// dedent removes the indentation that a part has of standing in Python
// source, in which Markdown would see code.
func dedent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	if len(lines) == 1 {
		return strings.TrimSpace(text)
	}
	least := -1
	for i, line := range lines {
		bare := strings.TrimLeft(line, " ")
		if bare == "" || i == 0 && bare == line {
			continue // text that begins on the line of its quotes
		}
		if indent := len(line) - len(bare); least < 0 || indent < least {
			least = indent
		}
	}
	for i, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		lines[i] = strings.TrimRight(line[min(indent, max(least, 0)):], " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
