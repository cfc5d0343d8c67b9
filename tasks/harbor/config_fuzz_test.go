package harbor

import (
	"fmt"
	"strings"
	"testing"

	"proctor/tasks/tomlfile"
)

func FuzzReadConfig(f *testing.F) {
	f.Add("[metadata.proctor]\nschema = 1\nstarter='x'\n[[metadata.proctor.knobs]]\nname='a'\ntype='int'\nmin=1\nmax=3\ndefault=2\nwhen={b=['x']}\n")
	f.Add("schema_version = '1.4'\nartifacts = [{source='/x'}]\n[environment]\ncpus=1\nmemory='2G'\n[verifier.env]\nA='${B:-c}'\n")
	f.Add("[[steps]]\nname='a'\n[agent]\ntimeout_sec=1e9\n")
	f.Add("[metadata.proctor]\nschema=1\ngrade={thresholds={gold=1,median=2},references=[{name='a',score=1}]}\nmetric={pattern='(a)'}\n")
	f.Fuzz(func(t *testing.T, src string) {
		c, err := readConfig("task.toml", []byte(src))
		switch {
		case err != nil:
			if text := err.Error(); strings.Contains(text, "\n") || !strings.HasPrefix(text, "task.toml:") {
				t.Errorf("error %q", text)
			}
		case c.agentTime < 0 || c.graderTime <= 0 || c.needs.MemoryBytes < 0 || c.needs.CPUs < 0 || c.needs.GPUs < 0:
			t.Errorf("a negative quantity: %+v", c)
		case c.own != nil:
			for _, k := range c.own.knobs {
				if why := refuses(k, k.Default); why != "" || k.Name == "" {
					t.Errorf("knob %+v: %s", k, why)
				}
			}
		}
	})
}

// Nesting that the decoder would choke on is refused before it gets there;
// dots and brackets in strings and numbers are no nesting.
func TestDeeplyNestedSettings(t *testing.T) {
	many := maxConfig / 8
	for _, src := range []string{
		"a = " + strings.Repeat("[", many),
		"a = " + strings.Repeat("{a=", many),
		"a = " + strings.Repeat("{a=", many) + "1" + strings.Repeat("}", many),
		"\n" + strings.Repeat("a.", many) + "a = 1",
		"[" + strings.Repeat("'a' . ", many) + "a]",
	} {
		_, err := readConfig("task.toml", []byte(src))
		if err == nil || !strings.HasSuffix(err.Error(), ": nested more than 16 deep, expected settings") {
			t.Errorf("%.20q: %v", src, err)
		}
	}
	flat := "a = [" + strings.Repeat("0.5, ", 1000) + "]\nb = '" + strings.Repeat("[.", 1000) + "'\nc = \"\"\"\n" + strings.Repeat("{.", 1000) + "\"\"\"\n# " + strings.Repeat("[.", 1000)
	if _, err := readConfig("task.toml", []byte(flat)); err != nil {
		t.Error(err)
	}
}

// The worst that passes the check on depth must still be read in no time.
func TestWorstAcceptedSettings(t *testing.T) {
	header := strings.Repeat("a.", tomlfile.MaxDepth-2)
	var b strings.Builder
	for i := 0; b.Len() < maxConfig-100; i++ {
		fmt.Fprintf(&b, "[%sk%d]\nb = %s1%s\n", header, i, strings.Repeat("{a=", tomlfile.MaxDepth), strings.Repeat("}", tomlfile.MaxDepth))
	}
	if _, err := readConfig("task.toml", []byte(b.String())); err != nil {
		t.Error(err)
	}
}
