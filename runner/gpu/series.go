package gpu

import (
	"encoding/json"
	"fmt"
	"math"
)

// A Point is one device over a stretch of working time. Negative is unknown.
type Point struct {
	Work        float64 // working seconds at its end
	Seconds     float64 // its length
	Utilization float64 // percent, mean
	Run         float64 // percent of the run's processes, mean
	Memory      float64 // MiB, highest
	RunMemory   float64 // MiB, highest
	Held        float64 // seconds in which a process of the run was on the device
}

// A Series is one device over the run's whole time axis in bounded memory:
// when it is full, neighbours are joined and points cover twice the time. The
// newest stretch is kept unjoined beside it. The zero value is empty.
type Series struct {
	points []Point // the whole run, oldest first
	width  float64 // seconds that a point of points may cover
	recent []Point // the newest, as they came
}

// How many points a Series keeps: more than twice the dots of a chart across
// a wide screen, and at one sample a second the last ten minutes in full.
const (
	maxPoints = 800
	maxRecent = 600
)

// Points returns the whole run, oldest first. The slice is only good until
// the next add.
func (s *Series) Points() []Point { return s.points }

// Recent returns the newest points at the rate at which they came, oldest
// first; after a State was read from JSON there are none at first. The slice
// is only good until the next add.
func (s *Series) Recent() []Point { return s.recent[max(0, len(s.recent)-maxRecent):] }

// add appends a point. What it covers of time that is already covered is cut
// off; a point without new time is dropped.
func (s *Series) add(p Point) {
	if n := len(s.points); n > 0 {
		p.Held = min(p.Held, p.Work-s.points[n-1].Work)
		p.Seconds = min(p.Seconds, p.Work-s.points[n-1].Work)
	}
	if p.Seconds <= 0 {
		return
	}
	if s.recent = append(s.recent, p); len(s.recent) >= 2*maxRecent {
		s.recent = append(s.recent[:0], s.recent[len(s.recent)-maxRecent:]...)
	}
	if s.points = joinInto(s.points, p, s.width); len(s.points) <= maxPoints {
		return
	}
	for len(s.points) > maxPoints/2 {
		s.width = max(2*s.width, 2*s.points[0].Seconds)
		joined := s.points[:0]
		for _, p := range s.points {
			joined = joinInto(joined, p, s.width)
		}
		s.points = joined
	}
}

// joinInto appends p, or joins it with the last point where both together
// cover at most width.
func joinInto(points []Point, p Point, width float64) []Point {
	n := len(points)
	if n == 0 || points[n-1].Seconds+p.Seconds > width {
		return append(points, p)
	}
	l := &points[n-1]
	l.Utilization = mean(l.Utilization, l.Seconds, p.Utilization, p.Seconds)
	l.Run = mean(l.Run, l.Seconds, p.Run, p.Seconds)
	l.Memory, l.RunMemory = max(l.Memory, p.Memory), max(l.RunMemory, p.RunMemory)
	l.Work, l.Seconds, l.Held = p.Work, l.Seconds+p.Seconds, l.Held+p.Held
	return points
}

// mean joins two means over m and n seconds; a negative one does not count.
func mean(a, m, b, n float64) float64 {
	switch {
	case a < 0:
		return b
	case b < 0:
		return a
	}
	return (a*m + b*n) / (m + n)
}

// between joins everything from one working time to another into one point,
// counting only the time in which the run held the device.
func (s *Series) between(from, to float64) Point {
	points := s.points
	if r := s.Recent(); len(r) > 0 && r[0].Work-r[0].Seconds <= from {
		points = r
	}
	sum := Point{Work: to, Utilization: -1, Run: -1, Memory: -1, RunMemory: -1}
	for _, p := range points {
		overlap := min(to, p.Work) - max(from, p.Work-p.Seconds)
		if overlap <= 0 || p.Held <= 0 {
			continue
		}
		held := overlap * p.Held / p.Seconds
		sum.Utilization = mean(sum.Utilization, sum.Held, p.Utilization, held)
		sum.Run = mean(sum.Run, sum.Held, p.Run, held)
		sum.Memory, sum.RunMemory = max(sum.Memory, p.Memory), max(sum.RunMemory, p.RunMemory)
		sum.Seconds, sum.Held = sum.Seconds+overlap, sum.Held+held
	}
	return sum
}

// seriesJSON is a Series in a keyframe: a row of numbers a point.
type seriesJSON struct {
	Width  float64      `json:"width"`
	Points [][7]float64 `json:"points"`
}

// MarshalJSON writes the whole run compactly, without the recent stretch.
func (s *Series) MarshalJSON() ([]byte, error) {
	j := seriesJSON{Width: s.width, Points: make([][7]float64, len(s.points))}
	for i, p := range s.points {
		j.Points[i] = [7]float64{
			milli(p.Work), milli(p.Seconds), milli(p.Utilization), milli(p.Run), p.Memory, p.RunMemory, milli(p.Held),
		}
	}
	return json.Marshal(j)
}

// milli rounds to three decimals.
func milli(v float64) float64 { return math.Round(v*1000) / 1000 }

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Series) UnmarshalJSON(data []byte) error {
	var j seriesJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("reading a GPU series: %w", err)
	}
	*s = Series{width: j.Width, points: make([]Point, len(j.Points))}
	for i, p := range j.Points {
		s.points[i] = Point{p[0], p[1], p[2], p[3], p[4], p[5], p[6]}
	}
	return nil
}
