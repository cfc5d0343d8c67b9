package e2e

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"proctor/agents/llm/scripted"
	"proctor/agents/llm/wire"
	"proctor/runner/control"
	"proctor/runner/event"
	"proctor/runner/terminal"
)

// BenchmarkHelp measures from the start of the program to the first byte of
// its help: what every command costs before it does anything.
func BenchmarkHelp(b *testing.B) {
	u := newUser(b)
	for b.Loop() {
		cmd := exec.Command(program, "--help")
		cmd.Env = u.env()
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		if n, err := out.Read(make([]byte, 1)); n != 1 {
			b.Fatal(err)
		}
		b.StopTimer()
		cmd.Wait()
		b.StartTimer()
	}
}

// BenchmarkFirstFrame measures from the start of the program in a terminal to
// the first frame with text in it, of the launch screen and of the console.
func BenchmarkFirstFrame(b *testing.B) {
	u := newUser(b)
	u.headless(u.task(task{}))
	for name, args := range map[string][]string{"launch": nil, "attach": {"attach"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				firstFrame(b, u, args)
			}
		})
	}
}

func firstFrame(b *testing.B, u *user, args []string) {
	cmd := exec.Command(program, args...)
	cmd.Env = u.env()
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
	if err != nil {
		b.Fatal(err)
	}
	defer master.Close()
	screen, buf := terminal.New(120, 40), make([]byte, 64<<10)
	for {
		n, err := master.Read(buf)
		if err != nil {
			b.Fatalf("no frame: %v", err)
		}
		screen.Write(buf[:n])
		if replies := screen.Replies(); len(replies) > 0 {
			master.Write(replies)
		}
		if strings.TrimSpace(strings.Join(screen.Text(0, screen.Lines()), "")) != "" {
			break
		}
	}
	b.StopTimer()
	cmd.Process.Kill()
	cmd.Wait()
	b.StartTimer()
}

// BenchmarkFreezeARun measures from the key to the answer, which comes when
// every process has stopped: four that compute, one that forks without end,
// and one that floods the terminal.
func BenchmarkFreezeARun(b *testing.B) {
	for _, box := range []string{"bwrap", "landlock", "none"} {
		b.Run(box, func(b *testing.B) {
			u := newUser(b)
			u.needBox(box)
			r := u.run(u.task(task{starter: `for i in 1 2 3 4; do setsid sh -c 'while :; do :; done' & done
setsid sh -c 'while :; do sh -c : ; done' &
echo up >up; yes flood
`}), "--sandbox", box)
			r.wrote("up")
			socket, err := r.Socket()
			if err != nil {
				b.Fatal(err)
			}
			do := func(c control.Name) time.Duration {
				started := time.Now()
				if _, err := control.Do(context.Background(), socket, control.Command{Cmd: c}); err != nil {
					b.Fatal(err)
				}
				return time.Since(started)
			}
			var took []time.Duration
			for b.Loop() {
				took = append(took, do(control.Freeze))
				b.StopTimer()
				if err := r.allStopped(); err != nil {
					b.Fatal(err)
				}
				do(control.Resume)
				time.Sleep(20 * time.Millisecond)
				b.StartTimer()
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
			b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms-worst")
		})
	}
}

// allStopped reports whether the processes of the run that were there a moment
// ago are there still, have no others beside them, and have used no time.
func (r run) allStopped() error {
	before := r.used()
	time.Sleep(10 * time.Millisecond)
	if after := r.used(); !maps.Equal(before, after) {
		return fmt.Errorf("nanoseconds used by each process: %v, a moment later %v", before, after)
	}
	return nil
}

// used is how many nanoseconds each of the run's processes has run.
func (r run) used() map[int]string {
	all := map[int]string{}
	for _, pid := range r.processes("") {
		all[pid], _, _ = strings.Cut(read(fmt.Sprintf("/proc/%d/schedstat", pid)), " ")
	}
	return all
}

// flood is a coloured log of training steps, in lines of 80 columns.
func flood(size int) []byte {
	var buf bytes.Buffer
	for i := 0; buf.Len() < size; i++ {
		fmt.Fprintf(&buf, "\x1b[3%dmepoch %6d\x1b[0m loss %.6f  lr %.2e  grad %.4f  throughput %7.1f img/s  eta %4ds\n",
			i%8, i, 1/float64(i+1), 1e-3/float64(i%97+1), float64(i%89)/89, 900+float64(i%101), i%3600)
	}
	return buf.Bytes()
}

// BenchmarkFlood measures how fast a program can write to its terminal: in a
// run, where it is recorded, searched for metrics and kept for the agent, and
// in tmux, which only shows it.
func BenchmarkFlood(b *testing.B) {
	const size = 64 << 20
	stream := flood(size)
	rates := map[string]float64{}
	b.Run("proctor", func(b *testing.B) {
		u := newUser(b)
		dir := u.task(task{starter: "cat stream; " + writeNumber, files: map[string]string{"environment/stream": string(stream)}})
		b.SetBytes(size)
		for b.Loop() {
			_, events := u.headless(dir)
			seconds := only[event.ActionFinished](b, events, event.TypeActionFinished)[0].Seconds
			rates["proctor"] = max(rates["proctor"], size/seconds/1e6)
		}
		b.ReportMetric(rates["proctor"], "MB/s-to-recording")
	})
	b.Run("tmux", func(b *testing.B) {
		if _, err := exec.LookPath("tmux"); err != nil {
			b.Skip(err)
		}
		u := newUser(b)
		path := write(b, u.path("stream"), string(stream))
		b.SetBytes(size)
		for b.Loop() {
			rates["tmux"] = max(rates["tmux"], size/tmuxSeconds(b, u, path)/1e6)
		}
		b.ReportMetric(rates["tmux"], "MB/s")
		if rates["proctor"] > 0 {
			b.ReportMetric(rates["proctor"]/rates["tmux"], "proctor/tmux")
		}
	})
}

// tmuxSeconds is how long cat takes to write a file to a pane of tmux.
func tmuxSeconds(b *testing.B, u *user, path string) float64 {
	tmux := func(args ...string) {
		cmd := exec.Command("tmux", append([]string{"-S", u.path("tmux"), "-f", "/dev/null"}, args...)...)
		cmd.Env = u.env()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("tmux %q: %v %s", args, err, out)
		}
	}
	took := u.path("took")
	os.Remove(took)
	tmux("new-session", "-d", "-x", "100", "-y", "30",
		"bash -c 'start=$EPOCHREALTIME; cat "+path+"; echo $start $EPOCHREALTIME >"+took+".new; mv "+took+".new "+took+"; sleep 1'")
	poll(b, "tmux has shown it", func() bool { return read(took) != "" })
	var start, end float64
	if _, err := fmt.Sscan(read(took), &start, &end); err != nil {
		b.Fatal(err)
	}
	return end - start
}

// BenchmarkMemory measures the supervisor and a console after 10 MB of output
// and after a hundred times as much; PROCTOR_BENCH_LARGE=1 makes that 1 GB,
// otherwise it is 100 MB.
func BenchmarkMemory(b *testing.B) {
	large := 100
	if os.Getenv("PROCTOR_BENCH_LARGE") == "1" {
		large = 1024
	}
	u := newUser(b)
	r := u.run(u.task(task{starter: fmt.Sprintf(`show() { for i in $(seq $1); do cat stream; done; }
show 1; touch small; while [ ! -e on ]; do sleep 0.05; done
show %d; touch large; while [ ! -e go ]; do sleep 0.05; done
`+writeNumber, large/10), files: map[string]string{"environment/stream": string(flood(10 << 20))}}))
	console := u.console("attach")
	console.shows("RUNNING")
	figures := func(mark string) (super, viewer float64) {
		poll(b, mark+" is written", func() bool { _, err := os.Stat(filepath.Join(r.Workspace(), mark)); return err == nil })
		return float64(resident(b, supervisor(r.Dir))) / 1024, float64(resident(b, console.cmd.Process.Pid)) / 1024
	}
	measure := sync.OnceValue(func() (m [4]float64) { // of one long run
		m[0], m[1] = figures("small")
		write(b, filepath.Join(r.Workspace(), "on"), "")
		m[2], m[3] = figures("large")
		return m
	})
	for b.Loop() {
		m := measure()
		b.ReportMetric(m[0], "MiB-supervisor-10MB")
		b.ReportMetric(m[2], "MiB-supervisor-large")
		b.ReportMetric(m[1], "MiB-console-10MB")
		b.ReportMetric(m[3], "MiB-console-large")
	}
	write(b, filepath.Join(r.Workspace(), "go"), "")
	r.ends()
}

// BenchmarkThousandSteps measures a run of the agent bash after a tenth of its
// steps and at its last: what its supervisor and a console hold, how long the
// console takes to show what a key does, and how long the log is.
// PROCTOR_BENCH_LARGE=1 makes it 1,000 steps, otherwise it is 200.
func BenchmarkThousandSteps(b *testing.B) {
	steps := 200
	if os.Getenv("PROCTOR_BENCH_LARGE") == "1" {
		steps = 1000
	}
	u := newUser(b)
	early, late, measured := make(chan struct{}), make(chan struct{}), make(chan struct{})
	u.withModel(func(n int, r scripted.Request) scripted.Turn {
		switch n {
		case steps / 10:
			close(early)
			<-measured
		case steps:
			close(late)
			<-measured
			return bashCall("echo 0.9 >out.txt")
		case steps + 1:
			return scripted.Turn{Calls: []scripted.Call{{Name: "submit", Args: `{}`}}}
		}
		turn := bashCall(fmt.Sprintf("seq %d %d # step", 100*n, 100*n+300))
		turn.Usage = &wire.Usage{Input: int64(len(r.Body)) / 3, Output: 20}
		return turn
	})
	r := u.run(u.task(task{}), "--agent", "bash", "--model", "scripted", "--time", "1h")
	console := u.console("attach")
	figures := func(reached chan struct{}) (m [3]float64) {
		<-reached
		console.shows("RUNNING")
		began := time.Now()
		console.press("?")
		console.shows("these keys")
		m[2] = float64(time.Since(began).Milliseconds())
		console.press("\x1b")
		poll(b, "the help is closed", func() bool { return !console.has("these keys") })
		m[0], m[1] = float64(resident(b, supervisor(r.Dir)))/1024, float64(resident(b, console.cmd.Process.Pid))/1024
		measured <- struct{}{}
		return m
	}
	measure := sync.OnceValue(func() (m [2][3]float64) {
		m[0] = figures(early)
		m[1] = figures(late)
		r.ends()
		return m
	})
	for b.Loop() {
		for i, when := range []string{"early", "late"} {
			m := measure()[i]
			b.ReportMetric(m[0], "MiB-supervisor-"+when)
			b.ReportMetric(m[1], "MiB-console-"+when)
			b.ReportMetric(m[2], "ms-key-"+when)
		}
		log, err := os.Stat(r.Events())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(log.Size())/1e6, "MB-log")
	}
}

// BenchmarkIdle measures what a console and a supervisor cost while nothing
// happens, in percent of one core.
func BenchmarkIdle(b *testing.B) {
	u := newUser(b)
	r := u.run(u.task(task{starter: "echo up >up; sleep 600\n"}))
	r.wrote("up")
	console := u.console("attach")
	console.shows("RUNNING")
	super, viewer := supervisor(r.Dir), console.cmd.Process.Pid
	const d = 3 * time.Second
	for b.Loop() {
		time.Sleep(500 * time.Millisecond) // what its start still had to do
		superBefore, viewerBefore := cpu(b, super), cpu(b, viewer)
		time.Sleep(d)
		b.ReportMetric(100*(cpu(b, super)-superBefore).Seconds()/d.Seconds(), "%-supervisor")
		b.ReportMetric(100*(cpu(b, viewer)-viewerBefore).Seconds()/d.Seconds(), "%-console")
	}
}

// cpu is the processor time that a process has used, from its scheduler
// statistics, which count nanoseconds.
func cpu(b *testing.B, pid int) time.Duration {
	var total time.Duration
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, path := range threads {
		var ns int64
		if _, err := fmt.Sscan(read(path), &ns); err == nil {
			total += time.Duration(ns)
		}
	}
	if total == 0 {
		b.Skip("this kernel does not count a process's time")
	}
	return total
}
