package search

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"proctor/tasks"
)

// A domain is what is left of one knob's values. It is a value: narrowing
// makes another.
type domain struct {
	knob           tasks.Knob
	lo, hi         float64 // the range of a number
	loOpen, hiOpen bool    // the bound itself is not in it; never for whole numbers
	only           []string
	not            []string // values cut out of a range
}

func newDomain(k tasks.Knob) domain {
	d := domain{knob: k, lo: k.Min, hi: k.Max}
	if k.Type == tasks.KnobChoice {
		d.only = append([]string{}, k.Values...)
	}
	return d
}

// listed reports whether the values are a list rather than a range.
func (d domain) listed() bool { return d.only != nil }

func (d domain) whole() bool { return d.knob.Type == tasks.KnobInt }

func (d domain) contains(text string) bool {
	if d.listed() {
		return slices.Contains(d.only, text)
	}
	v, err := strconv.ParseFloat(text, 64)
	return err == nil && d.inRange(v) && !slices.Contains(d.not, text)
}

func (d domain) inRange(v float64) bool {
	return (v > d.lo || v == d.lo && !d.loOpen) && (v < d.hi || v == d.hi && !d.hiOpen)
}

// first returns a value of the domain, the lowest where there is one; ok is
// false when the domain is empty.
func (d domain) first() (text string, ok bool) {
	if d.listed() {
		if len(d.only) == 0 {
			return "", false
		}
		return d.only[0], true
	}
	if d.whole() {
		for v := d.lo; v <= d.hi && v <= d.lo+float64(len(d.not)); v++ {
			if text := number(v); d.contains(text) {
				return text, true
			}
		}
		return "", false
	}
	// Fewer values are cut out than are looked at here, unless the range is
	// so narrow that they are all the same number.
	for i := range len(d.not) + 3 {
		if text := number(d.lo + (d.hi-d.lo)*float64(i)/float64(len(d.not)+2)); d.contains(text) {
			return text, true
		}
	}
	return "", false
}

// values lists the domain when it has at most limit values.
func (d domain) values(limit int) ([]string, bool) {
	switch {
	case d.listed():
		return d.only, len(d.only) <= limit
	case !d.whole() && d.lo < d.hi || d.hi-d.lo >= float64(limit):
		return nil, false
	}
	var out []string
	for v := d.lo; v <= d.hi; v++ {
		if text := number(v); d.contains(text) {
			out = append(out, text)
		}
	}
	return out, true
}

// draw returns a value by chance, even over the domain or, for a knob on a
// logarithmic scale, over its logarithm.
func (d domain) draw(r *rand.Rand) string {
	if d.listed() {
		return d.only[r.IntN(len(d.only))]
	}
	for range 64 {
		if text := d.at(r.Float64()); d.contains(text) {
			return text
		}
	}
	text, _ := d.first()
	return text
}

// near returns a value in the neighbourhood of another one.
func (d domain) near(r *rand.Rand, text string) string {
	const (
		step   = 0.12 // standard deviation, of the whole range
		change = 0.2  // of a choice
	)
	if d.listed() {
		if d.contains(text) && r.Float64() >= change {
			return text
		}
		return d.draw(r)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return d.draw(r)
	}
	for range 16 {
		next := d.at(min(1, max(0, d.position(v)+step*r.NormFloat64())))
		if next != text && d.contains(next) {
			return next
		}
	}
	return d.draw(r)
}

func (d domain) logarithmic() bool { return d.knob.Log && d.lo > 0 }

// at returns the value at position u of the range, from 0 to 1, in four
// significant digits.
func (d domain) at(u float64) string {
	v := d.lo + u*(d.hi-d.lo)
	switch {
	case d.whole() && d.logarithmic():
		// Half a step either way gives the ends the share of the others.
		v = math.Exp(math.Log(d.lo-0.5) + u*(math.Log(d.hi+0.5)-math.Log(d.lo-0.5)))
	case d.whole():
		v = d.lo - 0.5 + u*(d.hi-d.lo+1)
	case d.logarithmic():
		v = math.Exp(math.Log(d.lo) + u*(math.Log(d.hi)-math.Log(d.lo)))
	}
	if d.whole() {
		return number(min(d.hi, max(d.lo, math.Round(v))))
	}
	return d.short(v)
}

// short writes v in four significant digits, or in all where the range is
// too narrow for four.
func (d domain) short(v float64) string {
	if short := parsed(strconv.FormatFloat(v, 'g', 4, 64)); d.inRange(short) {
		return number(short)
	}
	return number(v)
}

// position is the reverse of at.
func (d domain) position(v float64) float64 {
	lo, hi := d.lo, d.hi
	if d.logarithmic() {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(max(v, d.lo))
	}
	if lo == hi {
		return 0
	}
	return (v - lo) / (hi - lo)
}

// rung returns the value of a fidelity knob at the rung that is level
// divisions by eta below the top: the greatest that is no more than its
// share, or else the least.
func (d domain) rung(level int, eta float64) string {
	share := math.Pow(eta, -float64(level))
	if d.listed() {
		values := slices.Clone(d.only)
		slices.SortFunc(values, func(a, b string) int { return cmp.Compare(parsed(a), parsed(b)) })
		target := parsed(values[len(values)-1]) * share
		i := len(values) - 1
		for i > 0 && parsed(values[i]) > target {
			i--
		}
		return values[i]
	}
	v := max(d.lo, d.hi*share)
	if d.whole() {
		v = max(d.lo, math.Floor(v+1e-9))
	}
	const steps = 64
	for i := steps; i > 0; i-- { // that very value may be cut out
		below := d.lo + (v-d.lo)*float64(i)/steps
		if d.whole() {
			below = math.Round(below)
		}
		if text := d.short(below); d.contains(text) {
			return text
		}
	}
	text, _ := d.first()
	return text
}

// depth is how often the top of a fidelity knob can be divided by eta before
// it falls under the bottom.
func (d domain) depth(eta float64) int {
	if d.listed() {
		return len(d.only) - 1
	}
	lo := d.lo
	if lo <= 0 {
		lo = 1
		if !d.whole() {
			lo = d.hi / math.Pow(eta, 3)
		}
	}
	if d.hi <= lo {
		return 0
	}
	return int(math.Log(d.hi/lo)/math.Log(eta) + 1e-9)
}

// String says what is left, such as "knn or mlp" or "0.001 to below 0.1".
func (d domain) String() string {
	if d.listed() {
		return either(d.only)
	}
	lo, hi := number(d.lo), number(d.hi)
	if d.loOpen {
		lo = "above " + lo
	}
	if d.hiOpen {
		hi = "below " + hi
	}
	s := lo + " to " + hi
	if len(d.not) > 0 {
		s += " except " + strings.Join(d.not, ", ")
	}
	return s
}

func either(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return fmt.Sprintf("%s or %s", strings.Join(words[:last], ", "), words[last])
}

// number writes v so that equal values have equal text.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// parsed returns the number that a value of a numeric knob is.
func parsed(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64)
	return v
}
