package analysis

import (
	"encoding/json"
	"math"
	"strconv"
)

// A rowText reads a row of a list as WriteJSON writes it, which encoding/json takes several times as long for. It
// refuses every row that it does not expect, which encoding/json reads then. Its results are those of encoding/json.
type rowText struct {
	text    []byte
	at      int
	refused bool
	known   map[string]string // texts that many rows have
	room    []byte
}

// mostKnown bounds the texts that a rowText remembers.
const mostKnown = 1 << 14

// decode reads a row by fields, or by encoding/json where that refuses it.
func decode[T any](t *rowText, text []byte, row *T, read func(*rowText, *T)) error {
	t.text, t.at, t.refused = text, 0, false
	read(t, row)
	if !t.refused && t.at == len(text) {
		return nil
	}
	*row = *new(T)
	return json.Unmarshal(text, row)
}

// has takes a text that may come next.
func (t *rowText) has(next string) bool {
	if t.refused || len(t.text)-t.at < len(next) || string(t.text[t.at:t.at+len(next)]) != next {
		return false
	}
	t.at += len(next)
	return true
}

// must takes a text that must come next.
func (t *rowText) must(next string) {
	if !t.has(next) {
		t.refused = true
	}
}

// fields takes an object; one takes the value of a field.
func (t *rowText) fields(one func(name []byte)) {
	t.must("{")
	for n := 0; !t.refused && !t.has("}"); n++ {
		if n > 0 {
			t.must(",")
		}
		from := t.at + 1
		t.must(`"`)
		for t.at < len(t.text) && (t.text[t.at] >= 'a' && t.text[t.at] <= 'z' || t.text[t.at] == '_') {
			t.at++
		}
		to := t.at
		if t.must(`":`); !t.refused {
			one(t.text[from:to])
		}
	}
}

// items takes a list, which begins.
func (t *rowText) items(one func()) {
	t.must("[")
	for n := 0; !t.refused && !t.has("]"); n++ {
		if n > 0 {
			t.must(",")
		}
		one()
	}
}

// listOf takes a list, or null.
func listOf[T any](t *rowText, one func() T) []T {
	if t.has("null") {
		return nil
	}
	list := []T{}
	t.items(func() { list = append(list, one()) })
	return list
}

// pointerTo takes a value, or null.
func pointerTo[T any](t *rowText, one func(*T)) *T {
	if t.has("null") {
		return nil
	}
	v := new(T)
	one(v)
	return v
}

// bytes takes a text of printable ASCII. They stay until the next one.
func (t *rowText) bytes() []byte {
	t.must(`"`)
	from := t.at
	for ; t.at < len(t.text); t.at++ {
		switch c := t.text[t.at]; {
		case c == '"':
			t.at++
			return t.text[from : t.at-1]
		case c == '\\':
			return t.escaped(from)
		case c < ' ' || c > '~':
			t.refused = true
			return nil
		}
	}
	t.refused = true
	return nil
}

// escaped is bytes from the first escape on.
func (t *rowText) escaped(from int) []byte {
	t.room = append(t.room[:0], t.text[from:t.at]...)
	for t.at < len(t.text) {
		c := t.text[t.at]
		t.at++
		switch {
		case c == '"':
			return t.room
		case c < ' ' || c > '~':
			t.refused = true
			return nil
		case c != '\\':
		case t.has(`\`), t.has(`"`):
			c = t.text[t.at-1]
		case t.has("u003c"):
			c = '<'
		case t.has("u003e"):
			c = '>'
		case t.has("u0026"):
			c = '&'
		default:
			t.refused = true
			return nil
		}
		t.room = append(t.room, c)
	}
	t.refused = true
	return nil
}

// string takes a text.
func (t *rowText) string() string { return string(t.bytes()) }

// often takes a text that many rows have, which is kept once.
func (t *rowText) often() string {
	b := t.bytes()
	if s, ok := t.known[string(b)]; ok {
		return s
	}
	s := string(b)
	if t.known == nil {
		t.known = map[string]string{}
	}
	if len(t.known) < mostKnown {
		t.known[s] = s
	}
	return s
}

// safeDigits is how many digits a number may have that fits into 64 bits whatever they are.
const safeDigits = 19

// uint takes a number up to a limit.
func (t *rowText) uint(limit uint64) uint64 {
	from, v := t.at, uint64(0)
	for t.at < len(t.text) && t.text[t.at] >= '0' && t.text[t.at] <= '9' {
		v = v*10 + uint64(t.text[t.at]-'0')
		t.at++
	}
	if n := t.at - from; n == 0 || n > safeDigits || n > 1 && t.text[from] == '0' || v > limit {
		t.refused = true
	}
	return v
}

// int takes a number.
func (t *rowText) int() int64 {
	if t.has("-") {
		return -int64(t.uint(math.MaxInt64))
	}
	return int64(t.uint(math.MaxInt64))
}

// float takes a number.
func (t *rowText) float() float64 {
	from := t.at
	for t.at < len(t.text) &&
		(t.text[t.at] >= '0' && t.text[t.at] <= '9' || t.text[t.at] == '.' || t.text[t.at] == '-' && t.at == from) {
		t.at++
	}
	if !json.Valid(t.text[from:t.at]) { // "0." and "01" are no numbers
		t.refused = true
		return 0
	}
	v, err := strconv.ParseFloat(string(t.text[from:t.at]), 64)
	t.refused = t.refused || err != nil
	return v
}

// bool takes true or false.
func (t *rowText) bool() bool {
	if t.has("true") {
		return true
	}
	t.must("false")
	return false
}
