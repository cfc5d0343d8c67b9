package terminal

import (
	"bytes"
	"fmt"
)

// maxReplies bounds the answers that wait to be fetched.
const maxReplies = 4 << 10

func (t *Terminal) reply(s string) {
	if len(t.replies)+len(s) <= maxReplies {
		t.replies = append(t.replies, s...)
	}
}

// replyDeviceAttributes answers DA1 as a VT220 with colour.
func (t *Terminal) replyDeviceAttributes() { t.reply("\x1b[?62;22c") }

// replyStatus answers DSR and, with prefix "?", its DEC forms.
func (t *Terminal) replyStatus(what int, prefix string) {
	switch {
	case what == 5 && prefix == "":
		t.reply("\x1b[0n")
	case what == 6:
		y := t.cursor.y
		if t.cursor.origin {
			y -= t.top
		}
		t.reply(fmt.Sprintf("\x1b[%s%d;%dR", prefix, y+1, t.cursor.x+1))
	}
}

// replyMode answers DECRQM.
func (t *Terminal) replyMode(prefix byte, n int) {
	p := ""
	if prefix != 0 {
		p = string(rune(prefix))
	}
	t.reply(fmt.Sprintf("\x1b[%s%d;%d$y", p, n, t.modeState(prefix, n)))
}

// replyWindow answers the one window operation that tells nothing about the
// person's machine: the size in cells.
func (t *Terminal) replyWindow(what int) {
	if what == 18 {
		t.reply(fmt.Sprintf("\x1b[8;%d;%dt", t.rows, t.cols))
	}
}

// deviceString answers DECRQSS and XTGETTCAP, with "not known".
func (t *Terminal) deviceString(data []byte) {
	switch {
	case bytes.HasPrefix(data, []byte("$q")):
		t.reply("\x1bP0$r\x1b\\")
	case bytes.HasPrefix(data, []byte("+q")):
		t.reply("\x1bP0+r\x1b\\")
	}
}
