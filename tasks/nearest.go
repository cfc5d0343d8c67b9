package tasks

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest returns the known words that somebody who wrote word may have
// meant, best first and at most three, for the "did you mean" of an error. A
// word is near when at most a third of it, or two letters of a short one,
// would have to change; letter case does not count.
func Nearest(word string, known []string) []string {
	type candidate struct {
		word     string
		distance int
	}
	var near []candidate
	for _, k := range known {
		d := editDistance(strings.ToLower(word), strings.ToLower(k))
		if d <= max(2, len(word)/3) && d < len(k) {
			near = append(near, candidate{k, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var words []string
	for _, c := range near[:min(3, len(near))] {
		words = append(words, c.word)
	}
	return words
}

// editDistance counts the single-byte insertions, deletions and substitutions
// between a and b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
