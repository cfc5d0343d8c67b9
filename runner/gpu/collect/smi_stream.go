package collect

import (
	"context"
	"slices"
	"sync"
	"time"

	"proctor/runner/gpu"
)

// smiStream reads samples from two nvidia-smi programs that are kept running,
// one for the devices and one for the processes. Neither marks where a round
// of its lines ends: a round is over when it has a line for every device, when
// a line comes about something that it has already, or when no line has come
// for a moment.
type smiStream struct {
	smi      *smi
	interval time.Duration
	gpus     *loop
	apps     *loop // nil when it could not be started

	mu      sync.Mutex
	devices round[gpu.Device]
	procs   round[app]
	fresh   chan struct{}
}

// A round collects lines that belong together.
type round[T any] struct {
	whole int           // rows that make it complete, 0 when that is not known
	quiet time.Duration // the pause after which it is complete as it is

	rows    []T // of the round that is being printed
	at      time.Time
	ended   []T       // the round before it
	endedAt time.Time // zero when there is none yet
}

// add takes a line in.
func (r *round[T]) add(row T, same func(a, b T) bool, now time.Time) {
	r.settle(now)
	if slices.ContainsFunc(r.rows, func(had T) bool { return same(had, row) }) {
		r.finish()
	}
	r.rows, r.at = append(r.rows, row), now
	if len(r.rows) == r.whole {
		r.finish()
	}
}

func (r *round[T]) finish() {
	r.ended, r.endedAt, r.rows = r.rows, r.at, nil
}

// settle ends a round that has been quiet for long enough.
func (r *round[T]) settle(now time.Time) {
	if len(r.rows) > 0 && now.Sub(r.at) >= r.quiet {
		r.finish()
	}
}

// startStream starts the programs. devices is how many there were a moment ago.
func startStream(s *smi, devices int, interval time.Duration) (source, error) {
	st := &smiStream{smi: s, interval: interval, fresh: make(chan struct{}, 1)}
	st.devices = round[gpu.Device]{whole: devices, quiet: interval / 2}
	st.procs = round[app]{quiet: interval / 4}
	var err error
	if st.gpus, err = s.startLoop(interval, s.query(), st.gpuLine); err != nil {
		return nil, err
	}
	if st.apps, err = s.startLoop(interval, "--query-compute-apps="+appColumns, st.appLine); err != nil {
		st.apps = nil // the processes stay unknown
	}
	return st, nil
}

func (s *smiStream) gpuLine(line string) {
	d, err := parseGPU(line, s.smi.columns)
	if err != nil {
		return // a remark; when it is about a fault, the program ends with it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.devices.add(d, func(a, b gpu.Device) bool { return a.Index == b.Index }, time.Now())
	select {
	case s.fresh <- struct{}{}:
	default:
	}
}

func (s *smiStream) appLine(line string) {
	a, err := parseApp(line)
	if err != nil {
		return // such as a line that says that nobody is there
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.procs.add(a, func(a, b app) bool { return a.uuid == b.uuid && a.PID == b.PID }, time.Now())
}

func (s *smiStream) close() {
	s.gpus.close()
	if s.apps != nil {
		s.apps.close()
	}
}

// poll waits for a round that was not handed out yet.
func (s *smiStream) poll(ctx context.Context) (gpu.Sample, error) {
	tick := time.NewTicker(s.interval / 8)
	defer tick.Stop()
	for {
		if devices := s.take(); devices != nil {
			return s.smi.sample(devices), nil
		}
		select {
		case <-ctx.Done():
			return gpu.Sample{}, ctx.Err()
		case <-s.gpus.ended:
			return gpu.Sample{}, s.gpus.err
		case <-s.fresh:
		case <-tick.C:
		}
	}
}

// take returns the newest complete round with its processes, once.
func (s *smiStream) take() []gpu.Device {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.devices.settle(now)
	s.procs.settle(now)
	devices := s.devices.ended
	if devices == nil {
		return nil
	}
	s.devices.ended = nil
	if s.apps == nil || s.apps.over() {
		return devices // without processes: unknown
	}
	apps := s.procs.ended
	if now.Sub(s.procs.endedAt) > 2*s.interval+s.procs.quiet {
		apps = nil // no line for so long: nobody is there
	}
	assign(devices, apps)
	return devices
}

// over reports whether the program has ended.
func (l *loop) over() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}
