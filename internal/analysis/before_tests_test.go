package analysis_test

import (
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// Blocks that were there before the first test keep their class, and are not certain: a static may free them.
func TestBlocksBeforeTests(t *testing.T) {
	const file = `c:\src\a.cpp`
	list := func(before int64) *capture.Capture {
		c := lineList("", lineSite{file, 7, 3, 96, nil, ""})
		c.Lines[0].BeforeTests = capture.Usage{Count: before, Bytes: 32 * before}
		return c
	}
	possible := leftAtExit("drmemory", "app.exe", "", leftSite{"Add", capture.ReachPossible, 1, 8})
	for name, test := range map[string]struct {
		captures []*capture.Capture
		status   analysis.VerdictStatus
		certain  bool
		says     string
	}{
		"none of them": {[]*capture.Capture{list(0)}, analysis.StatusLeak, true, "96 B in 3 blocks: the tool does not look for pointers to them."},
		"some of them": {[]*capture.Capture{list(2)}, analysis.StatusLeak, true,
			"32 B in 1 block: the tool does not look for pointers to them; 64 B in 2 blocks: allocated before the first test, a static may free them after this list."},
		"all of them": {[]*capture.Capture{list(3)}, analysis.StatusInconclusive, false,
			"96 B in 3 blocks: allocated before the first test, a static may free them after this list."},
		"in two tests": {[]*capture.Capture{list(3), list(3)}, analysis.StatusInconclusive, false, "192 B in 6 blocks: allocated before"},
		"a stack that lists them too": {[]*capture.Capture{stackList("vld", capture.ShapeExit, stackSite{"Add", file, 7, 3, 96}), list(3)},
			analysis.StatusLeak, true, "Listed without a call stack as a.cpp:32-byte-block#7"},
	} {
		r := analyze(t, inputs(test.captures...))
		f := r.Findings[0]
		text := ""
		for _, c := range f.Clauses {
			text += c.Text
		}
		if len(r.Findings) != 1 || r.Verdict.Status != test.status || f.Verdict != analysis.ClassLeftAtExit || f.Certain != test.certain || !strings.Contains(text, test.says) {
			t.Errorf("%s: %s, %s, certain %t: %s", name, r.Verdict.Status, f.Verdict, f.Certain, text)
		}
	}
	for name, test := range map[string]struct {
		captures []*capture.Capture
		says     string
	}{
		"statics":              {[]*capture.Capture{list(3)}, "; they were allocated before the first test, and a static may free them after the list, so no leak is proven."},
		"pointers":             {[]*capture.Capture{possible}, "; the program had pointers into all of them, so no leak is proven."},
		"statics and pointers": {[]*capture.Capture{possible, list(3)}, "; the program had pointers into them, or a static may free them after the list, so no leak is proven."},
	} {
		if v := analyze(t, inputs(test.captures...)).Verdict; !strings.HasSuffix(v.Sentence, test.says) {
			t.Errorf("%s: %s", name, v.Sentence)
		}
	}
}
