package research

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A reply is what the model said, taken apart.
type reply struct {
	reflection, plan, facts, thought string

	action *action
	input  map[string]string // by argument, each of the action's
	// more says that the model went on after its input, usually by making up
	// the observation and further steps.
	more bool
}

// The sections of a reply, in the order in which they are asked for.
const (
	secReflection = iota
	secPlan
	secFacts
	secThought
	secAction
	secInput
	secObservation
	secCount
	secNone = -1
)

var sections = []string{"Reflection", "Research Plan and Status", "Fact Check", "Thought", "Action", "Action Input", "Observation"}

// heading matches a line that begins a section, whatever of Markdown is
// around its name. The colon may be missing where Markdown marks a heading.
var heading = func() *regexp.Regexp {
	names := slices.Clone(sections)
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	for i, name := range names {
		names[i] = strings.ReplaceAll(name, " ", `[ _]?`)
	}
	name := "(" + strings.Join(names, "|") + ")"
	return regexp.MustCompile("(?i)^[ \t>]*(?:(\\d+)[.)][ \t]*)?(?:" +
		"(?:#{1,6}[ \t]*)?[*_`]{0,3}" + name + "[*_`]{0,3}[ \t]*[:：][*_`]{0,3}[ \t]*(.*)" +
		"|(?:#{1,6}[ \t]*[*_]{0,3}|[*_]{2,3})" + name + "[*_]{0,3}[ \t]*)$")
}()

// headingOf returns the section that a line begins and what follows on it.
// A numbered heading counts only when it is further on than the section at,
// since a plan has numbered lines too.
func headingOf(line string, at int) (section int, rest string) {
	m := heading.FindStringSubmatch(line)
	if m == nil {
		return secNone, ""
	}
	plain := strings.NewReplacer(" ", "", "_", "").Replace
	section = slices.IndexFunc(sections, func(name string) bool {
		return strings.EqualFold(plain(name), plain(m[2]+m[4]))
	})
	if m[1] != "" && section <= at {
		return secNone, ""
	}
	return section, m[3]
}

// A malformed reply's error is written for the model to read.
type malformed string

func (m malformed) Error() string { return string(m) }

// parse takes a reply apart. Sections may be missing, out of order or in
// Markdown; only an action that exists and its input must be there.
func parse(text string) (reply, error) {
	text = withoutThinking(strings.ReplaceAll(text, "\r\n", "\n"))
	if strings.TrimSpace(text) == "" {
		return reply{}, malformed("Your reply was empty.")
	}
	parts, found := split(text)
	if !found {
		parts, found = splitObject(text)
	}
	if !found {
		return reply{}, malformed("Your reply has no line that begins with \"Action:\".")
	}
	p := reply{
		reflection: tidy(parts[secReflection]),
		plan:       tidy(parts[secPlan]),
		facts:      tidy(parts[secFacts]),
		thought:    tidy(parts[secThought]),
	}
	name, inline := actionLine(parts[secAction])
	if p.action = findAction(name); p.action == nil {
		return reply{}, malformed(fmt.Sprintf("There is no action %q. The actions are: %s.",
			clip(name, 80), strings.Join(actionNames(), ", ")))
	}
	var err error
	if p.input, p.more, err = p.action.read(parts[secInput], inline); err != nil {
		return reply{}, err
	}
	return p, nil
}

// withoutThinking removes the thinking that some servers leave in the text.
func withoutThinking(text string) string {
	const open, end = "<think>", "</think>"
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, open) {
		return text
	}
	_, after, closed := strings.Cut(trimmed, end)
	if !closed {
		return strings.TrimPrefix(trimmed, open)
	}
	return after
}

// split finds the sections. All that follows the action's input belongs to
// it, headings or not: it may hold a file's content. found says that there
// is an action.
func split(text string) (parts [secCount]string, found bool) {
	var b [secCount]strings.Builder
	defer func() {
		for i := range secInput {
			parts[i] = b[i].String()
		}
	}()
	at := secNone
	for len(text) > 0 {
		line, rest, _ := strings.Cut(text, "\n")
		section, said := headingOf(line, at)
		if section == secInput && found {
			parts[secInput] = said + "\n" + rest
			return parts, true
		}
		if section == secObservation && found || section == secAction && found {
			return parts, true // what it makes up from here on has not happened
		}
		text = rest
		if section == secNone || section == secInput || section == secObservation {
			if at != secNone {
				b[at].WriteString(line + "\n")
			}
			continue
		}
		at = section
		b[at].WriteString(said + "\n")
		found = found || at == secAction
	}
	return parts, found
}

// splitObject finds the sections in a reply that is one JSON object.
func splitObject(text string) (parts [secCount]string, found bool) {
	object, _, err := readObject(text)
	if err != nil {
		return parts, false
	}
	for key, value := range object {
		section := slices.IndexFunc(sections, func(name string) bool {
			return strings.EqualFold(name, strings.ReplaceAll(key, "_", " "))
		})
		if section == secNone {
			continue
		}
		parts[section] = argument(value)
		found = found || section == secAction
	}
	return parts, found
}

// actionLine returns the name of the action that a section gives, and the
// input when it stands there too.
func actionLine(section string) (name, inline string) {
	if i := strings.IndexByte(section, '{'); i >= 0 {
		section, inline = section[:i], section[i:]
	}
	for line := range strings.Lines(section) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			continue
		}
		if line = strings.Trim(line, " \t\r\n*_`\"'[].:"); line != "" {
			return line, inline
		}
	}
	return "", inline
}

// tidy removes what Markdown leaves around a section's text.
func tidy(section string) string {
	var lines []string
	for line := range strings.Lines(section) {
		line = strings.TrimRight(line, " \t\r\n")
		if bare := strings.TrimSpace(line); strings.HasPrefix(bare, "```") || bare == "---" || bare == "**" {
			continue
		}
		lines = append(lines, line)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// String writes a reply as the format has it, which is how the model sees
// what it said before. What was new in the plan no longer is.
func (p reply) String() string {
	var b strings.Builder
	for i, text := range []string{p.reflection, strings.ReplaceAll(p.plan, "**", ""), p.facts, p.thought} {
		if text != "" {
			fmt.Fprintf(&b, "%s: %s\n", sections[i], text)
		}
	}
	fmt.Fprintf(&b, "Action: %s\nAction Input: %s", p.action.name, p.inputJSON())
	return b.String()
}

// inputJSON writes the input with the arguments in their order.
func (p reply) inputJSON() string {
	var b strings.Builder
	for i, a := range p.action.args {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %s", quoteJSON(a.name), quoteJSON(p.input[a.name]))
	}
	return "{" + b.String() + "}"
}

func quoteJSON(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return `""` // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
