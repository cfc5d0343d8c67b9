package research

import (
	"fmt"
	"strings"
)

const (
	// diffContext is how many unchanged lines are shown around a change.
	diffContext = 3
	// diffCells bounds the table of a comparison; beyond it what differs is
	// shown as replaced.
	diffCells = 4 << 20
)

// A diffLine is a line of two texts: in both (' '), in the old one only
// ('-') or in the new one only ('+').
type diffLine struct {
	mark byte
	text string
}

// diff returns how two texts differ, line by line with some context, or ""
// when they are the same.
func diff(from, to string) string {
	if from == to {
		return ""
	}
	a, b := splitLines(from), splitLines(to)
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var all []diffLine
	for _, line := range a[:start] {
		all = append(all, diffLine{' ', line})
	}
	all = append(all, compare(a[start:len(a)-end], b[start:len(b)-end])...)
	for _, line := range a[len(a)-end:] {
		all = append(all, diffLine{' ', line})
	}
	return hunks(all)
}

// compare finds the longest common subsequence of two lists of lines.
func compare(a, b []string) []diffLine {
	var out []diffLine
	if len(a)*len(b) > diffCells {
		for _, line := range a {
			out = append(out, diffLine{'-', line})
		}
		for _, line := range b {
			out = append(out, diffLine{'+', line})
		}
		return out
	}
	width := len(b) + 1
	common := make([]int32, (len(a)+1)*width) // of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, diffLine{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[(i+1)*width+j] >= common[i*width+j+1]:
			out = append(out, diffLine{'-', a[i]})
			i++
		default:
			out = append(out, diffLine{'+', b[j]})
			j++
		}
	}
	return out
}

// hunks writes the changes with their context, each with the number of its
// first line in the new text.
func hunks(all []diffLine) string {
	near := make([]bool, len(all))
	for i, line := range all {
		if line.mark == ' ' {
			continue
		}
		for j := max(0, i-diffContext); j <= min(len(all)-1, i+diffContext); j++ {
			near[j] = true
		}
	}
	var b strings.Builder
	number := 1
	for i, line := range all {
		if near[i] {
			if i == 0 || !near[i-1] {
				fmt.Fprintf(&b, "@@ line %d @@\n", number)
			}
			b.WriteByte(line.mark)
			b.WriteString(strings.TrimSuffix(line.text, "\n") + "\n")
		}
		if line.mark != '-' {
			number++
		}
	}
	return b.String()
}
