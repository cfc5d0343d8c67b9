package theme

import "strings"

// A Place is where a key works.
type Place int

// The places. A key of Everywhere works in all of them.
const (
	Everywhere Place = iota
	Launch
	Console
	Replay
	Verdict
	Runs
)

// A Deed is what a key does.
type Deed string

// The deeds.
const (
	Quit     Deed = "quit"
	Help     Deed = "help"
	Find     Deed = "find"
	FindNext Deed = "find next"
	FindPrev Deed = "find previous"
	Cancel   Deed = "cancel"
	Open     Deed = "open"
	NextPane Deed = "next pane"
	PrevPane Deed = "previous pane"
	ToPane   Deed = "to pane"
	Zoom     Deed = "zoom"
	LineUp   Deed = "line up"
	LineDown Deed = "line down"
	PageUp   Deed = "page up"
	PageDown Deed = "page down"
	ToTop    Deed = "top"
	ToEnd    Deed = "end"
	Left     Deed = "left"
	Right    Deed = "right"
	Redraw   Deed = "redraw"

	Pause    Deed = "pause"
	Freeze   Deed = "freeze"
	GiveHint Deed = "hint"
	Answer   Deed = "answer"
	TakeOver Deed = "take over"
	Extend   Deed = "extend"
	Grade    Deed = "grade"
	Stop     Deed = "stop"
	SetMode  Deed = "mode"
	Flip     Deed = "verdict"
	Watch    Deed = "replay"
	Fresh    Deed = "new run"

	Start    Deed = "start"
	Copy     Deed = "copy"
	ShowRuns Deed = "runs"
	Fold     Deed = "fold"

	Halt   Deed = "halt replay"
	Faster Deed = "faster"
	Slower Deed = "slower"
)

// A Binding says what a key does. The table of bindings is the only place
// where a key is named.
type Binding struct {
	Deed  Deed
	Keys  []string // as tea.KeyPressMsg.String gives them
	Shown string   // how the keys are written; "" means the first of Keys
	Label string   // one or two words for the footer; "" keeps it out of there
	Help  string   // one line for the help
	In    []Place
}

// Name returns how the binding's keys are written.
func (b Binding) Name() string {
	if b.Shown != "" {
		return b.Shown
	}
	return b.Keys[0]
}

// Bindings returns the bindings of a place in the order in which its footer
// and help show them.
func Bindings(p Place) []Binding {
	var list []Binding
	for _, b := range bindings {
		for _, in := range b.In {
			if in == p || in == Everywhere {
				list = append(list, b)
				break
			}
		}
	}
	return list
}

// Match finds what a key does in a place.
func Match(p Place, key string) (Deed, bool) {
	for _, b := range bindings {
		for _, k := range b.Keys {
			if k != key {
				continue
			}
			for _, in := range b.In {
				if in == p || in == Everywhere {
					return b.Deed, true
				}
			}
		}
	}
	return "", false
}

// KeyOf returns how the key of a deed is written, for texts that name it.
func KeyOf(p Place, d Deed) string {
	for _, b := range Bindings(p) {
		if b.Deed == d {
			return b.Name()
		}
	}
	return ""
}

// HandBack is the one key that is not typed into a terminal that a person
// has taken over.
const HandBack = "ctrl+]"

var bindings = []Binding{
	{Deed: Start, Keys: []string{"enter"}, Label: "start", Help: "start the run", In: []Place{Launch}},
	{Deed: Pause, Keys: []string{"p"}, Label: "pause", Help: "pause after the current action; again to go on", In: []Place{Console}},
	{Deed: Freeze, Keys: []string{"P"}, Label: "freeze", Help: "stop every process at once; again to go on", In: []Place{Console}},
	{Deed: GiveHint, Keys: []string{"h"}, Label: "hint", Help: "tell the agent something", In: []Place{Console}},
	{Deed: Answer, Keys: []string{"a"}, Label: "answer", Help: "answer or approve what the agent asks", In: []Place{Console}},
	{Deed: TakeOver, Keys: []string{"t"}, Label: "take over", Help: "type into the terminal yourself; " + HandBack + " hands back", In: []Place{Console}},
	{Deed: Extend, Keys: []string{"e"}, Label: "extend", Help: "give more time or steps", In: []Place{Console}},
	{Deed: Grade, Keys: []string{"g"}, Label: "grade now", Help: "end the agent and grade what is there", In: []Place{Console}},
	{Deed: Stop, Keys: []string{"x"}, Label: "stop", Help: "end the run without grading", In: []Place{Console}},
	{Deed: SetMode, Keys: []string{"m"}, Help: "let it act, approve each action, or one step at a time", In: []Place{Console}},
	{Deed: Halt, Keys: []string{"space"}, Label: "pause", Help: "halt or go on with the replay", In: []Place{Replay}},
	{Deed: Slower, Keys: []string{"-", "_"}, Shown: "-", Label: "slower", Help: "replay at half the speed", In: []Place{Replay}},
	{Deed: Faster, Keys: []string{"+", "="}, Shown: "+", Label: "faster", Help: "replay at twice the speed", In: []Place{Replay}},
	{Deed: Flip, Keys: []string{"v"}, Label: "verdict", Help: "to the verdict, and back", In: []Place{Console, Replay}},
	{Deed: Flip, Keys: []string{"v"}, Label: "console", Help: "to the console, and back", In: []Place{Verdict}},
	{Deed: Open, Keys: []string{"enter"}, Label: "open", Help: "open the selected run, or the group's attempts", In: []Place{Runs}},
	{Deed: Open, Keys: []string{"enter"}, Help: "open the selected action", In: []Place{Console, Replay}},
	{Deed: Fold, Keys: []string{"space"}, Help: "show or hide the attempts of a group", In: []Place{Runs}},
	{Deed: Watch, Keys: []string{"r"}, Label: "replay", Help: "replay the run from its record", In: []Place{Verdict, Runs}},
	{Deed: Fresh, Keys: []string{"n"}, Label: "new run", Help: "back to the launch screen", In: []Place{Verdict, Runs}},
	{Deed: Find, Keys: []string{"/"}, Label: "find", Help: "find in the focused pane or list", In: []Place{Everywhere}},
	{Deed: FindNext, Keys: []string{"n"}, Help: "next match", In: []Place{Console, Replay}},
	{Deed: FindPrev, Keys: []string{"N"}, Help: "previous match", In: []Place{Console, Replay}},
	{Deed: NextPane, Keys: []string{"tab"}, Label: "pane", Help: "focus the next pane", In: []Place{Console, Replay, Launch}},
	{Deed: PrevPane, Keys: []string{"shift+tab"}, Help: "focus the previous pane", In: []Place{Console, Replay, Launch}},
	{Deed: ToPane, Keys: []string{"1", "2", "3", "4", "5", "6"}, Shown: "1-6", Help: "focus a pane by its number", In: []Place{Console, Replay, Launch}},
	{Deed: Zoom, Keys: []string{"z"}, Label: "zoom", Help: "the focused pane alone, and back", In: []Place{Console, Replay}},
	{Deed: LineDown, Keys: []string{"j", "down"}, Shown: "j/↓", Help: "down", In: []Place{Everywhere}},
	{Deed: LineUp, Keys: []string{"k", "up"}, Shown: "k/↑", Help: "up", In: []Place{Everywhere}},
	{Deed: PageDown, Keys: []string{"pgdown", "ctrl+d", "ctrl+f"}, Shown: "pgdn", Help: "a page down", In: []Place{Everywhere}},
	{Deed: PageUp, Keys: []string{"pgup", "ctrl+u", "ctrl+b"}, Shown: "pgup", Help: "a page up", In: []Place{Everywhere}},
	{Deed: ToTop, Keys: []string{"home"}, Help: "to the start", In: []Place{Everywhere}},
	{Deed: ToEnd, Keys: []string{"G", "end"}, Shown: "G", Help: "to the end, and follow what comes", In: []Place{Everywhere}},
	{Deed: Left, Keys: []string{"left"}, Shown: "←", Help: "left: a wide terminal, the other choice", In: []Place{Console, Replay, Launch}},
	{Deed: Right, Keys: []string{"right"}, Shown: "→", Help: "right: a wide terminal, the other choice", In: []Place{Console, Replay, Launch}},
	{Deed: Copy, Keys: []string{"y"}, Label: "copy command", Help: "copy the command that would start this run", In: []Place{Launch}},
	{Deed: ShowRuns, Keys: []string{"r"}, Label: "runs", Help: "all runs on this machine", In: []Place{Launch}},
	{Deed: Cancel, Keys: []string{"esc"}, Help: "leave what is open", In: []Place{Everywhere}},
	{Deed: Redraw, Keys: []string{"ctrl+l"}, Help: "draw the screen anew", In: []Place{Everywhere}},
	{Deed: Help, Keys: []string{"?"}, Label: "help", Help: "these keys", In: []Place{Everywhere}},
	{Deed: Quit, Keys: []string{"q", "ctrl+c"}, Shown: "q", Label: "leave", Help: "leave; a run goes on without you", In: []Place{Everywhere}},
}

// Duplicates returns the keys that do two things in one place, for the test
// that there are none.
func Duplicates(p Place) []string {
	seen, twice := map[string]Deed{}, []string(nil)
	for _, b := range Bindings(p) {
		for _, k := range b.Keys {
			if d, ok := seen[k]; ok {
				twice = append(twice, strings.Join([]string{k, string(d), string(b.Deed)}, " "))
			}
			seen[k] = b.Deed
		}
	}
	return twice
}
