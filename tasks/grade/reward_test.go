package grade

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"proctor/tasks"
)

func TestParseReward(t *testing.T) {
	for _, tc := range []struct {
		data string
		want Reward
	}{
		{`{"reward": 1}`, Reward{Values: map[string]float64{"reward": 1}}},
		{" {\"a\":-0.5e1,\n\"b\":0}\n", Reward{Values: map[string]float64{"a": -5, "b": 0}}},
		{`{"error":"no such file"}`, Reward{Error: "no such file", Status: tasks.GraderFailed}},
		{`{"error":"x","kind":"no_submission"}`, Reward{Error: "x", Status: tasks.NoSubmission}},
		{`{"error":"x","kind":"invalid_submission"}`, Reward{Error: "x", Status: tasks.InvalidSubmission}},
		{`{"error":"","kind":"grader_failed"}`, Reward{Error: "the grader gave no reason", Status: tasks.GraderFailed}},
		{`{"error":"\u001b[31mred\u001b[0m\nand\tmore\u202e"}`, Reward{Error: "red and more", Status: tasks.GraderFailed}},
	} {
		got, err := ParseReward([]byte(tc.data))
		if err != nil {
			t.Errorf("%s: %v", tc.data, err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", tc.data, diff)
		}
	}
}

func TestParseRewardDropsTheSignOfZero(t *testing.T) {
	r, err := ParseReward([]byte(`{"a":-0.0}`))
	if err != nil || math.Signbit(r.Values["a"]) {
		t.Errorf("%v, %v", r, err)
	}
	x, err := ParseRewardText([]byte("-0.0\n"))
	if err != nil || math.Signbit(x) {
		t.Errorf("%v, %v", x, err)
	}
}

func TestParseRewardRefuses(t *testing.T) {
	for _, tc := range []struct{ data, want string }{
		{``, "it is empty"},
		{" \n\t", "it is empty"},
		{`garbage`, `it holds "garbage", expected a JSON object`},
		{`1.0`, `it holds "1.0", expected a JSON object`},
		{`[1]`, `it holds "[1]", expected a JSON object`},
		{`{`, "it is JSON that ends too early"},
		{`{"a":`, `the value of "a": it is JSON that ends too early`},
		{`{"a":1`, "it is JSON that ends too early"},
		{`{}`, "it is an object without any number"},
		{`{"a":NaN}`, `the value of "a": it has NaN or Infinity, which is no finite number`},
		{`{"a":-Infinity}`, `the value of "a": it has NaN or Infinity, which is no finite number`},
		{`{"a":1e999}`, `its value of "a" is "1e999", which is no finite number`},
		{`{"a":true}`, `its value of "a" is true, expected a number`},
		{`{"a":null}`, `its value of "a" is null, expected a number`},
		{`{"a":"1"}`, `its value of "a" is a string, expected a number`},
		{`{"a":{"b":1}}`, `its value of "a" is an object, expected a number`},
		{`{"a":[1]}`, `its value of "a" is an array, expected a number`},
		{`{"a":1,"a":2}`, `it has "a" twice`},
		{`{"a":1} {"a":2}`, "something follows its JSON object"},
		{`{"a":1}x`, "something follows its JSON object"},
		{`{"error":1}`, `its "error" is not a string`},
		{`{"error":"x","kind":3}`, `its "kind" is not a string`},
		{`{"error":"x","kind":"graded"}`, `its "kind" is "graded", expected "no_submission", "invalid_submission" or "grader_failed"`},
		{"\xff\xfe", `it holds "` + "\uFFFD" + `", expected a JSON object`},
		{strings.Repeat(`{"a":`, 200_000), `the value of "a": it is not JSON (invalid character '{' exceeded max depth)`},
		{`{"a":"` + strings.Repeat("x", 10<<20) + `"}`, "it is 10485768 bytes long, more than the 1048576 allowed"},
	} {
		_, err := ParseReward([]byte(tc.data))
		if err == nil || !strings.HasSuffix(err.Error(), tc.want) {
			t.Errorf("%.40q: error %v, want %s", tc.data, err, tc.want)
		}
	}
}

func TestParseRewardText(t *testing.T) {
	for data, want := range map[string]float64{
		"1": 1, "0.5\n": 0.5, " -3e-2 ": -0.03, ".5": 0.5, "5.": 5, "+1": 1, "1\r\n": 1,
	} {
		if got, err := ParseRewardText([]byte(data)); err != nil || got != want {
			t.Errorf("%q: %v, %v", data, got, err)
		}
	}
	for _, tc := range []struct{ data, want string }{
		{"", "it is empty"},
		{"\n", "it is empty"},
		{"nan", `it holds "nan", expected one number`},
		{"Infinity", `it holds "Infinity", expected one number`},
		{"0x1p4", `it holds "0x1p4", expected one number`},
		{"1_000", `it holds "1_000", expected one number`},
		{"1 2", `it holds "1 2", expected one number`},
		{"true", `it holds "true", expected one number`},
		{"1e999", `"1e999", which is no finite number`},
		{"\x1b]0;title\x07", `it holds "", expected one number`},
	} {
		if _, err := ParseRewardText([]byte(tc.data)); err == nil || err.Error() != tc.want {
			t.Errorf("%q: error %v, want %s", tc.data, err, tc.want)
		}
	}
}

func TestPick(t *testing.T) {
	many := Reward{Values: map[string]float64{"a": 1, "b": 2}}
	if x, err := many.Pick("b"); err != nil || x != 2 {
		t.Errorf("by name: %v, %v", x, err)
	}
	if x, err := (Reward{Values: map[string]float64{"a": 1}}).Pick("reward"); err != nil || x != 1 {
		t.Errorf("the only one: %v, %v", x, err)
	}
	_, err := many.Pick("accuracy")
	if want := `there is no value named "accuracy" among "a", "b"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for i := range 100 {
		many.Values[fmt.Sprint("k", i)] = 0
	}
	if _, err := many.Pick("accuracy"); len(err.Error()) > 200 {
		t.Errorf("a long message: %v", err)
	}
}

func FuzzParseReward(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `{"a":-0,"b":1e5}`, `{"error":"x","kind":"no_submission"}`, `{"a":NaN}`, `{"a":{"b":[1]}}`, "\xff", `{"":0}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ParseReward(data)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("a message of more than one line: %q", err)
			}
			return
		}
		if (len(r.Values) > 0) == (r.Error != "") {
			t.Errorf("values and error both or neither: %+v", r)
		}
		for name, x := range r.Values {
			if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 && math.Signbit(x) {
				t.Errorf("%q: %v", name, x)
			}
		}
	})
}

func FuzzParseRewardText(f *testing.F) {
	for _, seed := range []string{"1", "-0", "1e309", "nan", "0x1", "1_0"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if x, err := ParseRewardText(data); err == nil && (math.IsNaN(x) || math.IsInf(x, 0) || x == 0 && math.Signbit(x)) {
			t.Errorf("%q: %v", data, x)
		}
	})
}
