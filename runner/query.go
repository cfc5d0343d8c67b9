package runner

import "bytes"

// mayAsk reports whether output may hold a query that the terminal has to
// answer: what a device is, where the cursor stands, how a mode is set. It
// may be wrong in saying so, never in saying not. The emulator knows for
// certain, but need not look at a flood in which nobody asks for anything.
func mayAsk(p []byte) bool {
	for {
		i := bytes.IndexByte(p, '\x1b')
		if i < 0 {
			return bytes.IndexByte(p, '\x9b') >= 0 // ESC [ in one byte, or a part of a character
		}
		if p = p[i+1:]; len(p) == 0 || p[0] != '[' {
			return true
		}
		end := bytes.IndexFunc(p[1:], func(r rune) bool { return r >= '@' })
		if end < 0 || bytes.IndexByte(queries, p[1+end]) >= 0 {
			return true
		}
		p = p[1+end:]
	}
}

// queries are the last letters of control sequences that may be queries:
// device attributes, status and cursor position, modes, version, window, and
// the keyboard's protocol.
var queries = []byte("cnpqtu")
