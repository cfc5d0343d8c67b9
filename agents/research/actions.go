package research

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"proctor/agents"
)

// An action is one of the things that the model can do.
type action struct {
	name  string
	about string
	args  []arg
	do    func(r *run, ctx context.Context, in map[string]string) (outcome, error)
}

// An arg is an argument of an action.
type arg struct {
	name, about string
	// or names the argument that stands in when this one is missing; ""
	// means that it is needed.
	or string
}

// An outcome is what the model is told of an action.
type outcome struct {
	text string
	// verbatim says that a summary would be of no use, as of code that is to
	// be edited.
	verbatim bool
	failed   bool // nothing was done
	final    bool // it was the final answer
}

// actions returns the benchmark's actions in its names and arguments.
func actions() []*action {
	file := arg{name: "file_name", about: "path of the file"}
	script := arg{name: "script_name", about: "path of the script"}
	first := arg{name: "start_line_number", about: "number of the first line, from 1"}
	last := arg{name: "end_line_number", about: "number of the last line, inclusive"}
	edit := arg{name: "edit_instruction", about: "what to change, in detail, step by step"}
	save := arg{name: "save_name", about: "path under which the result is saved", or: "script_name"}
	content := arg{name: "content", about: "the text"}
	return []*action{
		{"List Files", "Lists a directory.", []arg{{name: "dir_path", about: `path of the directory, "." for the workspace`}}, (*run).listFiles},
		{"Read File", "Shows a file.", []arg{file}, (*run).readFile},
		{"Write File", "Writes a file, replacing what was in it.", []arg{file, content}, (*run).writeFile},
		{"Append File", "Appends to a file.", []arg{file, content}, (*run).appendFile},
		{"Copy File", "Copies a file or a directory.", []arg{{name: "source", about: "path that is copied"}, {name: "destination", about: "path of the copy"}}, (*run).copyFile},
		{"Undo Edit Script", "Undoes the last edit of a script.", []arg{script}, (*run).undoEdit},
		{"Execute Script", "Executes a script and shows its output. The script must already exist.", []arg{script}, (*run).executeScript},
		{"Python REPL", "Executes Python code in a fresh interpreter; only what it prints is shown.", []arg{{name: "command", about: "the code"}}, (*run).pythonREPL},
		{"Understand File", "Reads a whole file and answers what you look for in it. Worthwhile for long files.", []arg{file, {name: "things_to_look_for", about: "what to look for, in detail"}}, (*run).understandFile},
		{"Inspect Script Lines", fmt.Sprintf("Shows a part of a script, at most %d lines.", mostInspected), []arg{script, first, last}, (*run).inspectLines},
		{"Edit Script (AI)", "Has an assistant edit a whole script as you instruct, and shows the difference.", []arg{script, edit, save}, (*run).editScript},
		{"Edit Script Segment (AI)", "Has an assistant edit a part of a script as you instruct, and shows the difference.", []arg{script, first, last, edit, save}, (*run).editSegment},
		{"Reflection", "Looks over the research log so far and reflects on something.", []arg{{name: "things_to_reflect_on", about: "what to reflect on"}}, (*run).reflect},
		{"Retrieval from Research Log", "Finds in the research log what matters for a plan.", []arg{{name: "current_plan", about: "the plan as it stands"}}, (*run).retrieve},
		{"Append Summary to Research Log", "Adds a summary to the research log.", []arg{content}, (*run).appendSummary},
		{"Request Help", "Asks the person who oversees the run.", []arg{{name: "request", about: "the question"}}, (*run).requestHelp},
		{"Final Answer", "Ends the research: what is in the workspace is graded.", []arg{{name: "final_answer", about: "what was achieved, in detail"}}, (*run).finalAnswer},
	}
}

func actionNames() []string {
	var names []string
	for _, a := range actions() {
		names = append(names, a.name)
	}
	return names
}

// findAction returns the action that a name means, whatever its case and
// spacing and with or without its "(AI)"; nil when there is none.
func findAction(name string) *action {
	plain := func(s string) string {
		return strings.TrimSuffix(strings.Join(strings.FieldsFunc(strings.ToLower(s), func(c rune) bool {
			return strings.ContainsRune(" \t_-()", c)
		}), ""), "ai")
	}
	all := actions()
	i := slices.IndexFunc(all, func(a *action) bool { return plain(a.name) == plain(name) })
	if i < 0 {
		return nil
	}
	return all[i]
}

// read reads the action's input, which is a JSON object, or nearly one, or
// the plain value of an action that takes one argument. inline is an object
// that stood on the action's own line. more says that something follows.
func (a *action) read(section, inline string) (in map[string]string, more bool, err error) {
	text := strings.TrimSpace(section)
	if text == "" {
		text = inline
	}
	bare := strings.TrimSpace(unfence(text))
	if bare == "" {
		return nil, false, malformed(fmt.Sprintf("The input of %s is missing. %s", a.name, a.usage()))
	}
	if !strings.HasPrefix(bare, "{") && len(a.args) == 1 {
		if value := strings.Trim(beforeObservation(bare), " \t\r\n\"'`"); value != "" && !strings.Contains(value, "{") {
			return map[string]string{a.args[0].name: value}, false, nil
		}
	}
	object, rest, err := readObject(text)
	if err != nil {
		return nil, false, malformed(fmt.Sprintf("The input of %s is not a valid JSON object: %v. %s", a.name, err, a.usage()))
	}
	in = map[string]string{}
	for _, arg := range a.args {
		value, ok := object[arg.name]
		if !ok && arg.or != "" {
			value, ok = object[arg.or]
		}
		if !ok || value == nil {
			return nil, false, malformed(fmt.Sprintf("The input of %s lacks %q. %s", a.name, arg.name, a.usage()))
		}
		in[arg.name] = argument(value)
	}
	return in, strings.Trim(rest, " \t\r\n`") != "", nil
}

// usage shows an action as it is to be written.
func (a *action) usage() string {
	var fields []string
	for _, arg := range a.args {
		fields = append(fields, fmt.Sprintf("%q: [%s]", arg.name, arg.about))
	}
	return fmt.Sprintf("Usage: Action: %s, Action Input: {%s}", a.name, strings.Join(fields, ", "))
}

// unfence removes a fence that the text begins with.
func unfence(text string) string {
	if !strings.HasPrefix(text, "```") {
		return text
	}
	_, body, _ := strings.Cut(text, "\n")
	body, _, _ = strings.Cut(body, "\n```")
	return body
}

// beforeObservation returns what stands before an observation that the model
// made up.
func beforeObservation(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if section, _ := headingOf(strings.TrimRight(line, "\r\n"), secInput); section == secObservation {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// lineRange reads the two line numbers of an input.
func lineRange(in map[string]string) (first, last int, err error) {
	for name, n := range map[string]*int{"start_line_number": &first, "end_line_number": &last} {
		if *n, err = strconv.Atoi(strings.TrimSpace(in[name])); err != nil || *n < 1 {
			return 0, 0, fmt.Errorf("%s must be a line number from 1 on, not %q", name, clip(in[name], 40))
		}
	}
	if first > last {
		return 0, 0, fmt.Errorf("the first line, %d, is after the last, %d", first, last)
	}
	return first, last, nil
}

// envError is what the model is told when an action could not be done.
func envError(err error) outcome { return outcome{text: "EnvError: " + err.Error(), failed: true} }

// act records an action that is done already, or that is no command, with
// what came of it.
func (r *run) act(ctx context.Context, kind agents.ActionKind, title string, input map[string]string, out outcome) (outcome, error) {
	o, err := r.Act(ctx, agents.Action{Kind: kind, Title: title, Input: encodeInput(input), Timeout: r.timeout()},
		func(context.Context) (agents.Observation, error) {
			return agents.Observation{Text: out.text}, nil
		})
	if err != nil {
		return out, err
	}
	if o.Denied {
		return denied(o), nil
	}
	return out, nil
}

// instead is what the model is told of a command that the person changed.
func instead(o agents.Observation) string {
	if o.Instead == "" {
		return ""
	}
	return fmt.Sprintf("The person who oversees the run had this run instead: %s\n", o.Instead)
}

func denied(o agents.Observation) outcome {
	return outcome{failed: true, text: "EnvError: the person who oversees the run did not let this happen: " + strings.TrimSpace(o.Text)}
}
