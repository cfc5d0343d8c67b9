package verdict

import (
	"strings"
	"unicode"
)

// glyphs are letters five dots high, for what is to be read from across the
// room. Two dots share a cell, one above the other.
var glyphs = map[rune][5]string{
	'0': {" ## ", "#  #", "#  #", "#  #", " ## "},
	'1': {" # ", "## ", " # ", " # ", "###"},
	'2': {"### ", "   #", " ## ", "#   ", "####"},
	'3': {"### ", "   #", " ## ", "   #", "### "},
	'4': {"#  #", "#  #", "####", "   #", "   #"},
	'5': {"####", "#   ", "### ", "   #", "### "},
	'6': {" ## ", "#   ", "### ", "#  #", " ## "},
	'7': {"####", "   #", "  # ", " #  ", " #  "},
	'8': {" ## ", "#  #", " ## ", "#  #", " ## "},
	'9': {" ## ", "#  #", " ###", "   #", " ## "},
	'.': {" ", " ", " ", " ", "#"},
	'-': {"   ", "   ", "###", "   ", "   "},
	'+': {"   ", " # ", "###", " # ", "   "},
	'%': {"#  #", "  # ", " #  ", "#   ", "#  #"},
	' ': {"  ", "  ", "  ", "  ", "  "},
	'A': {" ## ", "#  #", "####", "#  #", "#  #"},
	'B': {"### ", "#  #", "### ", "#  #", "### "},
	'C': {" ###", "#   ", "#   ", "#   ", " ###"},
	'D': {"### ", "#  #", "#  #", "#  #", "### "},
	'E': {"####", "#   ", "### ", "#   ", "####"},
	'F': {"####", "#   ", "### ", "#   ", "#   "},
	'G': {" ###", "#   ", "# ##", "#  #", " ###"},
	'H': {"#  #", "#  #", "####", "#  #", "#  #"},
	'I': {"###", " # ", " # ", " # ", "###"},
	'L': {"#   ", "#   ", "#   ", "#   ", "####"},
	'M': {"#   #", "## ##", "# # #", "#   #", "#   #"},
	'N': {"#   #", "##  #", "# # #", "#  ##", "#   #"},
	'O': {" ## ", "#  #", "#  #", "#  #", " ## "},
	'P': {"### ", "#  #", "### ", "#   ", "#   "},
	'R': {"### ", "#  #", "### ", "# # ", "#  #"},
	'S': {" ###", "#   ", " ## ", "   #", "### "},
	'T': {"#####", "  #  ", "  #  ", "  #  ", "  #  "},
	'U': {"#  #", "#  #", "#  #", "#  #", " ## "},
	'V': {"#   #", "#   #", " # # ", " # # ", "  #  "},
	'Z': {"####", "  # ", " #  ", "#   ", "####"},
}

// big writes text in three lines of large letters; ok is false when a
// character has none or it would be wider than width cells.
func big(text string, width int) (lines [3]string, ok bool) {
	var dots [6]strings.Builder
	for i, r := range text {
		g, known := glyphs[unicode.ToUpper(r)]
		if !known {
			return lines, false
		}
		for y := range dots {
			if i > 0 {
				dots[y].WriteByte(' ')
			}
			if y < len(g) {
				dots[y].WriteString(g[y])
			} else {
				dots[y].WriteString(strings.Repeat(" ", len(g[0])))
			}
		}
	}
	if dots[0].Len() > width {
		return lines, false
	}
	for row := range lines {
		upper, lower := dots[2*row].String(), dots[2*row+1].String()
		var b strings.Builder
		for x := range len(upper) {
			b.WriteString(half(upper[x] == '#', lower[x] == '#'))
		}
		lines[row] = b.String()
	}
	return lines, true
}

func half(upper, lower bool) string {
	switch {
	case upper && lower:
		return "█"
	case upper:
		return "▀"
	case lower:
		return "▄"
	}
	return " "
}
