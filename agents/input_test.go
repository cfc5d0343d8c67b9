package agents

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCommandInput(t *testing.T) {
	tests := []struct {
		name   string
		action Action
		input  string
	}{
		{"shell", Action{Shell: "a <b >c && d"}, `{"shell":"a <b >c && d"}`},
		{"argv", Action{Argv: []string{"ls", "-l"}, Dir: "sub"}, `{"argv":["ls","-l"],"dir":"sub"}`},
		{"timeout", Action{Shell: "x", Timeout: 1500 * time.Millisecond}, `{"shell":"x","timeout":1.5}`},
		{"interactive", Action{Shell: "sh -i", Interactive: true}, `{"shell":"sh -i","interactive":true}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := EncodeCommand(test.action)
			if string(got) != test.input {
				t.Fatalf("EncodeCommand = %s, want %s", got, test.input)
			}
			back, ok := DecodeCommand(Action{Input: got})
			test.action.Input = got
			if diff := cmp.Diff(test.action, back); !ok || diff != "" {
				t.Errorf("DecodeCommand: ok %v, (-want +got)\n%s", ok, diff)
			}
		})
	}
	for _, input := range []string{"", "{", `{"path":"a"}`, `[]`, `{"shell":7}`, `{"shell":""}`} {
		if _, ok := DecodeCommand(Action{Input: []byte(input)}); ok {
			t.Errorf("DecodeCommand(%s) found a command", input)
		}
	}
	if got := EncodeCommand(Action{Input: []byte(`{"q":1}`)}); string(got) != `{"q":1}` {
		t.Errorf("an action without a command: %s", got)
	}
}

func TestEditInput(t *testing.T) {
	path, content, ok := DecodeEdit(EncodeEdit("a/b.py", []byte("x < 1\n")))
	if path != "a/b.py" || string(content) != "x < 1\n" || !ok {
		t.Errorf("round trip: %q %q %v", path, content, ok)
	}
	if path, _, ok := DecodeEdit(EncodeEdit("a.bin", []byte{0xff})); path != "a.bin" || ok {
		t.Errorf("binary content: %q %v, want its path only", path, ok)
	}
	if _, _, ok := DecodeEdit([]byte(`{"content":"x"}`)); ok {
		t.Error("an edit without a path was accepted")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"shell":"x","timeout":-1e300}`))
	f.Add([]byte(`{"path":"a","content":"b"}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		if a, ok := DecodeCommand(Action{Input: input}); ok && (a.Shell == "" && len(a.Argv) == 0 || a.Timeout < 0) {
			t.Errorf("DecodeCommand(%q) = %+v", input, a)
		}
		if path, _, ok := DecodeEdit(input); ok && path == "" {
			t.Errorf("DecodeEdit(%q) has no path", input)
		}
	})
}
