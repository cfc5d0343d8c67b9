package terminal

// Resize changes the screen's size. Lines are cut or extended, not wrapped
// anew. A lower screen loses blank rows below the cursor first, then its top rows
// move to the scrollback; a higher one takes them back.
func (t *Terminal) Resize(cols, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	cols, rows = clampSize(cols, maxCols), clampSize(rows, maxRows)
	if cols == t.cols && rows == t.rows {
		return
	}
	if cols != t.cols {
		t.resizeCols(cols)
	}
	if rows != t.rows {
		t.resizeRows(rows)
	}
	t.top, t.bot = 0, rows-1
	// Not moveTo: a cursor that waits to wrap goes on waiting in a last column.
	t.cursor.pending = t.cursor.pending && t.cursor.x == cols-1
	t.cursor.x = min(t.cursor.x, cols-1)
	t.joinable = false
	t.version++
}

func (t *Terminal) resizeCols(cols int) {
	t.cols = cols
	for _, g := range []*grid{t.primary, t.alternate} {
		if g == nil {
			continue
		}
		for y := range g.rows {
			g.rows[y].resize(cols)
		}
	}
	tabs := defaultTabs(cols)
	copy(tabs, t.tabs)
	t.tabs = tabs
}

func (t *Terminal) resizeRows(rows int) {
	for _, g := range []*grid{t.primary, t.alternate} {
		if g == nil {
			continue
		}
		y := g.saved.y
		if g == t.grid {
			y = t.cursor.y
		}
		var moved int
		if rows < len(g.rows) {
			moved = t.shrink(g, rows, y)
		} else {
			moved = t.enlarge(g, rows)
		}
		g.saved.y = min(max(g.saved.y+moved, 0), rows-1)
		if g == t.grid {
			t.cursor.y = min(max(y+moved, 0), rows-1)
		}
	}
	t.rows = rows
}

// shrink removes rows from g, whose cursor is in row y, and returns by how much
// the text moved.
func (t *Terminal) shrink(g *grid, rows, y int) (moved int) {
	for len(g.rows) > rows && len(g.rows)-1 > y && g.rows[len(g.rows)-1].blank() {
		g.rows = g.rows[:len(g.rows)-1]
	}
	n := len(g.rows) - rows
	if g == t.primary {
		for i := range n {
			t.keep(&g.rows[i])
		}
	}
	g.rows = append([]row(nil), g.rows[n:]...)
	return -n
}

// enlarge adds rows to g and returns by how much the text moved.
func (t *Terminal) enlarge(g *grid, rows int) (moved int) {
	old := g.rows
	n := rows - len(old)
	if g == t.primary {
		moved = min(n, t.history.n)
	}
	g.rows = make([]row, moved, rows)
	for i := range g.rows {
		g.rows[i] = newRow(t.cols)
	}
	g.rows = append(g.rows, old...)
	for len(g.rows) < rows {
		g.rows = append(g.rows, newRow(t.cols))
	}
	for i := moved - 1; i >= 0; i-- {
		t.unpack(t.history.pop(), &g.rows[i])
	}
	return moved
}

// blank reports that nothing can be seen in the row.
func (r *row) blank() bool {
	for _, c := range r.cells[:r.used] {
		if !c.blank() {
			return false
		}
	}
	return true
}
