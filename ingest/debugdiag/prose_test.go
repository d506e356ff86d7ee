package debugdiag

import (
	"strings"
	"testing"
)

// Blanks of all kinds are one blank; letters that share a byte with one of them stay.
func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		" a \t\r\n b ":              "a b",
		"a\u00a0\u00a0b":            "a b",
		"\u00a0a\u00a0":             "a",
		"12 \u00b5s, \u00a9 \u00ab": "12 \u00b5s, \u00a9 \u00ab", // they begin with the byte of a blank that does not break
		"\u00e0 \u0820x":            "\u00e0 \u0820x",            // they end with, or hold, its other byte
		"a\x00b":                    "ab",
	} {
		var p prose
		p.add([]byte(text))
		if got, valid := p.take(); got != want || !valid {
			t.Errorf("%q: %q, %t", text, got, valid)
		}
	}
	var p prose
	p.add([]byte("a\xc2")) // of another code page
	if got, valid := p.take(); got != "a\uFFFD" || valid {
		t.Errorf("%q, %t", got, valid)
	}
}

// A line ends once, and text is cut at its limit.
func TestProseEnds(t *testing.T) {
	var p prose
	p.line()
	p.add([]byte(" a "))
	p.line()
	p.add([]byte(" b"))
	if got, _ := p.take(); got != "a\nb" {
		t.Errorf("%q", got)
	}
	const most = 64 << 10
	for _, n := range []int{most, most + 1} {
		p.add([]byte(strings.Repeat("x", n)))
		if cut := p.cut; cut != (n > most) {
			t.Errorf("%d bytes: cut %t", n, cut)
		}
		if got, _ := p.take(); len(got) != most || p.cut {
			t.Errorf("%d bytes: %d are kept", n, len(got))
		}
	}
}
