package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"proctor/runner/control"
)

// handsCommands are the command line's side of a terminal that a person has
// taken over.
func handsCommands(a *app) []*cobra.Command {
	takeover := steer(a, "takeover", "Take a run's terminal over: the agent waits until it is handed back", simple(control.Takeover))
	takeover.Long = `Takes a run's terminal over for a script: proctor input types in it, proctor
handback gives it back to the agent, which is then told what was done. A person
presses t in the console instead.`
	handback := steer(a, "handback", "Hand a run's terminal back to its agent", simple(control.Handback))
	return []*cobra.Command{takeover, handback, inputCommand(a), resizeCommand(a)}
}

func inputCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "input RUN TEXT", Short: "Type in the terminal that was taken over", Args: cobra.ExactArgs(2),
		Long: `Types a line in a run's terminal, which has to be taken over. With --keys the
text is typed without a return, and \r, \t, \x03 (ctrl+c) and the like stand for
keys.`,
		Example: "proctor input 7f3a 'ls -la'\nproctor input 7f3a --keys '\\x03'",
	}
	asJSON := jsonFlag(cmd)
	keys := cmd.Flags().Bool("keys", false, "type no return, and read \\r, \\t, \\x03 as keys")
	return argued(a, cmd, asJSON, func(args []string) (control.Command, error) {
		text := args[1] + "\r"
		if *keys {
			var err error
			if text, err = strconv.Unquote(`"` + quotable(args[1]) + `"`); err != nil {
				return control.Command{}, fmt.Errorf("%q cannot be read as keys: write \\r, \\t, \\x03 or \\\\", args[1])
			}
		}
		return control.Command{Cmd: control.Input, Data: []byte(text)}, nil
	})
}

// quotable escapes the double quotes of a text that are not escaped yet.
func quotable(text string) string {
	var out []byte
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			out = append(out, text[i], text[i+1])
			i++
		case text[i] == '"':
			out = append(out, '\\', '"')
		default:
			out = append(out, text[i])
		}
	}
	return string(out)
}

func resizeCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resize RUN COLS ROWS", Short: "Resize the terminal that was taken over", Args: cobra.ExactArgs(3),
		Example: "proctor resize 7f3a 120 40",
	}
	asJSON := jsonFlag(cmd)
	return argued(a, cmd, asJSON, func(args []string) (control.Command, error) {
		cols, err := strconv.Atoi(args[1])
		rows, err2 := strconv.Atoi(args[2])
		if errors.Join(err, err2) != nil {
			return control.Command{}, fmt.Errorf("%q by %q is no size: give columns and rows, such as 120 40", args[1], args[2])
		}
		return control.Command{Cmd: control.Resize, Cols: cols, Rows: rows}, nil
	})
}
