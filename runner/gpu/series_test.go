package gpu

import (
	"encoding/json"
	"math"
	"testing"
)

func second(work float64, util, run, mem float64) Point {
	return Point{Work: work, Seconds: 1, Utilization: util, Run: run, Memory: mem, RunMemory: mem, Held: 1}
}

// Whatever its length, a run is kept in bounded memory, over its whole time
// axis, with the means intact.
func TestSeriesIsBounded(t *testing.T) {
	for _, length := range []int{100, 800, 801, 3600, 86_400} {
		var s Series
		for i := 1; i <= length; i++ {
			s.add(second(float64(i), float64(i%100), 10, float64(i)))
			if len(s.points) > maxPoints || len(s.recent) > 2*maxRecent {
				t.Fatalf("after %d seconds: %d points, %d recent", i, len(s.points), len(s.recent))
			}
		}
		points := s.Points()
		if length > maxPoints && len(points) < maxPoints/4 {
			t.Errorf("%d seconds: only %d points", length, len(points))
		}
		var sum, covered float64
		end := 0.0
		for _, p := range points {
			if start := p.Work - p.Seconds; math.Abs(start-end) > 1e-6 {
				t.Fatalf("%d seconds: a point begins at %v after one that ends at %v", length, start, end)
			}
			end = p.Work
			sum, covered = sum+p.Utilization*p.Seconds, covered+p.Seconds
		}
		var want float64
		for i := 1; i <= length; i++ {
			want += float64(i % 100)
		}
		if covered != float64(length) || math.Abs(sum-want) > 1e-3*want {
			t.Errorf("%d seconds: covers %v with the sum %v, want %v", length, covered, sum, want)
		}
		if last := points[len(points)-1]; last.Work != float64(length) || last.Memory != float64(length) {
			t.Errorf("%d seconds: the last point is %+v", length, last)
		}
		if r := s.Recent(); len(r) != min(length, maxRecent) || r[len(r)-1].Work != float64(length) {
			t.Errorf("%d seconds: %d recent points", length, len(r))
		}
	}
}

func TestSeriesOverlap(t *testing.T) {
	var s Series
	for i := 1; i <= 10; i++ {
		s.add(second(float64(i), 50, -1, 0))
	}
	s.add(Point{Work: 10, Seconds: 10, Utilization: 99, Held: 10}) // the log's event about the same time
	s.add(Point{Work: 12, Seconds: 10, Utilization: 20, Held: 10})
	points := s.Points()
	if len(points) != 11 {
		t.Fatalf("%d points", len(points))
	}
	if last := points[10]; last.Seconds != 2 || last.Held != 2 {
		t.Errorf("time that is covered already counts again: %+v", last)
	}
}

func TestSeriesBetween(t *testing.T) {
	var s Series
	for i := 1; i <= 100; i++ {
		p := second(float64(i), 20, 10, float64(i))
		if i > 40 {
			p.Utilization, p.Run = 80, -1
		}
		if i > 60 {
			p.Held, p.Utilization = 0, 3
		}
		s.add(p)
	}
	for _, tc := range []struct{ from, to, util, run, held, memory float64 }{
		{0, 40, 20, 10, 40, 40},
		{30, 50, 50, 10, 20, 50},
		{40, 100, 80, -1, 20, 60}, // only while it was held
		{70, 90, -1, -1, 0, -1},
		{39.5, 40.5, 50, 10, 1, 41},
		{200, 300, -1, -1, 0, -1},
	} {
		p := s.between(tc.from, tc.to)
		if math.Abs(p.Utilization-tc.util) > 1e-9 || math.Abs(p.Run-tc.run) > 1e-9 || math.Abs(p.Held-tc.held) > 1e-9 || p.Memory != tc.memory {
			t.Errorf("from %v to %v: %+v, want %+v", tc.from, tc.to, p, tc)
		}
	}
}

func TestSeriesJSON(t *testing.T) {
	var s, back Series
	for i := 1; i <= 2000; i++ {
		s.add(second(float64(i), 33.3333333, -1, 61000))
	}
	text, err := json.Marshal(&s)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 40_000 {
		t.Errorf("a series is %d bytes in a keyframe", len(text))
	}
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	a, b := s.Points(), back.Points()
	if len(a) != len(b) || b[5].Run != -1 || math.Abs(a[5].Utilization-b[5].Utilization) > 0.001 || b[len(b)-1].Work != 2000 {
		t.Errorf("%d points became %d: %+v and %+v", len(a), len(b), a[5], b[5])
	}
	back.add(second(2001, 10, 5, 1)) // and it goes on
	if last := back.Points()[len(back.Points())-1]; last.Work != 2001 {
		t.Errorf("after reading, the last point is %+v", last)
	}
}

func TestUseText(t *testing.T) {
	use := func(device string, run, util int, held float64) Use {
		u := Use{Device: device, Held: held}
		if run >= 0 {
			u.Run = &run
		}
		if util >= 0 {
			u.Utilization = &util
		}
		return u
	}
	for _, tc := range []struct {
		uses []Use
		want string
	}{
		{nil, ""},
		{[]Use{use("0", 23, 40, 60)}, "GPU 0 ran at 23 %: data-bound"},
		{[]Use{use("0", -1, 23, 60)}, "GPU 0 ran at 23 %: data-bound"},
		{[]Use{use("0", 23, 23, 3)}, "GPU 0 ran at 23 %"},
		{[]Use{use("0", 96, 96, 60), use("1", 2, 2, 60)}, "GPU 0 ran at 96 %; GPU 1 ran at 2 %: held but idle"},
		{[]Use{use("0", 20, 20, 60), use("1", 22, 22, 60), use("2", 31, 31, 60)}, "3 GPUs ran at 24 % (20 to 31): data-bound"},
		{[]Use{use("3:0", -1, -1, 60)}, ""},
	} {
		if got := (ActionUse{Devices: tc.uses}).String(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
