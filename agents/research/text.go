package research

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"proctor/agents"
	"proctor/agents/conversation"
)

// remaining says what is left of the budget, on one line.
func remaining(left agents.Remaining) string {
	return "[remaining budget: " + cmp.Or(conversation.Left(left), "no limit") + "]"
}

// headTail keeps the beginning and the end of a text of more than n bytes,
// and says how much is left out.
func headTail(text string, n int) string {
	if len(text) <= n {
		return text
	}
	head, tail := n/2, len(text)-n/2
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d characters left out …]\n%s", text[:head], utf8.RuneCountInString(text[head:tail]), text[tail:])
}

// clip shortens a text to one line of at most n characters.
func clip(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}
