package search

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"proctor/tasks"
)

// hear applies a hint to the space. It returns the space that is left and
// the answer for whoever gave the hint; changed is false when the hint was
// refused or could not be read, and then the space is as before.
func hear(text string, now, whole space) (left space, answer string, changed bool) {
	if strings.EqualFold(strings.TrimSpace(text), "reset") {
		return whole, "all earlier hints undone", true
	}
	constraints, err := parseHint(text, now.knobs)
	if err != nil {
		return now, fmt.Sprintf("could not read %q: %v. %s", shorten(text), err, grammar(now.knobs)), false
	}
	left, err = now.narrow(constraints)
	if err != nil {
		return now, fmt.Sprintf("not followed: %v; the space is as before", err), false
	}
	var said []string
	for _, c := range constraints {
		said = append(said, c.String())
	}
	return left, strings.Join(said, " and ") + "; " + left.leftOf(whole), true
}

// narrow returns the part of the space that meets the constraints. A
// constraint that leaves a knob without any value is an error.
func (s space) narrow(constraints []constraint) (space, error) {
	left := maps.Clone(s.left)
	for _, c := range constraints {
		before := left[c.knob.Name]
		after := before.narrow(c)
		if _, ok := after.first(); !ok {
			return s, fmt.Errorf("%s leaves no value of %s, which is %v", c, c.knob.Name, before)
		}
		left[c.knob.Name] = after
	}
	s.left = left
	return s, nil
}

func (d domain) narrow(c constraint) domain {
	switch c.op {
	case in:
		var only []string
		for _, v := range c.values {
			if d.contains(v) && (!d.whole() || isWhole(v)) {
				only = append(only, v)
			}
		}
		d.only = append([]string{}, only...)
		return d
	case notIn:
		if !d.listed() {
			d.not = append(slices.Clone(d.not), c.values...)
		}
	default:
		d = d.cut(c.op, parsed(c.values[0]))
	}
	if d.listed() {
		d.only = slices.DeleteFunc(slices.Clone(d.only), func(v string) bool {
			return c.op == notIn && slices.Contains(c.values, v) ||
				d.knob.Type != tasks.KnobChoice && !d.inRange(parsed(v))
		})
	}
	return d
}

// cut moves a bound of the range to v.
func (d domain) cut(op op, v float64) domain {
	if d.whole() {
		switch op {
		case below:
			op, v = most, math.Ceil(v)-1
		case most:
			v = math.Floor(v)
		case above:
			op, v = least, math.Floor(v)+1
		case least:
			v = math.Ceil(v)
		}
	}
	switch open := op == below || op == above; op {
	case below, most:
		if v < d.hi || v == d.hi && open {
			d.hi, d.hiOpen = v, open
		}
	case above, least:
		if v > d.lo || v == d.lo && open {
			d.lo, d.loOpen = v, open
		}
	}
	return d
}

func isWhole(text string) bool {
	v := parsed(text)
	return v == math.Trunc(v)
}

// readNumber reads a finite decimal number.
func readNumber(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// grammar says what can be understood, in terms of the knobs at hand.
func grammar(knobs []tasks.Knob) string {
	var examples, names []string
	var choice, ordered bool
	for _, k := range knobs {
		d := newDomain(k)
		names = append(names, fmt.Sprintf("%s (%v)", k.Name, d))
		switch {
		case k.Type == tasks.KnobChoice && !choice:
			choice = true
			first, last := spelled(k.Values[0]), spelled(k.Values[len(k.Values)-1])
			examples = append(examples, k.Name+"="+last, k.Name+" in "+first+","+last, k.Name+"!="+last)
		case k.Type != tasks.KnobChoice && !ordered:
			ordered = true
			examples = append(examples, k.Name+"<"+d.at(0.7), d.at(0.3)+"<"+k.Name+"<"+d.at(0.7))
		}
	}
	return "I understand " + strings.Join(examples, ", ") + `, several joined by a comma or "and", and "reset". Knobs: ` + strings.Join(names, ", ")
}

// spelled writes a choice so that it reads as one word.
func spelled(value string) string {
	if value == "" || strings.IndexFunc(value, endsWord) >= 0 {
		return strconv.Quote(value)
	}
	return value
}

// shorten keeps a quoted hint to a line.
func shorten(text string) string {
	const limit = 60
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}
