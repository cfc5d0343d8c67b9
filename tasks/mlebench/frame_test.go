package mlebench

import (
	"encoding/json"
	"math"
	"os/exec"
	"strings"
	"testing"
)

func TestReadFrame(t *testing.T) {
	f, err := readFrame(strings.NewReader("\ufeffid,x,x,flag,word,n,big\n" +
		"1,0.5,7,True,NA,,9007199254740993\n\n2,inf,8,False,\"a,b\",3,9007199254740992\n03, 1e400 ,9,TRUE,c\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.names(), " "); got != "id x x.1 flag word n big" || f.rows != 3 {
		t.Fatalf("%s, %d rows", got, f.rows)
	}
	for name, want := range map[string]struct {
		kind kind
		text string // of the three values, as Python prints them
	}{
		"id": {integers, "1 2 3"}, "x": {floats, "0.5 inf inf"}, "x.1": {integers, "7 8 9"}, "flag": {booleans, "True False True"},
		"word": {words, "nan a,b c"}, "n": {floats, "nan 3.0 nan"}, "big": {floats, "9007199254740992.0 9007199254740992.0 nan"},
	} {
		c := f.column(name)
		if got := strings.Join(texts(c), " "); c.kind != want.kind || got != want.text {
			t.Errorf("%s: kind %v, %q", name, c.kind, got)
		}
	}
	for text, want := range map[string]string{
		"":                       "it is empty",
		"\n\n":                   "it is empty",
		"a,b\n1,2,3\n":           "line 2 has 3 fields, the header has 2",
		"a\n\"1\n":               "",
		strings.Repeat(",", 2e5): "it has 200001 columns",
	} {
		_, err := readFrame(strings.NewReader(text))
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
}

func TestOrderOfLargeIntegers(t *testing.T) {
	f, err := readFrame(strings.NewReader("id\n9007199254740993\n9007199254740992\n"))
	if err != nil {
		t.Fatal(err)
	}
	if rows := f.column("id").order(); rows[0] != 1 {
		t.Errorf("order %v", rows)
	}
	if a, b := f.column("id").key(0), f.column("id").key(1); a == b {
		t.Errorf("two ids have one key, %s", a)
	}
}

// pandas and this package make the same types and texts of the same columns.
func TestFrameIsPandas(t *testing.T) {
	needPython(t)
	columns := [][]string{
		{"1", "2", "-3"}, {"1", "", "3"}, {"1.0", "2", "3"}, {"1e3", "NaN", "-inf"}, {"a", "NA", "null"}, {"True", "False", "TRUE"},
		{"True", "", "False"}, {"1", "x", "2"}, {"007", "08", "9"}, {"+5", "-0", "1"}, {"", "", ""}, {"0.1", "1e-7", "123456789.125"},
		{"n/a", "#N/A", "x"}, {"1e16", "1e22", "0.0001"}, {"0x10", "1", "2"}, {"1_000", "1", "2"}, {" a", "b ", "c"}, {"nan", "-nan", "NULL"},
		{"12345678901234567", "1", "2"}, {"yes", "no", "True"}, {"it's", "5\" x", "ü"},
	}
	var csv strings.Builder
	for row := -1; row < 3; row++ {
		for i, c := range columns {
			if i > 0 {
				csv.WriteByte(',')
			}
			if row < 0 {
				csv.WriteString("c" + string(rune('A'+i)))
			} else {
				csv.WriteString(c[row])
			}
		}
		csv.WriteByte('\n')
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", `
import io, json, sys
import pandas as pd
f = pd.read_csv(io.StringIO(sys.stdin.read()), float_precision="round_trip")
kind = {"i": "integers", "f": "floats", "b": "booleans", "O": "words"}
json.dump([[kind[f[c].dtype.kind], f[c].astype(str).tolist()] for c in f.columns], sys.stdout)`)
	cmd.Stdin = strings.NewReader(csv.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var theirs [][2]any
	if err := json.Unmarshal(out, &theirs); err != nil {
		t.Fatal(err)
	}
	ours, err := readFrame(strings.NewReader(csv.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(theirs) != len(ours.columns) {
		t.Fatalf("%d columns, pandas has %d", len(ours.columns), len(theirs))
	}
	kinds := []string{"words", "integers", "floats", "booleans"}
	for i, c := range ours.columns {
		text, err := json.Marshal(theirs[i][1])
		if err != nil {
			t.Fatal(err)
		}
		mine, err := json.Marshal(texts(c))
		if err != nil {
			t.Fatal(err)
		}
		if kinds[c.kind] != theirs[i][0] || string(mine) != string(text) {
			t.Errorf("%q: %s %s, pandas has %s %s", columns[i], kinds[c.kind], mine, theirs[i][0], text)
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add("id,x\n1,0.5\n2,\n")
	f.Add("a,a,a.1\n\"x\n")
	f.Add("a\n1e999\n-0\n")
	f.Fuzz(func(t *testing.T, text string) {
		frame, err := readFrame(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, c := range frame.columns {
			if len(c.text) != frame.rows {
				t.Fatalf("column %q has %d rows of %d", c.name, len(c.text), frame.rows)
			}
			rows := c.order()
			for i := range rows {
				c.key(i)
				if c.kind == floats && c.isMissing(i) != math.IsNaN(c.numbers[i]) {
					t.Fatal("missing is not NaN")
				}
			}
			c.take(rows)
		}
	})
}
