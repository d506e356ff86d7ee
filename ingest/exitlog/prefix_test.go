package exitlog

import (
	"strings"
	"testing"
)

// What CI systems and shells put before a line is taken off it, and what belongs to the line is not. The prefix that
// tells a process stays known.
func TestPrefixes(t *testing.T) {
	many := strings.Repeat
	for _, test := range []struct{ line, text, lane string }{
		{"leak", "leak", ""},
		{" \t leak \r\n", "leak", ""},
		{"progress 10 %\rleak", "leak", ""},
		{"\xEF\xBB\xBFleak", "leak", ""},
		// Times.
		{"2026-01-02T03:04:05.678Z leak", "leak", ""},
		{"2026/01/02 03:04:05 leak", "leak", ""},
		{"2026-01-02 leak", "2026-01-02 leak", ""},
		{"2026-01-02T03:04 leak", "2026-01-02T03:04 leak", ""},
		{"03:04:05,678 leak", "leak", ""},
		{"03:04:05+01:00 leak", "leak", ""},
		{"03:04:05leak", "03:04:05leak", ""},
		{"2026-01-02T03:04:05.678Z 00O leak", "leak", ""},
		{"2026-01-02T03:04:05.678Z 01E+leak", "leak", ""},
		// Numbers of ctest, MSBuild and DebugView.
		{"12: leak", "leak", "12:"},
		{"12:", "", "12:"},
		{"12:leak", "12:leak", ""},
		{"123456: leak", "leak", "123456:"},
		{"1234567: leak", "1234567: leak", ""},
		{"2>leak", "leak", "2>"},
		{"123>leak", "leak", "123>"},
		{"1234>leak", "1234>leak", ""},
		{"00000001\t0.5\t[42] leak", "leak", "[42]"},
		{"00000001\tx\t[42] leak", "00000001\tx\t[42] leak", ""},
		{"0000001\t0.5\t[42] leak", "0000001\t0.5\t[42] leak", ""},
		// Brackets.
		{"[worker] leak", "leak", "[worker]"},
		{"[a] leak", "leak", "[a]"},
		{"[] leak", "[] leak", ""},
		{"[" + many("x", 79) + "] leak", "leak", "[" + many("x", 79) + "]"},
		{"[" + many("x", 80) + "] leak", "[" + many("x", 80) + "] leak", ""},
		{"[Error] leak", "leak", ""},
		{"[03:04:05]W: [Step 1/2] leak", "leak", "[Step 1/2]"},
		{"[03:04:05] : leak", "leak", ""},
		{"[x][y] leak", "[x][y] leak", ""},
		{"[x]y leak", "[x]y leak", ""},
		{"[ RUN      ] a.b", "[ RUN      ] a.b", ""},
		{"[       OK ] a.b", "[       OK ] a.b", ""},
		{"[  FAILED  ] a.b", "[  FAILED  ] a.b", ""},
		{"[  SKIPPED ] a.b", "[  SKIPPED ] a.b", ""},
		{"[----------] a.b", "[----------] a.b", ""},
		{"[==========] a.b", "[==========] a.b", ""},
		{"[doctest] a.b", "[doctest] a.b", ""},
		// Dr. Memory, commands of CI systems, quotes, containers.
		{"~~1234~~ leak", "leak", "~~1234~~"},
		{"~~Dr.M~~ leak", "leak", ""},
		{"~~" + many("1", 12) + "~~ leak", "leak", "~~" + many("1", 12) + "~~"},
		{"~~" + many("1", 13) + "~~ leak", "~~" + many("1", 13) + "~~ leak", ""},
		{"~~~~ leak", "~~~~ leak", ""},
		{"12: ~~1234~~ leak", "leak", "12:"},
		{"~~1234~~ 12: leak", "leak", "12:"},
		{"##[error]leak", "leak", ""},
		{"> leak", "leak", ""},
		{">leak", ">leak", ""},
		{"worker_1  | leak", "leak", "worker_1"},
		{"worker_1| leak", "worker_1| leak", ""},
		{"worker_1 |leak", "worker_1 |leak", ""},
		{"worker 1 | leak", "worker 1 | leak", ""},
		{many("x", 64) + " | leak", "leak", many("x", 64)},
		{many("x", 65) + " | leak", many("x", 65) + " | leak", ""},
		// Colours.
		{"\x1b[31mleak\x1b[0m", "leak", ""},
		{"\x1b]0;title\x07leak", "leak", ""},
		{"\x1b_bk;t=1\x07leak", "leak", ""},
		{"\x1b]0;title\x1b\\leak", "leak", ""},
		{"leak\x1b", "leak", ""},
		// No more than mostPrefixes.
		{many("> ", mostPrefixes) + "leak", "leak", ""},
		{many("> ", mostPrefixes+1) + "leak", "> leak", ""},
	} {
		var p prefixStripper
		if got := p.strip([]byte(test.line)); strings.TrimLeft(string(got.text), " ") != test.text || string(got.lane) != test.lane {
			t.Errorf("%q: %q of %q, want %q of %q", test.line, got.text, got.lane, test.text, test.lane)
		}
	}
}
