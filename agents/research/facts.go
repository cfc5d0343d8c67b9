package research

import (
	"regexp"
	"strings"
)

// The marks of a fact check. A statement that says neither is not taken for
// a confirmed one.
const (
	markConfirmed = "✓ confirmed: "
	markGuessed   = "? guessed: "
	markOpen      = "· unmarked: "
)

var (
	saysGuessed   = regexp.MustCompile(`(?i)\b(?:guess\w*|assum\w*|hypothe\w*|speculat\w*|unconfirmed|unverified|(?:not|n't|never|yet to be)(?: \w+){0,3} (?:confirmed|verified|tested|checked|observed)|likely|probably|expect(?:ed|ation)?|presum\w*|may|might)\b`)
	saysConfirmed = regexp.MustCompile(`(?i)\b(?:confirm\w*|verified|observed|measured|directly (?:seen|shown)|as shown|per the (?:last )?observation)\b|[✓✔✅]`)
	bullet        = regexp.MustCompile(`^[ \t]*(?:\d+[.)]|[-*•–])[ \t]+`)
	sentenceEnd   = regexp.MustCompile(`[.!?][ \t]+`)
)

// markFacts rewrites the "Fact Check" section with one statement a line, each
// marked as confirmed or guessed by what it says of itself or by the heading
// above it.
func markFacts(section string) string {
	var out []string
	under := markOpen
	for line := range strings.Lines(strings.ReplaceAll(section, "**", "")) {
		listed := bullet.MatchString(line)
		line = strings.TrimSpace(bullet.ReplaceAllString(line, ""))
		switch {
		case line == "":
		case strings.HasSuffix(line, ":"):
			under = factMark(line, markOpen)
		case listed:
			out = append(out, factMark(line, under)+line)
		default:
			for _, s := range sentences(line) {
				out = append(out, factMark(s, under)+s)
			}
		}
	}
	return strings.Join(out, "\n")
}

func factMark(text, otherwise string) string {
	switch {
	case saysGuessed.MatchString(text):
		return markGuessed
	case saysConfirmed.MatchString(text):
		return markConfirmed
	}
	return otherwise
}

func sentences(text string) []string {
	var out []string
	for {
		at := sentenceEnd.FindStringIndex(text)
		if at == nil {
			return append(out, text)
		}
		out = append(out, text[:at[0]+1])
		if text = text[at[1]:]; text == "" {
			return out
		}
	}
}
