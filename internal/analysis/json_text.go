package analysis

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A jsonText cuts a JSON document into values. It looks at quotes and brackets alone: the caller that takes a value
// decodes it, and finds the errors in it.
type jsonText struct {
	r    io.Reader
	text []byte // what was read, from the value on that is taken next
	at   int    // of what was not taken yet
}

// fill reads more behind what was not taken, which it moves to the beginning.
func (j *jsonText) fill() error {
	j.text, j.at = append(j.text[:0], j.text[j.at:]...), 0
	if len(j.text) == cap(j.text) { // a value that is longer than what there is room for
		room := make([]byte, len(j.text), max(256<<10, 2*cap(j.text)))
		copy(room, j.text)
		j.text = room
	}
	for {
		n, err := j.r.Read(j.text[len(j.text):cap(j.text)])
		j.text = j.text[:len(j.text)+n]
		switch {
		case n > 0:
			return nil
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
}

// peek is the first byte that is not taken yet and no space.
func (j *jsonText) peek() (byte, error) {
	for {
		for ; j.at < len(j.text); j.at++ {
			if c := j.text[j.at]; !isSpace(c) {
				return c, nil
			}
		}
		if err := j.fill(); err != nil {
			return 0, err
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// take takes a byte, which must come next.
func (j *jsonText) take(want byte) error {
	c, err := j.peek()
	if err == nil && c != want {
		err = fmt.Errorf("%q where %q belongs", c, want)
	}
	j.at++
	return err
}

// another reports whether a list or an object goes on, and takes the comma, or what ends it. n is how many came before.
func (j *jsonText) another(n int, end byte) (bool, error) {
	c, err := j.peek()
	switch {
	case err != nil:
		return false, err
	case c == end:
		j.at++
		return false, nil
	case n > 0:
		return true, j.take(',')
	}
	return true, nil
}

// value takes a value. Its bytes stay until the next call of any method. It is one loop over every byte of a report:
// the first switch follows quotes and depth, the second one ends the value.
func (j *jsonText) value() ([]byte, error) {
	if _, err := j.peek(); err != nil {
		return nil, err
	}
	depth, quoted := 0, false
	for i := j.at; ; {
		for ; i < len(j.text); i++ {
			c := j.text[i]
			switch {
			case quoted && c == '\\':
				i++
				continue
			case c == '"':
				quoted = !quoted
			case quoted:
				continue
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				depth--
			case c == ',' || c == ':' || isSpace(c):
			default:
				continue
			}
			switch {
			case quoted || depth > 0:
			case depth == 0 && (c == '"' || c == '}' || c == ']'):
				return j.cut(i + 1)
			case depth < 0 || c == ',' || c == ':' || isSpace(c): // behind a number or a word
				return j.cut(i)
			}
		}
		i -= j.at
		if err := j.fill(); errors.Is(err, io.ErrUnexpectedEOF) && depth == 0 && !quoted {
			return j.cut(i) // a number or a word that is all there is
		} else if err != nil {
			return nil, err
		}
	}
}

// cut takes what comes before a place in the text.
func (j *jsonText) cut(to int) ([]byte, error) {
	value := j.text[j.at:to]
	if len(value) == 0 {
		return nil, fmt.Errorf("%q where a value belongs", j.text[to])
	}
	j.at = to
	return value, nil
}

// name takes the name of a field, and the colon behind it.
func (j *jsonText) name() (name string, err error) {
	text, err := j.value()
	if err == nil {
		err = json.Unmarshal(text, &name)
	}
	if err == nil {
		err = j.take(':')
	}
	return name, err
}
