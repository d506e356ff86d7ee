package umdh

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// A line of more than maxLine bytes is left out, and counted unless all of it is padding; the lines around it stay. That
// holds for every end of a line and wherever a piece ends.
func TestOverlongLines(t *testing.T) {
	words := func(n int) string { return strings.Repeat("x", n) }
	padding := func(n int) string { return strings.Repeat("\x00", n) }
	type result struct {
		lines []int // their lengths
		long  tally
	}
	for name, c := range map[string]struct {
		lines []string
		want  result
	}{
		"the longest":              {[]string{words(maxLine), "a"}, result{lines: []int{maxLine, 1}}},
		"the longest padding":      {[]string{padding(maxLine), "a"}, result{lines: []int{maxLine, 1}}},
		"words":                    {[]string{"a", words(maxLine + 1), "bc"}, result{[]int{1, 2}, tally{1, 2}}},
		"padding":                  {[]string{"a", padding(maxLine + 1), "bc"}, result{lines: []int{1, 2}}},
		"words before padding":     {[]string{"x" + padding(3*maxLine), "a"}, result{[]int{1}, tally{1, 1}}},
		"words in padding":         {[]string{padding(maxLine) + "x" + padding(2*maxLine)}, result{long: tally{1, 1}}},
		"words after padding":      {[]string{padding(3*maxLine) + "x", "a"}, result{[]int{1}, tally{1, 1}}},
		"padding after long words": {[]string{words(2 * maxLine), padding(2 * maxLine)}, result{long: tally{1, 1}}},
		"words after long padding": {[]string{padding(2 * maxLine), words(2 * maxLine)}, result{long: tally{1, 2}}},
		"words of many pieces":     {[]string{words(20 * maxLine), "a"}, result{[]int{1}, tally{1, 1}}},
		"words twice":              {[]string{words(2 * maxLine), "a", words(2 * maxLine)}, result{[]int{1}, tally{2, 1}}},
	} {
		for _, end := range []string{"\n", "\r\n", "\r\r\n", "\r"} {
			log := []byte(strings.Join(c.lines, end) + end)
			for _, first := range []int{4 << 10, maxLine + 1, maxLine + 2, len(log) + lineRoom} {
				in := newLines(t.Context(), bytes.NewReader(log), first)
				in.fill()
				in.pieces.size = 2 * maxLine // more than any carry
				var got result
				for line, ended, ok := in.next(); ok; line, ended, ok = in.next() {
					if got.lines = append(got.lines, len(line)); !ended {
						t.Errorf("%s: line %d has no end", name, in.number)
					}
				}
				in.close()
				if n := cap(in.glued); n > 8*maxLine {
					t.Errorf("%s: %d bytes were held", name, n)
				}
				if got.long = in.long; !reflect.DeepEqual(got, c.want) {
					t.Errorf("%s, %q, first piece of %d bytes: %+v, want %+v", name, end, first, got, c.want)
				}
			}
		}
	}
}
