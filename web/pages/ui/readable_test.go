package ui_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"heapdrift/web/pages/ui"
)

func TestReadable(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain – text → here": "plain – text → here", "a\u202eb": "a\ufffdb", "\u061cx\u2066": "¿x\ufffd",
		"\u200e\u200f": "\ufffd\ufffd", "\xe2\x80": "\xe2\x80", "\xe2": "\xe2",
	} {
		if got := ui.Readable(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	var all strings.Builder
	for r := range rune(0x3000) {
		if unicode.Is(unicode.Bidi_Control, r) {
			all.WriteRune(r)
			all.WriteString("–")
		}
	}
	got := ui.Readable(all.String())
	if !utf8.ValidString(got) ||
		strings.ContainsFunc(got, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }) {
		t.Errorf("%q", got)
	}
}

func BenchmarkReadable(b *testing.B) {
	page := strings.Repeat(`<td class="num" title="2,223,360 B">2.12 MB – 3 → 4</td>`, 4000)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		ui.Readable(page)
	}
}
