package harbor

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"proctor/tasks"
	"proctor/tasks/tomlfile"
)

var knobName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// readKnobs reads and checks [[metadata.proctor.knobs]].
func readKnobs(list []*tomlfile.Table) []tasks.Knob {
	knobs := make([]tasks.Knob, 0, len(list))
	for _, t := range list {
		k := readKnob(t)
		if slices.ContainsFunc(knobs, func(other tasks.Knob) bool { return other.Name == k.Name }) {
			t.Wrong("name", "a name that no other knob has")
		}
		knobs = append(knobs, k)
	}
	for i, t := range list {
		knobs[i].When = readWhen(t, knobs, knobs[i].Name)
	}
	return knobs
}

func readKnob(t *tomlfile.Table) tasks.Knob {
	t.Only("name", "type", "min", "max", "log", "values", "default", "fidelity", "when")
	k := tasks.Knob{
		Name:     t.String("name"),
		Type:     tasks.KnobType(t.String("type")),
		Log:      t.Bool("log"),
		Fidelity: t.Bool("fidelity"),
	}
	if !knobName.MatchString(k.Name) {
		t.OrLacks("name", "a name of letters, digits, _ and -")
	}
	switch k.Type {
	case tasks.KnobFloat, tasks.KnobInt:
		readRange(t, &k)
	case tasks.KnobChoice:
		readChoice(t, &k)
	default:
		t.OrLacks("type", `"float", "int" or "choice"`)
		return k
	}
	k.Default, _ = scalar(t.Get("default"))
	if why := refuses(k, k.Default); why != "" {
		t.OrLacks("default", why)
	}
	return k
}

// refuses says what a value of the knob would have to be, "" if text is one.
func refuses(k tasks.Knob, text string) string {
	switch k.Type {
	case tasks.KnobChoice:
		if !slices.Contains(k.Values, text) {
			return fmt.Sprintf("one of %q", k.Values)
		}
		return ""
	case tasks.KnobInt:
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || float64(n) < k.Min || float64(n) > k.Max {
			return fmt.Sprintf("a whole number from %v to %v", k.Min, k.Max)
		}
		return ""
	}
	if x, err := strconv.ParseFloat(text, 64); err != nil || !(x >= k.Min && x <= k.Max) {
		return fmt.Sprintf("a number from %v to %v", k.Min, k.Max)
	}
	return ""
}

func readRange(t *tomlfile.Table, k *tasks.Knob) {
	for _, key := range []string{"min", "max"} {
		x := t.Number(key)
		switch {
		case x == nil && !t.Has(key):
			t.OrLacks(key, "a number")
			return
		case x == nil:
			return
		case k.Type == tasks.KnobInt && *x != float64(int64(*x)):
			t.Wrong(key, "a whole number")
		}
		if key == "min" {
			k.Min = *x
		} else {
			k.Max = *x
		}
	}
	if k.Max <= k.Min {
		t.Wrong("max", fmt.Sprintf("more than min, which is %v", k.Min))
	}
	if k.Log && k.Min <= 0 {
		t.Wrong("min", "more than 0, since log = true")
	}
	if t.Has("values") {
		t.File().Errorf(t.At("values"), "%s is for knobs of type \"choice\"; a number has min and max", t.At("values"))
	}
}

func readChoice(t *tomlfile.Table, k *tasks.Knob) {
	list, ok := t.Get("values").([]any)
	for _, v := range list {
		text, isScalar := scalar(v)
		ok = ok && isScalar && !slices.Contains(k.Values, text)
		k.Values = append(k.Values, text)
	}
	if !ok || len(list) == 0 {
		t.OrLacks("values", "a list of different strings or numbers")
	}
	for _, key := range []string{"min", "max", "log", "fidelity"} {
		if t.Has(key) && tomlfile.IsSet(t.Get(key)) {
			t.File().Errorf(t.At(key), "%s is for knobs of type \"float\" or \"int\"", t.At(key))
		}
	}
}

// readWhen reads the values of other knobs under which this one matters; one
// value may stand without its list.
func readWhen(t *tomlfile.Table, knobs []tasks.Knob, self string) map[string][]string {
	when := t.Table("when")
	if len(when.Keys()) == 0 {
		return nil
	}
	out := map[string][]string{}
	for _, name := range when.Keys() {
		i := slices.IndexFunc(knobs, func(k tasks.Knob) bool { return k.Name == name })
		if i < 0 || name == self {
			t.File().Errorf(when.Path(), "%s names %q, which is not another knob%s", when.Path(), name, meant(name, knobs, self))
			continue
		}
		list, ok := when.Get(name).([]any)
		if !ok {
			list = []any{when.Get(name)}
		}
		for _, v := range list {
			text, _ := scalar(v)
			if why := refuses(knobs[i], text); why != "" {
				t.File().Errorf(when.Path(), "%s: %s is never %v, expected %s", when.Path(), name, v, why)
			}
			out[name] = append(out[name], text)
		}
	}
	return out
}

func meant(name string, knobs []tasks.Knob, self string) string {
	var others []string
	for _, k := range knobs {
		if k.Name != self {
			others = append(others, k.Name)
		}
	}
	if near := tasks.Nearest(name, others); len(near) > 0 {
		return fmt.Sprintf("; did you mean %q?", near[0])
	}
	return ""
}

// scalar returns the text of a string, number or boolean as it goes on a
// command line.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}
