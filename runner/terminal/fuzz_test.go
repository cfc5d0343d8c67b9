package terminal

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hostile is input that broke one terminal or another.
var hostile = []string{
	"\x1b[", "\x1b", "\x1b\x1b\x1b[", "\x1b[;;;;;;;m", "\x1b[38m", "\x1b[38;2m", "\x1b[38;5m", "\x1b[4:m",
	"\x1b[" + strings.Repeat("1;", 200) + "m", "\x1b[" + strings.Repeat("9", 500) + "A",
	"\x1b[" + strings.Repeat("1:", 100) + "m", "\x1b[18446744073709551616;1H", "\x1b[4294967295b",
	"\x1b[-1;-1H", "\x1b[0;0r", "\x1b[1;1r", "\x1b[9999;9999r\n\n\n", "\x1b[2147483647S\x1b[2147483647T",
	"\x1b[2147483647L\x1b[2147483647M\x1b[2147483647@\x1b[2147483647P\x1b[2147483647X\x1b[2147483647I\x1b[2147483647Z",
	"\x1b]", "\x1b]0;", "\x1b]0;\xff\xfe\a", "\x1b]52;c;" + strings.Repeat("A", 10_000) + "\a",
	"\x1b]8;;" + strings.Repeat("x", 10_000) + "\x1b\\", "\x1b]4;1;?\a\x1b]10;?\a\x1b]11;?\x1b\\",
	"\x1bP", "\x1bP$q", "\x1bP+q\x1b\\", "\x1bPtmux;\x1b\x1b]0;x\a\x1b\\", "\x1bP1000q#0;2;0;0;0~~\x1b\\",
	"\x1b_Gq=2;" + strings.Repeat("A", 9000) + "\x1b\\", "\x1b^pm\x1b\\", "\x1bXsos\x1b\\", "\x1bX\x18\x1a",
	"\x1b[?1049h\x1b[?47h\x1b[?1047l\x1b[?1049l", "\x1b[?1049h\x1bc", "\x1b[?6h\x1b[5;6r\x1b[99H", "\x1b[?2026h\x1b[?2026$p",
	"\x1b[c\x1b[>c\x1b[=c\x1b[5n\x1b[6n\x1b[?6n\x1b[>q\x1b[?25$p\x1b[18t\x1b[14t\x1b[21t",
	"\u0301\u0301\u0301", "a" + strings.Repeat("\u0301", 1000), strings.Repeat("\u200d", 100), strings.Repeat("👩\u200d", 50),
	strings.Repeat("🇩", 99), "\u1100\u1161\u11a8", "क्ष", "\u0600\u0600a", "☀\ufe0f", "👍🏽", "🏴\U000e0067\U000e0062\U000e007f",
	"\ufdfd\u2e3b", "\ufe0f", "1\ufe0f\u20e3", "\xf0\x9f", "\xf4\x90\x80\x80", "\xed\xa0\x80", "\xc2\x9b31m", "\x80\x85\x9b\x9c\x9d",
	"\x1b(0\x0e\x0f_`afgjklmnopqrstuvwxyz{|}~", "\x1b[4h漢\x1b[1G字\x1b[4l", "漢\x1b[2Gx\b\by", "\x1b[99G漢", "\x1b[?7l\x1b[99G漢x漢",
	"\t\t\t\t\x1b[3g\t\t", "\x1b[20h\n\v\f", "\x1b#8\x1b[2J", "\x1b[!p", "\x1bE\x1bD\x1bM\x1b7\x1b8", "\x1b[s\x1b[u",
}

func FuzzWrite(f *testing.F) {
	for i, s := range hostile {
		f.Add([]byte(s), uint8(i), uint8(2*i))
	}
	for seed := range int64(5) {
		g := newGen(seed, 20, 6)
		g.clusters = true
		f.Add(g.stream(40), uint8(20), uint8(6))
	}
	f.Fuzz(func(t *testing.T, in []byte, cols, rows uint8) {
		term := New(int(cols%50), int(rows%20), WithHistory(50))
		for half := in[:len(in)/2]; ; half = in[len(in)/2:] {
			if n, err := term.Write(half); n != len(half) || err != nil {
				t.Fatalf("Write = %d, %v", n, err)
			}
			checkInvariants(t, term)
			if len(half) == len(in)-len(in)/2 {
				break
			}
			term.Resize(int(rows%33)+1, int(cols%9)+1)
		}
		checkInvariants(t, redrawn(term))
		term.SoftReset()
		checkInvariants(t, term)

		whole := New(int(cols%50), int(rows%20), WithHistory(50))
		write(whole, string(in)+"\x18") // ends what is half-written
		checkDump(t, whole)

		o := NewObserver(int(cols%50), 40, 40)
		if _, err := o.Write(in); err != nil {
			t.Fatal(err)
		}
		checkObserved(t, o)
	})
}

func TestHostile(t *testing.T) {
	all := strings.Join(hostile, "")
	for _, in := range append(hostile, all, strings.Repeat(all, 3)) {
		for _, size := range [][2]int{{1, 1}, {2, 2}, {80, 24}} {
			term := New(size[0], size[1], WithHistory(20))
			write(term, in)
			checkInvariants(t, term)
		}
	}
}

func checkObserved(t *testing.T, o *Observer) string {
	t.Helper()
	text, truncated := o.Result()
	if !utf8.ValidString(text) {
		t.Fatalf("result is no UTF-8: %q", text)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
		t.Fatalf("control character at %d of %q", i, text)
	}
	if truncated != strings.Contains(text, " left out …]") && !truncated {
		t.Fatalf("not truncated, but %q", text)
	}
	if most := o.text.headCap + o.text.tailCap + 100; len(text) > most {
		t.Fatalf("result of %d bytes, limit %d", len(text), most)
	}
	return text
}

func FuzzClean(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) {
			t.Fatalf("no UTF-8: %q", got)
		}
		for _, r := range got {
			if r != '\n' && unicode.IsControl(r) || invisible(r) {
				t.Fatalf("%U is left in %q", r, got)
			}
		}
		if again := Clean(got); again != got {
			t.Fatalf("cleaned again: %q, then %q", got, again)
		}
	})
}
