package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"proctor/tasks"
)

// A hint narrows the space. Its grammar, where VALUE is a word, a number or
// anything in quotes and names and choices are read without regard to case:
//
//	hint   = "reset" | clause { [ "," | ";" | "and" ] clause }
//	clause = KNOB ( "=" | "in" ) list
//	       | KNOB ( "!=" | "not in" ) list
//	       | KNOB order NUMBER
//	       | NUMBER order KNOB [ order NUMBER ]
//	list   = VALUE { ( "," | "or" | "and" ) VALUE }, perhaps in brackets
//	order  = "<" | "<=" | ">" | ">="
//
// A clause may start with words such as "try" or "please", which say nothing.

// A constraint is one clause, checked against its knob.
type constraint struct {
	knob   tasks.Knob
	op     op
	values []string // one number where op is an order
}

type op string

const (
	in    op = "in"
	notIn op = "not in"
	below op = "<"
	most  op = "<="
	above op = ">"
	least op = ">="
)

// flipped is the order seen from the other side: 0.1 > lr is lr < 0.1.
var flipped = map[op]op{below: above, most: least, above: below, least: most}

// String says the constraint in words, such as "lr below 0.1".
func (c constraint) String() string {
	var said string
	switch c.op {
	case in:
		said = "is " + either(c.values)
	case notIn:
		said = "is not " + either(c.values)
	case below:
		said = "below " + c.values[0]
	case most:
		said = "at most " + c.values[0]
	case above:
		said = "above " + c.values[0]
	case least:
		said = "at least " + c.values[0]
	}
	if len(c.knob.When) > 0 {
		said += " where it applies"
	}
	return c.knob.Name + " " + said
}

// parseHint reads a hint for the knobs. The error says in words for a person
// what could not be read.
func parseHint(text string, knobs []tasks.Knob) ([]constraint, error) {
	words, err := splitHint(text)
	if err != nil {
		return nil, err
	}
	p := &hintParser{words: words, knobs: knobs}
	var all []constraint
	for {
		p.skip(",", ";", "and", "&", "&&")
		if p.done() {
			break
		}
		clause, err := p.clause()
		if err != nil {
			return nil, err
		}
		all = append(all, clause...)
	}
	if len(all) == 0 {
		return nil, errors.New("it says nothing about a knob")
	}
	return all, nil
}

// A word is a token of a hint. Quoted words are never keywords.
type word struct {
	text   string
	quoted bool
}

const (
	signs  = "<>=!≤≥≠"
	points = ",;|&()[]{}"
)

// splitHint cuts a hint into words, operators and punctuation.
func splitHint(text string) ([]word, error) {
	var words []word
	for text != "" {
		first := []rune(text)[0]
		end := len(string(first))
		switch {
		case first == '\n':
			words = append(words, word{text: ";"})
		case unicode.IsSpace(first):
		case first == '"' || first == '\'':
			closing := strings.IndexRune(text[1:], first)
			if closing < 0 {
				return nil, fmt.Errorf("the quote before %q is not closed", text[1:])
			}
			words = append(words, word{text: text[1 : 1+closing], quoted: true})
			end = closing + 2
		case strings.ContainsRune(signs, first):
			end = len(text) - len(strings.TrimLeft(text, signs))
			words = append(words, word{text: text[:end]})
		case strings.ContainsRune(points, first):
			words = append(words, word{text: text[:end]})
		default:
			if i := strings.IndexFunc(text, endsWord); i >= 0 {
				end = i
			} else {
				end = len(text)
			}
			words = append(words, word{text: text[:end]})
		}
		text = text[end:]
	}
	return words, nil
}

func endsWord(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune(signs+points+`"`, r)
}

type hintParser struct {
	words []word
	at    int
	knobs []tasks.Knob
}

func (p *hintParser) done() bool { return p.at >= len(p.words) }

// peek returns the word i places on, empty past the end.
func (p *hintParser) peek(i int) word {
	if p.at+i >= len(p.words) {
		return word{}
	}
	return p.words[p.at+i]
}

// is reports whether the word i places on is one of the keywords.
func (p *hintParser) is(i int, keywords ...string) bool {
	w := p.peek(i)
	return !w.quoted && slices.Contains(keywords, strings.ToLower(w.text))
}

func (p *hintParser) skip(keywords ...string) {
	for !p.done() && p.is(0, keywords...) {
		p.at++
	}
}

// knob returns the knob that the word i places on names.
func (p *hintParser) knob(i int) (tasks.Knob, bool) {
	w := p.peek(i)
	for _, k := range p.knobs {
		if !w.quoted && plainName(k.Name) == plainName(w.text) {
			return k, true
		}
	}
	return tasks.Knob{}, false
}

func plainName(name string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "--"), "-", "_"))
}

// order returns the order sign i places on.
func (p *hintParser) order(i int) (op, bool) {
	switch w := p.peek(i); w.text {
	case "<", ">", "<=", ">=":
		return op(w.text), !w.quoted
	case "=<", "≤":
		return most, !w.quoted
	case "=>", "≥":
		return least, !w.quoted
	}
	return "", false
}

// fillers may come before a clause and say nothing.
var fillers = []string{"try", "use", "please", "only", "set", "keep", "with"}

// startsClause reports whether a clause begins i places on, which is what
// ends a list: in "model in knn, mlp, lr<0.1" the second comma does.
func (p *hintParser) startsClause(i int) bool {
	for _, named := p.knob(i); !named && p.is(i, fillers...); _, named = p.knob(i) {
		i++
	}
	_, ordered := p.order(i + 1)
	if _, ok := p.knob(i); ok && (ordered || p.is(i+1, "=", "==", "!=", "≠", "is", "in", "not")) {
		return true
	}
	_, named := p.knob(i + 2)
	return ordered && named
}

func (p *hintParser) clause() ([]constraint, error) {
	knob, named := p.knob(0)
	for !named && p.is(0, fillers...) {
		p.at++
		knob, named = p.knob(0)
	}
	if sign, ok := p.order(1); ok {
		if named {
			p.at++
			return p.ordered(knob)
		}
		if knob, named := p.knob(2); named {
			return p.surrounded(knob, sign)
		}
	}
	if !named {
		return nil, p.unknown()
	}
	p.at++
	switch {
	case p.is(0, "=", "==", "in", "is"):
		p.at++
		if p.is(0, "not") {
			p.at++
			return p.list(knob, notIn)
		}
		return p.list(knob, in)
	case p.is(0, "!=", "≠"):
		p.at++
		return p.list(knob, notIn)
	case p.is(0, "not") && p.is(1, "in"):
		p.at += 2
		return p.list(knob, notIn)
	case p.done():
		return nil, fmt.Errorf("%q is not followed by =, != or an order", knob.Name)
	}
	return nil, fmt.Errorf("%q is followed by %q, not by =, != or an order", knob.Name, p.peek(0).text)
}

// ordered reads what follows KNOB: an order and a number.
func (p *hintParser) ordered(knob tasks.Knob) ([]constraint, error) {
	sign, _ := p.order(0)
	p.at++
	return p.bound(knob, sign)
}

// surrounded reads NUMBER order KNOB [order NUMBER].
func (p *hintParser) surrounded(knob tasks.Knob, sign op) ([]constraint, error) {
	all, err := p.bound(knob, flipped[sign])
	p.at += 2
	if err != nil {
		return nil, err
	}
	if _, more := p.order(0); more {
		second, err := p.ordered(knob)
		if err != nil {
			return nil, err
		}
		all = append(all, second...)
	}
	return all, nil
}

// bound takes the number at hand as a bound of the knob.
func (p *hintParser) bound(knob tasks.Knob, sign op) ([]constraint, error) {
	if knob.Type == tasks.KnobChoice {
		return nil, fmt.Errorf("%s has no order; it is %s", knob.Name, either(knob.Values))
	}
	v, ok := readNumber(p.peek(0).text)
	if !ok {
		return nil, fmt.Errorf("%s %s needs a number, not %q", knob.Name, sign, p.peek(0).text)
	}
	p.at++
	return []constraint{{knob, sign, []string{number(v)}}}, nil
}

func (p *hintParser) list(knob tasks.Knob, op op) ([]constraint, error) {
	c := constraint{knob: knob, op: op}
	bracketed := p.is(0, "(", "[", "{")
	if bracketed {
		p.at++
	}
	for {
		value, err := p.value(knob)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(c.values, value) {
			c.values = append(c.values, value)
		}
		joint := 0
		if p.is(0, ",", "or", "|", "and") {
			joint = 1
		}
		if p.is(0, ",") && p.is(1, "or", "and") {
			joint = 2
		}
		if joint == 0 || !bracketed && (p.at+joint >= len(p.words) || p.startsClause(joint)) {
			break
		}
		p.at += joint
	}
	if bracketed {
		if !p.is(0, ")", "]", "}") {
			return nil, fmt.Errorf("the list of %s is not closed", knob.Name)
		}
		p.at++
	}
	return []constraint{c}, nil
}

// value reads one value of the knob.
func (p *hintParser) value(knob tasks.Knob) (string, error) {
	w := p.peek(0)
	if p.done() {
		return "", fmt.Errorf("%s has no value after it", knob.Name)
	}
	if knob.Type != tasks.KnobChoice {
		v, ok := readNumber(w.text)
		if !ok {
			return "", fmt.Errorf("%s needs a number, not %q", knob.Name, w.text)
		}
		p.at++
		return number(v), nil
	}
	i := slices.Index(knob.Values, w.text)
	if i < 0 {
		i = slices.IndexFunc(knob.Values, func(v string) bool { return strings.EqualFold(v, w.text) })
	}
	if i < 0 {
		return "", fmt.Errorf("%s has no value %q; it is %s", knob.Name, w.text, either(knob.Values))
	}
	p.at++
	return knob.Values[i], nil
}

// unknown explains a clause that starts with no knob.
func (p *hintParser) unknown() error {
	var names []string
	for _, k := range p.knobs {
		names = append(names, k.Name)
	}
	w := p.peek(0).text
	if near := tasks.Nearest(strings.TrimPrefix(w, "--"), names); len(near) > 0 {
		return fmt.Errorf("there is no knob %q; did you mean %q?", w, near[0])
	}
	return fmt.Errorf("%q is not a knob", w)
}
