package umdh_test

import (
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/umdh"
)

// A log that ends too early says where it ends, and its totals are lower bounds.
func TestTruncatedLogs(t *testing.T) {
	const start, end = "*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -\n",
		"*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -\n"
	const block, frame = "1 bytes + 2 at 10010 by BackTraceA\n", "\t1234\n"
	const entry = "+      20 (     20 -      0)      1 allocs|BackTrace1\n" +
		"+       1 (      1 -      0)|BackTrace1|allocations\n|a!b+1\n"
	const total = "Total increase ==     20 requested +      0 overhead =     20\n"
	const modules = "//     Base Size Module\n//            10000   20000 C:\\a.exe\n"
	snapshot := func(where string) string {
		return "Take the log again, or upload the whole file: it ends " + where + ", so all totals are lower bounds."
	}
	const cutLine = "Compare the logs again, or upload the whole file: it ends inside a line, which is left out."
	for name, c := range map[string]struct {
		log, want string
		line      string
	}{
		"whole":                             {log: start + block + frame + end},
		"inside a heap":                     {start + block + frame, snapshot("inside the data of heap 10000"), "line 3"},
		"inside a line of a heap":           {start + block + "\t12", snapshot("inside the data of heap 10000, without its last line, which is cut"), "line 3"},
		"inside a line behind the heaps":    {start + block + frame + end + "// Mem", snapshot("behind its last heap, without its last line, which is cut"), "line 5"},
		"inside a line before the heaps":    {modules + "//            3000", snapshot("before the first heap, without its last line, which is cut"), "line 3"},
		"without a heap":                    {modules, "Take the log again, or upload the whole file: it ends before the first heap and lists no entry.", "line 2"},
		"a whole difference":                {log: entry + total},
		"a difference inside its total":     {entry + total[:20], cutLine, "line 4"},
		"a difference inside a line":        {entry + "+      20 (     20", cutLine, "line 4"},
		"a difference behind its total":     {entry + total + "+      20 (     20", cutLine, "line 5"},
		"a difference before its total":     {entry, "The total at the end of the difference is missing: the file is cut short, or an excerpt.", "line 3"},
		"a difference whose last line ends": {log: entry + strings.TrimSuffix(total, "\n") + "\r"},
	} {
		captures, err := umdh.Read(t.Context(), strings.NewReader(strings.ReplaceAll(c.log, "|", "\t")), umdh.Options{})
		if err != nil || len(captures) != 1 {
			t.Errorf("%s: %d captures, %v", name, len(captures), err)
			continue
		}
		for i, s := range captures[0].Snapshots {
			if s.LowerBound != (c.want != "") {
				t.Errorf("%s: snapshot %d is a lower bound: %v", name, i, s.LowerBound)
			}
		}
		warnings := slices.DeleteFunc(captures[0].Warnings, func(w capture.Warning) bool { return w.Code != capture.Truncated })
		switch {
		case c.want == "" && len(warnings) > 0, c.want != "" && len(warnings) != 1:
			t.Errorf("%s: warnings %+v", name, warnings)
		case c.want != "" && (warnings[0].Message != c.want || warnings[0].Place != c.line || warnings[0].Count != 1):
			t.Errorf("%s: %+v, want %s: %s", name, warnings[0], c.line, c.want)
		}
	}
}

// A log whose only heap could not be read says that alone.
func TestBrokenSDKIsNotTruncated(t *testing.T) {
	c := read(t, []byte("Warning: UMDH didn't find any allocations that have stacks collected.\n"), umdh.BaseAuto)[0]
	if got := codes(c); got != "umdh-broken-sdk" || !c.Snapshots[0].LowerBound {
		t.Errorf("%s, a lower bound: %v", got, c.Snapshots[0].LowerBound)
	}
}
