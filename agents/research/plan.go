package research

import (
	"regexp"
	"strings"

	"proctor/agents"
)

// mostEntries bounds a plan that is shown, and widestEntry an entry of it in
// characters.
const (
	mostEntries = 40
	widestEntry = 200
)

var (
	listItem = regexp.MustCompile(`^([ \t]*)(?:\d+[.)]|[-*•–]|Step \d+[:.])[ \t]+(.*)$`)
	checkbox = regexp.MustCompile(`^\[([ xX✓✔~/>-]?)\][ \t]*`)
	statusOf = regexp.MustCompile(`(?i)^status\b[ \t]*[:=-]?[ \t]*`)
)

// The words and marks that tell how far an entry is. What is not yet done
// comes first, as it has the words of what is done in it.
var (
	saysPending   = regexp.MustCompile(`(?i)\b(?:not (?:yet )?(?:done|started|complete[d]?|finished|begun)|to[ -]?do|pending|incomplete|unfinished|planned|next up|yet to)\b|[○☐⬜]`)
	saysCompleted = regexp.MustCompile(`(?i)\b(?:done|completed?|finished|achieved|accomplished)\b|[✓✔✅☑]`)
	saysProgress  = regexp.MustCompile(`(?i)\b(?:in[ -]progress|ongoing|under ?way|currently|working on|started|doing|partially)\b|[▸▶🔄⏳]`)
)

// PlanEntries reads a "Research Plan and Status" as the entries of a plan.
func PlanEntries(section string) []agents.PlanEntry { return planEntries(section) }

// planEntries reads the "Research Plan and Status" section: one entry a list
// item, or a line where it is no list. When no entry says that it is under
// way, the first that is pending is what the model is at.
func planEntries(section string) []agents.PlanEntry {
	section = strings.NewReplacer("**", "", "__", "").Replace(section)
	lines := strings.Split(section, "\n")
	entries, isList := listEntries(lines)
	if !isList {
		entries = nil
		for _, line := range lines {
			if line = strings.TrimSpace(line); line != "" && !strings.HasSuffix(line, ":") {
				entries = append(entries, planEntry(line))
			}
		}
	}
	entries = entries[:min(len(entries), mostEntries)]
	at := -1
	for i, e := range entries {
		switch {
		case e.Status == agents.InProgress:
			return entries
		case e.Status == agents.Pending && at < 0:
			at = i
		}
	}
	if at >= 0 {
		entries[at].Status = agents.InProgress
	}
	return entries
}

// listEntries reads the items of the outermost list. An item below one of
// them counts only for what it says of its status.
func listEntries(lines []string) (entries []agents.PlanEntry, found bool) {
	outer := -1
	for _, line := range lines {
		m := listItem.FindStringSubmatch(line)
		if m == nil {
			if text := strings.TrimSpace(line); found && statusOf.MatchString(text) {
				setStatus(&entries[len(entries)-1], text)
			}
			continue
		}
		indent := len(strings.ReplaceAll(m[1], "\t", "    "))
		if outer < 0 {
			outer = indent
		}
		switch {
		case strings.TrimSpace(m[2]) == "":
		case indent <= outer || !found:
			entries, found = append(entries, planEntry(m[2])), true
		case statusOf.MatchString(m[2]):
			setStatus(&entries[len(entries)-1], m[2])
		}
	}
	return entries, found
}

func planEntry(text string) agents.PlanEntry {
	e := agents.PlanEntry{Priority: "medium", Status: status(text)}
	if m := checkbox.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		switch m[1] {
		case "x", "X", "✓", "✔":
			e.Status = agents.Completed
		case "~", "/", ">", "-":
			e.Status = agents.InProgress
		default:
			e.Status = agents.Pending
		}
	}
	e.Content = clip(strings.TrimSpace(text), widestEntry)
	return e
}

func setStatus(e *agents.PlanEntry, text string) {
	e.Status = status(statusOf.ReplaceAllString(text, ""))
}

func status(text string) agents.PlanStatus {
	switch {
	case saysPending.MatchString(text):
		return agents.Pending
	case saysProgress.MatchString(text):
		return agents.InProgress
	case saysCompleted.MatchString(text):
		return agents.Completed
	}
	return agents.Pending
}
