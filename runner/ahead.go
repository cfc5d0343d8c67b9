package runner

import (
	"io"
	"sync"
)

// ahead reads from a terminal while what it read before is still being
// looked at. A terminal hands over a few KiB at a time and holds its program
// up until they are taken: so that a flood waits for neither, and what is
// looked at comes in larger pieces the busier the terminal is.
type ahead struct {
	mu      sync.Mutex
	changed *sync.Cond
	pending []byte
	err     error
}

// mostAhead bounds what has been read and not looked at.
const mostAhead = 256 << 10

// readAhead starts reading from src, until that fails or ends. Whoever calls
// it takes pieces until then.
func readAhead(src io.Reader) *ahead {
	a := new(ahead)
	a.changed = sync.NewCond(&a.mu)
	go a.fill(src)
	return a
}

func (a *ahead) fill(src io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := src.Read(buf)
		a.mu.Lock()
		for len(a.pending) >= mostAhead {
			a.changed.Wait()
		}
		a.pending, a.err = append(a.pending, buf[:n]...), err
		a.changed.Signal()
		a.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// next waits for the next piece and returns it in the place of the one
// before. The error, that of reading, comes after the last piece.
func (a *ahead) next(before []byte) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.pending) == 0 {
		if a.err != nil {
			return nil, a.err
		}
		a.changed.Wait()
	}
	piece := a.pending
	a.pending = before[:0]
	a.changed.Signal()
	return piece, nil
}
