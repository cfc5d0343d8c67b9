package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"proctor/ui/theme"
)

func TestMarkdownShowsTextAndStylesOnly(t *testing.T) {
	text := "# A [link](https://example.org/\x1b]0;x\x07) \n\n&#27;]52;c;aGk=&#7; &#x1b;[2J\n\n![picture](https://example.org/a.png)\n\n" +
		"```\ncode &#27;[31m\n```\n\n<script>x</script>\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
	for _, look := range []*theme.Theme{theme.New(true, theme.FullColours), theme.New(false, theme.Colours16), theme.New(true, theme.NoColours)} {
		lines := renderMarkdown(text, 60, look.Markdown)
		onlyColours(t, strings.Join(lines, "\n"))
		if plain := ansi.Strip(strings.Join(lines, "\n")); !strings.Contains(plain, "link") || !strings.Contains(plain, "code") {
			t.Errorf("text was lost: %q", plain)
		}
	}
}

func BenchmarkMarkdown(b *testing.B) {
	look := theme.New(true, theme.FullColours).Markdown
	for b.Loop() {
		renderMarkdown(instruction, 80, look)
	}
}
