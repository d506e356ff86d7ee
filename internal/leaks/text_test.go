package leaks_test

import (
	"strings"
	"testing"

	"heapdrift/internal/leaks"
)

func TestIsLine(t *testing.T) {
	for text, want := range map[string]bool{"": true, "module:app -> +app": true, "ä €": true, "a\tb": false,
		"a\nb": false, "a\x00": false, "\xff": false, "a\u0085": false} {
		if got := leaks.IsSingleLine(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestCleanText(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""}, {"a\nb\n", "a\nb\n"}, {"a\r\nb\r\n", "a\nb\n"}, {"\ufeffa\n", "a\n"}, {"\ufeff", ""}, {"a\tb", "a\tb"},
		{"\n\n", "\n\n"}, {"a\ufeffb", "a\ufeffb"},
	} {
		if got, err := leaks.NormalizeLines(test.text); err != nil || got != test.want {
			t.Errorf("%q: %q, %v; want %q", test.text, got, err, test.want)
		}
	}
	for text, line := range map[string]string{"a\x00": "line 1 ", "a\nb\n\xff": "line 3 ", "a\rb": "line 1 ",
		"\r\n\x1b[0m": "line 2 "} {
		_, err := leaks.NormalizeLines(text)
		if fieldOf(t, err) != "body" || !strings.Contains(err.Error(), line) {
			t.Errorf("%q: %v, want a word on %s", text, err, line)
		}
	}
}
