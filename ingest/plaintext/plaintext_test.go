package plaintext_test

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"heapdrift/ingest/plaintext"
)

// Every encoding gives the same text, however few bytes come at once.
func TestEncodings(t *testing.T) {
	for name, test := range map[string]struct {
		in, want string
		guessed  bool
	}{
		"UTF-8":                               {"a\r\nb", "a\r\nb", false},
		"UTF-8 with a mark":                   {"\xEF\xBB\xBFab", "ab", false},
		"an ANSI code page":                   {"caf\xE9", "caf\xE9", false},
		"UTF-16 with a mark":                  {"\xFF\xFEa\x00\xE9\x00", "aé", false},
		"big-endian UTF-16 with a mark":       {"\xFE\xFF\x00a\xD8\x3D\xDE\x00", "a😀", false},
		"UTF-16 without a mark":               {"l\x00e\x00a\x00k\x00", "leak", true},
		"big-endian UTF-16 without a mark":    {"\x00l\x00e\x00a\x00k", "leak", true},
		"half of a surrogate pair at the end": {"\xFF\xFEa\x00\x3D\xD8", "a\uFFFD", false},
		"half of a unit at the end":           {"\xFF\xFEa\x00b", "a", false},
		"nothing":                             {"", "", false},
	} {
		for _, source := range []io.Reader{bytes.NewReader([]byte(test.in)), iotest.OneByteReader(bytes.NewReader([]byte(test.in)))} {
			d := plaintext.NewDecoder(source)
			got, err := io.ReadAll(d)
			if err != nil || string(got) != test.want || d.Guessed() != test.guessed {
				t.Errorf("%s: %q, %v, guessed %t", name, got, err, d.Guessed())
			}
		}
	}
}
