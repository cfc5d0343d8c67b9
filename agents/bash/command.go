package bash

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"proctor/agents"
	"proctor/agents/conversation"
	"proctor/agents/llm"
)

// longest is the longest command, in bytes: a system takes no argument above
// 128 KiB.
const longest = 100_000

// environment keeps programs from waiting for somebody at the keyboard.
var environment = [...]string{
	"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "GIT_TERMINAL_PROMPT=0",
	"DEBIAN_FRONTEND=noninteractive", "PIP_NO_INPUT=1", "PYTHONUNBUFFERED=1",
}

// bashArgs is what the model says of a command.
type bashArgs struct {
	Command    string  `json:"command"`
	Timeout    seconds `json:"timeout_s"`
	Background bool    `json:"background"`
}

// seconds is a number that some models write in quotes.
type seconds float64

func (s *seconds) UnmarshalJSON(text []byte) error {
	bare := strings.Trim(string(text), `"`)
	if bare == "" || bare == "null" {
		return nil
	}
	v, err := strconv.ParseFloat(bare, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return fmt.Errorf("timeout_s = %s is not a number of seconds", text)
	}
	*s = seconds(v)
	return nil
}

// read takes the arguments from a call; its error is for the model to read.
func (a *bashArgs) read(call llm.ToolCall) error {
	if err := call.Decode(a); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(a.Command) == "":
		return fmt.Errorf("the command is empty")
	case strings.ContainsRune(a.Command, 0):
		return fmt.Errorf("the command has a zero byte in it")
	case len(a.Command) > longest:
		return fmt.Errorf("the command has %d bytes, but no more than %d can be passed; write a long file in several pieces", len(a.Command), longest)
	}
	return nil
}

// bash runs a command and tells the model what came of it.
func (l *loop) bash(ctx context.Context, call llm.ToolCall) (outcome, error) {
	var args bashArgs
	if err := args.read(call); err != nil {
		return wrong("%v", err), nil
	}
	if args.Background {
		return l.detach(ctx, args.Command)
	}
	limit := l.limit(args.Timeout)
	obs, o, err := l.execute(ctx, agents.Action{
		Kind: agents.Execute, Title: title(args.Command), Shell: args.Command, Timeout: limit,
	})
	if err != nil || o.did != acted {
		return o, err
	}
	how := fmt.Sprintf("exit code %d", obs.ExitCode)
	if obs.TimedOut {
		how = fmt.Sprintf("killed after its time limit of %s", limit)
	}
	ran := args.Command
	if obs.Instead != "" {
		ran, o.text = obs.Instead, fmt.Sprintf("[the person had this run instead of your command: %s]\n", obs.Instead)
	}
	o.text += fmt.Sprintf("[%s, %.1f s]\n%s", how, obs.Seconds, or(strings.TrimRight(obs.Text, " \t\r\n"), "(no output)"))
	o.trace = fmt.Sprintf("$ %s → %s", title(ran), how)
	for _, m := range obs.Metrics {
		o.trace = fmt.Sprintf("$ %s → %s, %s %g", title(ran), how, m.Name, m.Value)
	}
	return o, nil
}

// execute runs an action. What the host refuses while the run goes on is for
// the model to know; it is an error when the run is over.
func (l *loop) execute(ctx context.Context, a agents.Action) (agents.Observation, outcome, error) {
	a.Env = environment[:]
	obs, err := l.Run(ctx, a)
	if err != nil {
		if ctx.Err() != nil {
			return obs, outcome{}, err
		}
		if spent := conversation.Spent(l.Remaining()); spent != nil {
			return obs, outcome{}, fmt.Errorf("%w: %w", spent, err)
		}
		return obs, wrong("%v", err), nil
	}
	if obs.Denied {
		text := "The person did not allow this: " + or(obs.Text, "without a reason")
		return obs, outcome{text: text, trace: fmt.Sprintf("$ %s → not allowed: %s", a.Title, title(obs.Text)), did: refused}, nil
	}
	return obs, outcome{did: acted}, nil
}

// limit is a command's time limit: what the model asks for, or else the
// configured one or a share of what is left, and never more than is left.
func (l *loop) limit(asked seconds) time.Duration {
	left := time.Duration(math.MaxInt64)
	if r := l.Remaining(); r.Time != nil {
		left = *r.Time
	}
	limit := min(time.Duration(l.options.Timeout), max(time.Second, time.Duration(float64(left)*l.options.Share)))
	if asked > 0 {
		limit = time.Duration(min(float64(asked), math.MaxInt64/2/1e9) * 1e9)
	}
	limit = max(min(limit, left), time.Millisecond)
	if limit > time.Second {
		limit = limit.Round(time.Second)
	}
	return limit
}

// backgroundDir is where the workspace keeps the output of what runs in the
// background.
const backgroundDir = ".proctor-bg"

// detached starts a command in a session of its own, where there is setsid,
// so that it outlives its terminal and can be ended with all its children. The
// terminal may go before nohup is there to ignore that.
const detached = `mkdir -p %[1]s && { trap '' HUP; s=; command -v setsid >/dev/null && s=setsid
$s nohup sh -c 'sh -c "$1"; echo $? >"$2.exit"' sh %[3]s %[1]s/%[2]d </dev/null >%[1]s/%[2]d.log 2>&1 &
echo $! >%[1]s/%[2]d.pid; }`

// detach starts a command in the background.
func (l *loop) detach(ctx context.Context, command string) (outcome, error) {
	n := l.background + 1
	obs, o, err := l.execute(ctx, agents.Action{
		Kind: agents.Execute, Title: title(command) + " &",
		Shell: fmt.Sprintf(detached, backgroundDir, n, quote(command)), Timeout: time.Minute,
	})
	if err != nil || o.did != acted {
		return o, err
	}
	if obs.ExitCode != 0 || obs.TimedOut {
		o.text = fmt.Sprintf("The command could not be started in the background (exit code %d): %s", obs.ExitCode, obs.Text)
		return o, nil
	}
	l.background = n
	file := fmt.Sprintf("%s/%d", backgroundDir, n)
	o.text = fmt.Sprintf("Started in the background.\n- its output so far: tail -n 50 %[1]s.log\n"+
		"- its exit code, once it has finished: cat %[1]s.exit\n- to end it: kill -- -$(cat %[1]s.pid)", file)
	o.trace = fmt.Sprintf("$ %s & → output in %s.log", title(command), file)
	return o, nil
}

// quote makes a text one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// title is a command on one line, for lists.
func title(command string) string {
	const most = 160
	first, _, more := strings.Cut(strings.TrimSpace(command), "\n")
	words := []rune(strings.Join(strings.Fields(first), " "))
	if len(words) > most {
		words, more = words[:most], true
	}
	if more {
		return string(words) + " …"
	}
	return string(words)
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
