package terminal

// grid is one screen: the primary or the alternate one.
type grid struct {
	rows  []row
	saved cursor // by DECSC or mode 1048/1049; home if never
}

// row is one line of a screen. cells[used:] are all zero, which keeps clearing
// and packing short lines cheap.
type row struct {
	cells   []cell
	used    int
	wide    bool // may hold characters two columns wide
	wrapped bool // the text goes on in the next row
}

func newGrid(cols, rows int) *grid {
	g := &grid{rows: make([]row, rows)}
	for i := range g.rows {
		g.rows[i] = newRow(cols)
	}
	return g
}

func newRow(cols int) row { return row{cells: make([]cell, cols)} }

func (g *grid) clearAll(fill cell) {
	for i := range g.rows {
		g.rows[i].reset(fill)
	}
}

// rotateUp moves rows top..bot up by n (1 ≤ n ≤ bot-top+1); the n lowest come in
// cleared.
func (g *grid) rotateUp(top, bot, n int, fill cell) {
	region := g.rows[top : bot+1]
	if n == 1 {
		first := region[0]
		copy(region, region[1:])
		region[len(region)-1] = first
	} else {
		rotateLeft(region, n)
	}
	for i := len(region) - n; i < len(region); i++ {
		region[i].reset(fill)
	}
}

// rotateDown moves rows top..bot down by n; the n highest come in cleared.
func (g *grid) rotateDown(top, bot, n int, fill cell) {
	region := g.rows[top : bot+1]
	rotateLeft(region, len(region)-n)
	for i := range n {
		region[i].reset(fill)
	}
}

func rotateLeft(rows []row, n int) {
	reverse(rows[:n])
	reverse(rows[n:])
	reverse(rows)
}

func reverse(rows []row) {
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
}

// reset clears the whole row.
func (r *row) reset(fill cell) {
	if fill == (cell{}) {
		clear(r.cells[:r.used])
		r.used = 0
	} else {
		for i := range r.cells {
			r.cells[i] = fill
		}
		r.used = len(r.cells)
	}
	r.wide, r.wrapped = false, false
}

// erase clears columns from..to (exclusive).
func (r *row) erase(from, to int, fill cell) {
	if from >= to {
		return
	}
	r.split(from)
	r.split(to)
	if to == len(r.cells) {
		r.wrapped = false
	}
	if fill != (cell{}) {
		for i := from; i < to; i++ {
			r.cells[i] = fill
		}
		r.used = max(r.used, to)
		return
	}
	if to < r.used {
		clear(r.cells[from:to])
	} else if from < r.used {
		clear(r.cells[from:r.used])
		r.used = from
	}
}

// insert shifts columns x and beyond right by n and clears what comes in.
func (r *row) insert(x, n int, fill cell) {
	cols := len(r.cells)
	n = min(n, cols-x)
	r.split(x)
	r.split(cols - n)
	copy(r.cells[x+n:], r.cells[x:cols-n])
	if r.used > x {
		r.used = min(r.used+n, cols)
	}
	r.wrapped = false
	r.eraseRaw(x, x+n, fill)
}

// remove takes n columns out at x; what follows moves left.
func (r *row) remove(x, n int, fill cell) {
	cols := len(r.cells)
	n = min(n, cols-x)
	r.split(x)
	r.split(x + n)
	copy(r.cells[x:], r.cells[x+n:])
	r.wrapped = false
	r.eraseRaw(cols-n, cols, fill)
	if fill == (cell{}) {
		r.used = min(r.used, cols-n)
	}
}

// eraseRaw overwrites without looking after halves of wide characters.
func (r *row) eraseRaw(from, to int, fill cell) {
	for i := from; i < to; i++ {
		r.cells[i] = fill
	}
	if fill != (cell{}) {
		r.used = max(r.used, to)
	}
}

// split makes column x the start of a character: a wide one that reaches over
// it becomes two blanks.
func (r *row) split(x int) {
	if r.wide && x > 0 && x < r.used && r.cells[x].glyph&glyphTail != 0 {
		r.cells[x-1], r.cells[x] = cell{}, cell{}
	}
}

// resize cuts or extends the row.
func (r *row) resize(cols int) {
	if cols < len(r.cells) {
		r.split(cols)
		r.wrapped = false
	}
	cells := make([]cell, cols)
	copy(cells, r.cells[:min(r.used, len(r.cells))])
	r.cells = cells
	r.used = min(r.used, cols)
}
