package analysis_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// A report sums what each test left, whatever the findings name, and knows tests that left nothing where the lists are
// whole.
func TestExitTests(t *testing.T) {
	first := leftAtExit("crt-leaks", "", "A", leftSite{"One", capture.ReachUnsearched, 2, 64}, leftSite{"Two", capture.ReachUnsearched, 1, 8})
	first.Ran = []string{"A", "Clean"}
	second := leftAtExit("crt-leaks", "", "B", leftSite{"One", capture.ReachUnsearched, 4, 128})
	possible := leftAtExit("drmemory", "app.exe", "C", leftSite{"Three", capture.ReachPossible, 1, 100}, leftSite{"Four", capture.ReachHeld, 9, 900})
	outside := leftAtExit("crt-leaks", "", "", leftSite{"Two", capture.ReachUnsearched, 7, 7000})
	again := leftAtExit("vld", "", "A", leftSite{"One", capture.ReachUnsearched, 2, 60})
	broken := leftAtExit("crt-leaks", "", "B", leftSite{"One", capture.ReachUnsearched, 4, 128})
	broken.Snapshots[0].LowerBound = true
	for name, test := range map[string]struct {
		list []*capture.Capture
		want string
	}{
		"all": {[]*capture.Capture{first, second, possible, outside, again},
			"B 1/1 4 128 true; C 1/0 1 100 true; A 2/2 3 72 true; Clean 0/0 0 0 true"},
		"a list breaks off": {[]*capture.Capture{first, broken}, "B 1/1 4 128 false; A 2/2 3 72 false"},
		"pointers to all": {[]*capture.Capture{leftAtExit("drmemory", "app.exe", "D", leftSite{"Four", capture.ReachHeld, 9, 900})},
			"D 0/0 0 0 true"},
		"no test": {[]*capture.Capture{outside}, ""},
	} {
		r := analyze(t, []analysis.Input{{Files: []analysis.File{{Name: "a"}}, Captures: test.list}})
		var said []string
		for _, e := range r.ExitTests {
			said = append(said, fmt.Sprintf("%s %d/%d %d %d %t", e.Test, e.Leaks, e.Certain, e.Lost.Count, e.Lost.Bytes, e.Whole))
		}
		if got := strings.Join(said, "; "); got != test.want || r.MoreExitTests != 0 {
			t.Errorf("%s: %s\nwant %s", name, got, test.want)
		}
	}
}

// Lines that were joined to a call stack are a leak of their test beside its others: several of one stack are one leak.
func TestExitTestsOfJoinedLines(t *testing.T) {
	const a, b = `c:\src\a.cpp`, `c:\src\b.cpp`
	umdh := func(sites ...stackSite) *capture.Capture {
		return stackList(capture.KindUMDHSnapshot, capture.ShapeSnapshot, sites...)
	}
	add := stackSite{"Add", a, 7, 2, 64}
	seven, eight := lineSite{a, 7, 2, 64, nil, ""}, lineSite{a, 8, 1, 16, nil, ""}
	other := lineSite{b, 9, 1, 500, nil, ""}
	for name, test := range map[string]struct {
		list []*capture.Capture
		want string
	}{
		"beside another leak": {[]*capture.Capture{umdh(add), lineList("T", seven, other)}, "T 2/2 3 564"},
		"alone":               {[]*capture.Capture{umdh(add), lineList("T", seven)}, "T 1/1 2 64"},
		"of two tests": {[]*capture.Capture{umdh(stackSite{"Add", a, 7, 4, 128}),
			lineList("T", seven, other), lineList("U", seven, other)}, "T 2/2 3 564; U 2/2 3 564"},
		"two lines of a function": {[]*capture.Capture{umdh(add, stackSite{"Add", a, 8, 1, 16}),
			lineList("T", seven, eight, other)}, "T 2/2 4 580"},
		"listed by two tools": {[]*capture.Capture{stackListIn("vld", "T", stackSite{"Add", a, 7, 2, 66}),
			lineList("T", lineSite{a, 7, 2, 64, []string{"Add"}, ""}, other)}, "T 2/2 3 566"},
	} {
		r := analyze(t, []analysis.Input{{Files: []analysis.File{{Name: "a"}}, Captures: test.list}})
		var said []string
		for _, e := range r.ExitTests {
			said = append(said, fmt.Sprintf("%s %d/%d %d %d", e.Test, e.Leaks, e.Certain, e.Lost.Count, e.Lost.Bytes))
		}
		if got := strings.Join(said, "; "); got != test.want {
			t.Errorf("%s: %s\nwant %s", name, got, test.want)
		}
	}
}

// stackListIn is a list of leaks at exit with call stacks, printed in a test.
func stackListIn(kind capture.Kind, test string, sites ...stackSite) *capture.Capture {
	c := stackList(kind, capture.ShapeExit, sites...)
	c.Test = test
	return c
}

// Of very many tests, those with leaks come first, and the others are counted.
func TestManyExitTests(t *testing.T) {
	for _, clean := range []int{analysis.MaxExitTests - 1, analysis.MaxExitTests} {
		c := leftAtExit("crt-leaks", "", "Zz", leftSite{"One", capture.ReachUnsearched, 2, 64})
		for i := range clean {
			c.Ran = append(c.Ran, fmt.Sprintf("Clean%d", i))
		}
		r := analyze(t, []analysis.Input{{Files: []analysis.File{{Name: "a"}}, Captures: []*capture.Capture{c}}})
		if len(r.ExitTests) != analysis.MaxExitTests || r.ExitTests[0].Test != "Zz" || r.MoreExitTests != clean+1-analysis.MaxExitTests {
			t.Errorf("%d clean: %d and %d more", clean, len(r.ExitTests), r.MoreExitTests)
		}
	}
}
