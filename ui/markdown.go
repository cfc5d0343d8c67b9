package ui

import (
	"regexp"
	"strings"

	"charm.land/glamour/v2"
	"charm.land/glamour/v2/ansi"
	"charm.land/glamour/v2/styles"

	"proctor/runner/terminal"
	"proctor/ui/draw"
	"proctor/ui/theme"
)

// renderMarkdown renders an instruction for a width. It takes tens of
// milliseconds, so it runs in a command, once for each text, width and theme.
// Where it fails the text is shown as it is.
func renderMarkdown(text string, width int, look theme.Markdown) []string {
	r, err := glamour.NewTermRenderer(glamour.WithStyles(markdownStyle(look)), glamour.WithWordWrap(width))
	if err != nil {
		return draw.Wrap(text, width)
	}
	out, err := r.Render(text)
	if err != nil {
		return draw.Wrap(text, width)
	}
	lines := strings.Split(strings.Trim(onlyStyles(out), "\n"), "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	return lines
}

var styleSequence = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// onlyStyles takes out everything that is neither text nor a style: the
// renderer writes hyperlinks, and it turns an entity such as &#27; into the
// character itself.
func onlyStyles(s string) string {
	var b strings.Builder
	from := 0
	for _, at := range styleSequence.FindAllStringIndex(s, -1) {
		b.WriteString(terminal.Clean(s[from:at[0]]))
		b.WriteString(s[at[0]:at[1]])
		from = at[1]
	}
	b.WriteString(terminal.Clean(s[from:]))
	return b.String()
}

// markdownStyle is the renderer's style in the theme's colours.
func markdownStyle(look theme.Markdown) ansi.StyleConfig {
	s := styles.ASCIIStyleConfig
	none, bold, italic := uint(0), true, true
	colour := func(c string) *string {
		if c == "" {
			return nil
		}
		return &c
	}
	s.Document.Margin = &none
	s.Document.BlockPrefix, s.Document.BlockSuffix = "", ""
	s.Heading.Color, s.Heading.Bold, s.Heading.BlockSuffix = colour(look.Heading), &bold, "\n"
	for _, h := range []*ansi.StyleBlock{&s.H1, &s.H2, &s.H3, &s.H4, &s.H5, &s.H6} {
		h.Prefix, h.Suffix = "", ""
	}
	bullet, bar := "• ", "│ "
	s.Item.BlockPrefix = bullet
	s.BlockQuote.IndentToken, s.BlockQuote.Color = &bar, colour(look.Quiet)
	s.Strong.Bold, s.Strong.BlockPrefix, s.Strong.BlockSuffix = &bold, "", ""
	s.Emph.Italic, s.Emph.BlockPrefix, s.Emph.BlockSuffix = &italic, "", ""
	s.Code.Color, s.Code.BlockPrefix, s.Code.BlockSuffix = colour(look.Code), "", ""
	s.CodeBlock.Color, s.CodeBlock.Theme, s.CodeBlock.Chroma = colour(look.Code), "", nil
	margin := uint(2)
	s.CodeBlock.Margin = &margin
	s.Link.Color, s.LinkText.Color = colour(look.Link), colour(look.Link)
	return s
}
