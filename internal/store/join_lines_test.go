package store_test

import (
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// lined is a report of findings: "S" is a leak, "S<x,y" one that the lines x and y are part of, and "x?" a line that
// several call stacks of the run may allocate at.
func lined(findings ...string) *analysis.Report {
	var list []finding
	joined, several := map[string]string{}, map[string]bool{}
	for _, name := range findings {
		signature, lines, _ := strings.Cut(name, "<")
		signature, doubted := strings.CutSuffix(signature, "?")
		joined[signature], several[signature] = lines, doubted
		list = append(list, finding{signature: signature, class: leak, bytes: 7})
	}
	r := leaksReport(list...)
	for i := range r.Findings {
		f := &r.Findings[i]
		f.SeveralStacks = several[f.Signature]
		for line := range strings.SplitSeq(joined[f.Signature], ",") {
			if line != "" {
				alone := *f
				alone.Signature, alone.Title, alone.Joined = line, line+".cpp:8-byte-block", nil
				f.Joined = append(f.Joined, analysis.JoinedLine{Signature: line, Title: alone.Title, By: analysis.ByLine, Alone: &alone})
			}
		}
	}
	return r
}

// A line that a run shows to be part of a leak with a call stack stays part of it, in runs with the line alone, before
// and after. What another run contradicts is taken back, for good.
func TestJoinLines(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, test := range map[string]struct {
		builds [][]string // the findings of each
		want   string
	}{
		"the stack first":                    {[][]string{{"S<x"}, {"x"}}, "S=x"},
		"the line first":                     {[][]string{{"x"}, {"S<x"}}, "S=x"},
		"the line, the stack, both":          {[][]string{{"x"}, {"S"}, {"S<x"}}, "S=x"},
		"two lines of one stack":             {[][]string{{"x", "y"}, {"S<x,y"}, {"y"}}, "S=x=y"},
		"without any":                        {[][]string{{"x"}, {"S"}}, "S x"},
		"both beside each other":             {[][]string{{"S<x"}, {"S", "x"}}, "S=x"},
		"of two stacks at once":              {[][]string{{"S", "T", "x?"}}, "S T x"},
		"of two stacks later":                {[][]string{{"S<x"}, {"S", "T", "x?"}}, "S T x"},
		"of another stack later":             {[][]string{{"x"}, {"S<x"}, {"S", "T<x"}}, "S T x"},
		"of the first again, which is late":  {[][]string{{"x"}, {"S<x"}, {"S", "T<x"}, {"S<x"}}, "S T x"},
		"which no run shows alone":           {[][]string{{"S<x"}, {"S", "T<x"}}, "S T"},
		"of a stack that was doubted before": {[][]string{{"S", "T", "x?"}, {"S<x"}}, "S=x T"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			for i, findings := range test.builds {
				l.run(string(rune('1'+i)), lined(findings...))
			}
			l.want(name, test.want)
		})
	}
}

// History and what the team says go with the line, and come back with it where a person takes it out: it stays out.
func TestJoinedLineOfATeam(t *testing.T) {
	l := newLab(t)
	l.run("1", lined())
	l.run("2", lined("x"))
	assignee := "bob"
	l.change("x", leaks.TriageChange{Assignee: &assignee, Known: &leaks.Toleration{Reason: "vendor"}})
	l.run("3", lined("S<x"))
	if s := l.signature("S"); s.State != leaks.StateKnown || s.Assignee != "bob" || s.FirstBad != "2" {
		t.Errorf("S is %s of %q since %q", s.State, s.Assignee, s.FirstBad)
	}
	aliases := must[[]store.Alias](t)(l.now().ListAliases(t.Context(), "demo", "S"))
	if len(aliases) != 1 || aliases[0].Text != "x" || aliases[0].By != leaks.ActorLine {
		t.Fatalf("%+v", aliases)
	}
	if err := l.MergeSignature(t.Context(), "demo", "x", "", "ann"); err != nil {
		t.Fatal(err)
	}
	l.run("4", lined("S<x"))
	l.want("taken out", "S x")
	if s, x := l.signature("S"), l.signature("x"); s.Assignee != "" || s.FirstBad != "3" || x.Assignee != "bob" || x.FirstBad != "2" {
		t.Errorf("S of %q since %q, x of %q since %q", s.Assignee, s.FirstBad, x.Assignee, x.FirstBad)
	}
}

// A run that is analysed again keeps the line joined: its own findings do not have the line.
func TestJoinedLineAgain(t *testing.T) {
	l := newLab(t)
	l.run("1", lined("x"))
	l.run("2", lined("S<x"))
	l.again("1", "2")
	l.save(l.runs["2"], lined("S<x"))
	l.save(l.runs["1"], lined("x"))
	l.want("again", "S=x")
	if s := l.signature("S"); s.FirstBad != "1" || s.LastBad != "2" {
		t.Errorf("since %q until %q", s.FirstBad, s.LastBad)
	}
}

// reportOn is a report on lists.
func reportOn(t *testing.T, lists ...*capture.Capture) *analysis.Report {
	t.Helper()
	r, err := analysis.Analyze(t.Context(), []analysis.Input{{Files: []analysis.File{{Name: "build.log"}}, Captures: lists}}, analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.SetStackKeys()
	return r
}

// Runs of one build, each with the list of one tool, join nothing: a signature is numbered in each log, a place has no
// folder, and what a run doubts another does not know. A wrong join would hide a leak.
func TestLinesOfRunsOfABuild(t *testing.T) {
	line := func(file string, number uint32) *capture.Capture {
		c := listIn("crt-leaks", "")
		c.Lines = make([]capture.Line, 1)
		put(c, 2, 128, capture.FrameText{Function: "fresh.cpp:64-byte-block", File: file, Line: number})
		return c
	}
	add := func(c *capture.Capture, number uint32, function string) capture.StackID {
		put(c, 3, 192, called(number, "Fresh::"+function, "main")...)
		return c.Sites[len(c.Sites)-1].Stack
	}
	const file, other = `c:\src\fresh.cpp`, `c:\lib\fresh.cpp`
	stack, two, doubted := listIn("vld", ""), listIn("vld", ""), line(file, 6)
	add(stack, 7, "Add")
	add(two, 7, "Add")
	add(two, 6, "Sub")
	same := add(doubted, 7, "Add") // by address the blocks are of Add, by line of Sub
	doubted.Sites, doubted.Lines[0].SameBlocks = doubted.Sites[:1], []capture.StackID{same}
	for name, test := range map[string]struct {
		runs [][]*capture.Capture
		want string // titles
	}{
		"one line":       {[][]*capture.Capture{{line(file, 7)}, {stack}}, "fresh.cpp:64-byte-block tests!Fresh::Add"},
		"two lines":      {[][]*capture.Capture{{line(file, 50)}, {line(file, 7)}, {stack}}, "fresh.cpp:64-byte-block tests!Fresh::Add"},
		"a doubt":        {[][]*capture.Capture{{two, doubted}}, "fresh.cpp:64-byte-block tests!Fresh::Add tests!Fresh::Sub"},
		"a doubt before": {[][]*capture.Capture{{two, doubted}, {line(file, 6)}}, "fresh.cpp:64-byte-block tests!Fresh::Add tests!Fresh::Sub"},
		"another folder": {[][]*capture.Capture{{stack}, {line(other, 7)}}, "fresh.cpp:64-byte-block tests!Fresh::Add"},
		"in one run":     {[][]*capture.Capture{{stack, line(file, 7)}, {line(file, 7)}}, "tests!Fresh::Add"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			for i, lists := range test.runs {
				l.run("1/s/"+string(rune('a'+i)), reportOn(t, lists...))
			}
			var titles []string
			for _, r := range l.list(store.SignatureQuery{}).Rows {
				titles = append(titles, r.Title)
			}
			if slices.Sort(titles); strings.Join(titles, " ") != test.want {
				t.Errorf("%q, want %s", titles, test.want)
			}
		})
	}
}
