package grade

import (
	"math"
	"strconv"
	"strings"
)

// Format prints a score for people: at most five decimals and no more than
// six significant digits where that loses nothing before the point, without
// trailing zeros; numbers too small or too large for that in scientific
// notation. The unit, when there is one, follows after a space.
func Format(x float64, unit string) string {
	text := formatNumber(x)
	if unit == "" {
		return text
	}
	return text + " " + unit
}

func formatNumber(x float64) string {
	size := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "infinity"
	case math.IsInf(x, -1):
		return "-infinity"
	case x == 0:
		return "0"
	case size < 1e-4 || size >= 1e12:
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	wholeDigits := max(1, int(math.Floor(math.Log10(size)))+1)
	decimals := min(5, max(0, 6-wholeDigits))
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
