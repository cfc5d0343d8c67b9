package collect

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"proctor/runner/gpu"
)

// An smi is an nvidia-smi program that works, and the columns it knows.
type smi struct {
	path    string
	columns []column
	driver  string
}

// openSMI finds nvidia-smi and asks it once. With watch it is then kept
// running: starting it anew for each sample would take more of the processor
// than sampling may, and seconds where the driver is not kept loaded.
func openSMI(ctx context.Context, watch bool, interval time.Duration) (source, error) {
	path, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return nil, noGPU("nvidia-smi is not installed")
	}
	s := &smi{path: path, columns: columns}
	devices, err := s.once(ctx)
	if err != nil {
		return nil, err
	}
	if len(devices) == 0 {
		return nil, noGPU("nvidia-smi lists none")
	}
	if out, err := s.output(ctx, "--query-gpu=driver_version", "--format=csv,noheader,nounits"); err == nil {
		s.driver, _, _ = strings.Cut(strings.TrimSpace(out), "\n")
	}
	if watch {
		return startStream(s, len(devices), interval)
	}
	return &smiOnce{smi: s}, nil
}

// query is the argument that asks for every column.
func (s *smi) query() string {
	var names []string
	for _, c := range s.columns {
		names = append(names, c.name)
	}
	return "--query-gpu=" + strings.Join(names, ",")
}

const csvFormat = "--format=csv,noheader,nounits"

// unknownColumn is how nvidia-smi refuses a column.
var unknownColumn = regexp.MustCompile(`Field "([^"]+)" is not a valid field`)

// once asks for every device, leaving out columns that this driver does not
// know.
func (s *smi) once(ctx context.Context) ([]gpu.Device, error) {
	for {
		out, err := s.output(ctx, s.query(), csvFormat)
		refused := unknownColumn.FindStringSubmatch(out)
		if err != nil && refused != nil && s.drop(refused[1]) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var devices []gpu.Device
		for line := range strings.Lines(out) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			d, err := parseGPU(line, s.columns)
			if err != nil {
				return nil, err
			}
			devices = append(devices, d)
		}
		return devices, nil
	}
}

// drop leaves out a column, unless devices cannot be told apart without it.
func (s *smi) drop(name string) bool {
	i := slices.IndexFunc(s.columns, func(c column) bool { return c.name == name })
	if i < 3 {
		return false
	}
	s.columns = slices.Delete(slices.Clone(s.columns), i, i+1)
	return true
}

// apps asks for the processes.
func (s *smi) apps(ctx context.Context) ([]app, error) {
	out, err := s.output(ctx, "--query-compute-apps="+appColumns, csvFormat)
	if err != nil {
		return nil, err
	}
	var apps []app
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		a, err := parseApp(line)
		if err != nil {
			return nil, err
		}
		apps = append(apps, a)
	}
	return apps, nil
}

// output runs nvidia-smi. What it prints comes back also when it fails.
func (s *smi) output(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.path, args...)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if err == nil {
		return out.String(), nil
	}
	text := out.String()
	said, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if strings.Contains(text, "couldn't communicate with the NVIDIA driver") || strings.Contains(text, "No devices were found") {
		return text, noGPU("nvidia-smi says: %s", said)
	}
	return text, fmt.Errorf("running %s %s: %w: %s", s.path, args[0], err, said)
}

// smiOnce reads each sample with nvidia-smi processes of its own.
type smiOnce struct{ smi *smi }

func (s *smiOnce) close() {}

func (s *smiOnce) poll(ctx context.Context) (gpu.Sample, error) {
	devices, err := s.smi.once(ctx)
	if err != nil {
		return gpu.Sample{}, err
	}
	if apps, err := s.smi.apps(ctx); err == nil { // else the processes stay unknown
		assign(devices, apps)
	}
	return s.smi.sample(devices), nil
}

func (s *smi) sample(devices []gpu.Device) gpu.Sample {
	return gpu.Sample{
		At: time.Now(), Source: "nvidia-smi", Driver: s.driver, Devices: devices, ForeignPIDs: foreign(devices),
	}
}

// A loop is an nvidia-smi that repeats a query until it is stopped.
type loop struct {
	cmd   *exec.Cmd
	stop  context.CancelFunc
	ended chan struct{}
	err   error // why it ended; to be read after ended is closed
}

// startLoop runs a query every interval and calls line, from one goroutine,
// for each line it prints.
func (s *smi) startLoop(interval time.Duration, query string, line func(string)) (*loop, error) {
	ctx, stop := context.WithCancel(context.Background())
	l := &loop{stop: stop, ended: make(chan struct{})}
	l.cmd = exec.CommandContext(ctx, s.path, query, csvFormat, "-lms", strconv.FormatInt(max(1, interval.Milliseconds()), 10))
	l.cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	l.cmd.Stderr = &stderr
	out, err := l.cmd.StdoutPipe()
	if err == nil {
		err = l.cmd.Start()
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("starting %s: %w", s.path, err)
	}
	go func() {
		defer close(l.ended)
		var last string
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if last = strings.TrimSpace(lines.Text()); last != "" {
				line(last)
			}
		}
		err := l.cmd.Wait()
		if text := strings.TrimSpace(stderr.String()); text != "" {
			last = text
		}
		if err != nil {
			l.err = fmt.Errorf("%s ended: %w: %s", s.path, err, last)
		} else {
			l.err = errors.New(s.path + " ended by itself")
		}
	}()
	return l, nil
}

// close ends the program and waits for it.
func (l *loop) close() {
	l.stop()
	<-l.ended
}
