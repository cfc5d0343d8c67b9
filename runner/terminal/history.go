package terminal

import "math/bits"

// history is the scrollback: a queue of packed lines, bounded in lines and
// bytes. The lines lie in chunks that are reused, so a flood allocates nothing.
type history struct {
	maxLines, maxBytes int

	lines []packed // ring: n lines from head
	head  int
	n     int
	bytes int

	chunks []chunk // oldest first; the newest lines are at the end of the last
	spare  []byte
}

// chunk is memory shared by consecutive lines.
type chunk struct {
	buf   []byte
	lines int
}

const chunkSize = 64 << 10

// push adds a copy of l as the newest line and returns how many old lines were
// dropped for it.
func (h *history) push(l packed) (dropped int) {
	if h.maxLines == 0 {
		return 1
	}
	for h.n > 0 && (h.n >= h.maxLines || h.bytes+len(l) > h.maxBytes) {
		h.dropOldest()
		dropped++
	}
	if h.n == len(h.lines) {
		h.grow()
	}
	h.lines[(h.head+h.n)&(len(h.lines)-1)] = h.store(l)
	h.n++
	h.bytes += len(l)
	return dropped
}

// grow doubles the ring, whose size is a power of two.
func (h *history) grow() {
	size := max(64, 2*len(h.lines))
	if size > h.maxLines {
		size = max(1<<bits.Len(uint(h.maxLines-1)), 1)
	}
	lines := make([]packed, size)
	for i := range h.n {
		lines[i] = h.at(i)
	}
	h.lines, h.head = lines, 0
}

func (h *history) store(l packed) packed {
	last := len(h.chunks) - 1
	if last < 0 || cap(h.chunks[last].buf)-len(h.chunks[last].buf) < len(l) {
		h.chunks = append(h.chunks, chunk{buf: h.newChunk(len(l))})
		last++
	}
	c := &h.chunks[last]
	start := len(c.buf)
	c.buf = append(c.buf, l...)
	c.lines++
	return packed(c.buf[start:len(c.buf):len(c.buf)])
}

func (h *history) newChunk(size int) []byte {
	if size > chunkSize {
		return make([]byte, 0, size)
	}
	if buf := h.spare; buf != nil {
		h.spare = nil
		return buf
	}
	return make([]byte, 0, chunkSize)
}

// at returns line i, 0 being the oldest. It is valid until the next change.
func (h *history) at(i int) packed { return h.lines[(h.head+i)&(len(h.lines)-1)] }

func (h *history) dropOldest() {
	h.bytes -= len(h.at(0))
	h.lines[h.head] = nil
	h.head = (h.head + 1) & (len(h.lines) - 1)
	h.n--
	c := &h.chunks[0]
	if c.lines--; c.lines > 0 {
		return
	}
	if cap(c.buf) == chunkSize {
		h.spare = c.buf[:0]
	}
	copy(h.chunks, h.chunks[1:])
	h.chunks[len(h.chunks)-1] = chunk{}
	h.chunks = h.chunks[:len(h.chunks)-1]
}

// pop removes the newest line and returns it; it is valid until the next push.
func (h *history) pop() packed {
	h.n--
	i := (h.head + h.n) & (len(h.lines) - 1)
	l := h.lines[i]
	h.lines[i] = nil
	h.bytes -= len(l)
	last := len(h.chunks) - 1
	c := &h.chunks[last]
	c.buf = c.buf[:len(c.buf)-len(l)]
	if c.lines--; c.lines == 0 {
		h.chunks[last] = chunk{}
		h.chunks = h.chunks[:last]
	}
	return l
}

func (h *history) clear() {
	*h = history{maxLines: h.maxLines, maxBytes: h.maxBytes}
}
