package umdh_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/umdh"
)

// A line that begins like one of UMDH's and is none is counted as not understood, with its line, whatever it begins
// like; so is a line of the data outside of it. A line that UMDH writes is not.
func TestMisfits(t *testing.T) {
	const start, end = "*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -\n" +
		"1 bytes + 2 at 10010 by BackTraceA\n\t1234\n",
		"\n*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -\n"
	for line, misfit := range map[string]bool{
		"/ a comment with one stroke": true, "* a mark of another kind": true, "+ 1 ( 2 - x)": true, "- nothing": true,
		"Total nonsense": true, "Totals": true, "12 bites + 2 at 10020 by BackTraceB": true, "Deadline": true, "hello": true,
		"// a comment": false, "*- - - - - - - - - - Heap 10000 Hogs - - - - - - - - - -": false, "": false, "\x00\x00": false,
		"2 bytes + 2 at 10020 by BackTraceA": false,
	} {
		c := read(t, []byte(start+line+end), umdh.BaseAuto)[0]
		var got []string
		for _, w := range c.Warnings {
			got = append(got, fmt.Sprintf("%s x%d at %s", w.Code, w.Count, w.Place))
		}
		want := ""
		if misfit {
			want = "malformed x1 at line 4"
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// A log with bytes that text has not is damaged, and the warning names the first line; padding before the header of one
// of several logs, and at the end of a file, is no damage.
func TestDamagedLines(t *testing.T) {
	const start, end = "// UMDH: version 10.0: Logtime 2025-03-04 12:10 - Machine=M - PID=4242\n" +
		"*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -\n1 bytes + 2 at 10010 by BackTraceA\n\t1234\n",
		"\n*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -\n"
	for name, test := range map[string]struct{ log, want string }{
		"whole":             {start + end, ""},
		"padding at end":    {start + end + "\x00\x00\x00", ""},
		"padding before":    {"\x00\x00" + start + end, ""},
		"a hole":            {start + "\x00\x00\x00bytes + 2 at 10020 by BackTraceA" + end, "damaged from line 5. 1 line not"},
		"a byte":            {start + "2 bytes + 2 at 10\x0120 by BackTraceA" + end, "damaged from line 5. 1 line not"},
		"bytes in comments": {"// a\x02\n" + start + end, "damaged from line 1. 1 line not"},
		"two lines, and one more that fits nothing": {start + "\x01\nnonsense\n\x01x\n" + end, "damaged from line 5. 3 lines not"},
	} {
		message := ""
		for _, w := range read(t, []byte(test.log), umdh.BaseAuto)[0].Warnings {
			message += w.Message
		}
		if !strings.Contains(message, test.want) || test.want == "" && message != "" {
			t.Errorf("%s: %q, want %q", name, message, test.want)
		}
	}
}
