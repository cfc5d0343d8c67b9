// Package theme is how Proctor looks and which keys it listens to: colours for
// dark and light terminals, for sixteen colours and for none, the symbols that
// stand beside every colour, and the one table of key bindings from which the
// screens, their footers and the help are made.
package theme

import (
	"github.com/charmbracelet/colorprofile"
)

// Colours is how many colours a theme may use.
type Colours int

// The numbers of colours. 256-colour terminals are served from full colours
// by the renderer.
const (
	NoColours Colours = iota
	Colours16
	FullColours
)

// Of returns the number of colours that a terminal's profile allows.
func Of(p colorprofile.Profile) Colours {
	switch p {
	case colorprofile.TrueColor, colorprofile.ANSI256:
		return FullColours
	case colorprofile.ANSI:
		return Colours16
	}
	return NoColours
}

// A Tone is what a colour says. It never says it alone: a word or a symbol
// stands beside it.
type Tone int

// The tones.
const (
	Neutral Tone = iota
	Accent
	Good
	Warn
	Bad
	Info
	Hint // what a person did
	Quiet
	tones
)

// A Theme is a set of styles for one kind of terminal. It is read-only.
type Theme struct {
	Dark    bool
	Colours Colours

	Text   Style // what one reads
	Strong Style // what one reads first
	Muted  Style // what one reads on a second look
	Faint  Style // rules, empty bars, placeholders
	Border Style
	Focus  Style // border of the focused pane
	Title  Style // of a pane without focus
	Key    Style // a key in the footer
	Bar    Style // background of header and footer
	Select Style // background of the selected row
	Button Style
	Picked Style // the chosen button
	Found  Style // a search match

	Gold, Silver, Bronze Style

	tone [tones]Style
	pill [tones]Style

	// Markdown colours, for the renderer of instructions.
	Markdown Markdown
}

// Markdown is the handful of colours an instruction is rendered in, as
// "#rrggbb", an ANSI number, or "" for none.
type Markdown struct{ Heading, Code, Link, Quiet string }

var (
	inkMuted  = ink{"#8e97ab", "#5a6375", 7, 8}
	inkFaint  = ink{"#59627a", "#98a0b0", 8, 7}
	inkBorder = ink{"#3d465c", "#c3c9d6", 8, 7}
	inkAccent = ink{"#8aa9ff", "#3355d1", 12, 4}
	inkGood   = ink{"#7fdba0", "#1b7f46", 10, 2}
	inkWarn   = ink{"#f2c46b", "#8f6200", 11, 3}
	inkBad    = ink{"#ff7f8b", "#c42738", 9, 1}
	inkInfo   = ink{"#6fcdf2", "#0b739c", 14, 6}
	inkHint   = ink{"#f49bdc", "#ad2588", 13, 5}
	inkGold   = ink{"#f7cf57", "#a07400", 11, 3}
	inkSilver = ink{"#cdd6e4", "#66707f", 7, 8}
	inkBronze = ink{"#df9f72", "#9d5522", 3, 3}
	inkBar    = ink{"#1c2130", "#eceff6", -1, -1}
	inkSelect = ink{"#2b3450", "#dbe4fb", -1, -1}
	inkPaper  = ink{"#12151e", "#ffffff", 0, 15} // text on a coloured ground
	inkGround = ink{"#303950", "#d5dbe7", 8, 7}  // a quiet ground
)

// New returns the theme for a terminal with a dark or light background and so
// many colours.
func New(dark bool, colours Colours) *Theme {
	t := &Theme{Dark: dark, Colours: colours}
	fg := func(i ink) Style { return i.on(t, false) }
	bg := func(i ink) Style { return i.on(t, true) }

	t.Strong = Style{"1"}
	t.Muted, t.Faint, t.Border = fg(inkMuted), fg(inkFaint), fg(inkBorder)
	t.Focus, t.Title, t.Key = fg(inkAccent), Style{"1"}, fg(inkAccent).Bold()
	t.Bar, t.Select = bg(inkBar), bg(inkSelect)
	t.Button, t.Picked = bg(inkGround), fg(inkPaper).And(bg(inkAccent)).Bold()
	t.Found = fg(inkPaper).And(bg(inkWarn))
	t.Gold, t.Silver, t.Bronze = fg(inkGold), fg(inkSilver), fg(inkBronze)

	inks := [tones]ink{Accent: inkAccent, Good: inkGood, Warn: inkWarn, Bad: inkBad, Info: inkInfo, Hint: inkHint, Quiet: inkMuted}
	for tone, i := range inks {
		if Tone(tone) == Neutral {
			t.pill[tone] = bg(inkGround)
			continue
		}
		t.tone[tone], t.pill[tone] = fg(i), fg(inkPaper).And(bg(i)).Bold()
	}
	t.Markdown = Markdown{Heading: t.hex(inkAccent), Code: t.hex(inkInfo), Link: t.hex(inkHint), Quiet: t.hex(inkMuted)}
	if colours != FullColours {
		t.withoutGrounds()
	}
	return t
}

// withoutGrounds replaces subtle backgrounds by reverse video, where there is
// no colour to make them of.
func (t *Theme) withoutGrounds() {
	reverse := Style{"7"}
	t.Bar, t.Select, t.Button, t.Picked, t.Found = Style{}, reverse, Style{}, reverse.Bold(), reverse
	t.pill[Neutral] = Style{}
	if t.Colours == NoColours {
		t.Faint, t.Border = Style{"2"}, Style{"2"}
		t.Focus, t.Key = Style{"1"}, Style{"1"}
		t.Title = Style{}
		for i := range t.pill {
			t.pill[i] = reverse
		}
		t.pill[Neutral] = Style{}
	}
}

// Tone returns the style of text that says so much.
func (t *Theme) Tone(tone Tone) Style { return t.tone[tone] }

// Pill returns the style of a word on a coloured ground.
func (t *Theme) Pill(tone Tone) Style { return t.pill[tone] }

// Medal returns the style and the word of a medal; ok is false for none.
func (t *Theme) Medal(name string) (Style, bool) {
	switch name {
	case "gold":
		return t.Gold, true
	case "silver":
		return t.Silver, true
	case "bronze":
		return t.Bronze, true
	}
	return t.Muted, false
}
