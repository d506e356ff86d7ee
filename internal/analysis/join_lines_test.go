package analysis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
)

// A lineSite is blocks that a list without call stacks shows of a line; those of line 0 have no file.
type lineSite struct {
	file         string
	line         uint32
	count, bytes int64
	same         []string // functions in the stacks that another list has for the same blocks
	name         string   // "" for one with the line
}

// lineList is a list without call stacks.
func lineList(test string, sites ...lineSite) *capture.Capture {
	c := &capture.Capture{Kind: "crt-leaks", Shape: capture.ShapeExit, Process: capture.Process{Name: "app.exe"}, Test: test,
		Snapshots: make([]capture.Snapshot, 1), Lines: []capture.Line{}}
	for _, s := range sites {
		name := fmt.Sprintf("normal:%d-byte-block", s.bytes/s.count)
		if s.line > 0 {
			name = fmt.Sprintf("%s:%d-byte-block#%d", s.file[strings.LastIndexAny(s.file, `\/`)+1:], s.bytes/s.count, s.line)
		}
		if s.name != "" {
			name = s.name
		}
		site := capture.Site{Stack: c.Stacks.AddStack([]capture.FrameID{c.Stacks.AddText(capture.FrameText{Function: name, File: s.file, Line: s.line}, 0)}),
			Heap: capture.NoHeap, Usage: []capture.Usage{{Count: s.count, Bytes: s.bytes}}}
		var same []capture.StackID
		for _, function := range s.same {
			same = append(same, stackOfSite(c, stackSite{function: function, file: `c:\src\a.cpp`, line: 7}))
		}
		c.Sites, c.Lines = append(c.Sites, site), append(c.Lines, capture.Line{SameBlocks: same})
	}
	return c
}

// A stackSite is blocks with a call stack, of which one frame is the team's.
type stackSite struct {
	function     string
	file         string
	line         uint32
	count, bytes int64
}

func stackOfSite(c *capture.Capture, s stackSite) capture.StackID {
	return c.Stacks.AddStack([]capture.FrameID{
		c.Stacks.AddText(capture.FrameText{Module: "ucrtbase", Function: "malloc", Offset: 0x1B}, 0),
		c.Stacks.AddText(capture.FrameText{Module: "app", Function: s.function, Offset: 0x20 + uint64(s.line), File: s.file, Line: s.line}, 0),
		c.Stacks.AddText(capture.FrameText{Module: "app", Function: "main", Offset: 0x30, File: `c:\src\main.cpp`, Line: 9}, 0),
	})
}

func stackList(kind capture.Kind, shape capture.Shape, sites ...stackSite) *capture.Capture {
	c := &capture.Capture{Kind: kind, Shape: shape, Process: capture.Process{Name: "app.exe"}, Snapshots: make([]capture.Snapshot, 1)}
	for _, s := range sites {
		c.Sites = append(c.Sites, capture.Site{Stack: stackOfSite(c, s), Heap: capture.NoHeap,
			Usage: []capture.Usage{{Count: s.count, Bytes: s.bytes}}})
	}
	return c
}

// A line of a list without call stacks is part of the call stack that the same run has for it, if there is only one.
func TestJoinLines(t *testing.T) {
	const a = `c:\src\a.cpp`
	at := func(function string, line uint32, count, bytes int64) stackSite {
		return stackSite{function, a, line, count, bytes}
	}
	line := func(line uint32, count, bytes int64, same ...string) lineSite {
		return lineSite{a, line, count, bytes, same, ""}
	}
	numbered := func(line uint32, same ...string) lineSite { // a log of its own has it as the first of its size
		return lineSite{a, line, 2, 64, same, "a.cpp:32-byte-block"}
	}
	vld := func(sites ...stackSite) *capture.Capture { return stackList("vld", capture.ShapeExit, sites...) }
	umdh := func(sites ...stackSite) *capture.Capture {
		return stackList(capture.KindUMDHSnapshot, capture.ShapeSnapshot, sites...)
	}
	for name, test := range map[string]struct {
		captures []*capture.Capture
		joined   string // of each finding with a list without stacks: function, place and by what
		leaks    int
		warning  string
	}{
		"one line":           {[]*capture.Capture{vld(at("Add", 7, 2, 64)), lineList("", line(7, 2, 64))}, "app!Add a.cpp:7 line", 1, ""},
		"fewer of the size":  {[]*capture.Capture{vld(at("Add", 7, 3, 96)), lineList("", line(7, 2, 64))}, "app!Add a.cpp:7 line", 1, ""},
		"another line":       {[]*capture.Capture{vld(at("Add", 8, 2, 64)), lineList("", line(7, 2, 64))}, "", 2, ""},
		"another size":       {[]*capture.Capture{vld(at("Add", 7, 2, 66)), lineList("", line(7, 2, 64))}, "", 2, "crt-leaks: blocks of a.cpp:7 are not joined with a call stack: the call stack there has blocks of another size."},
		"two callers":        {[]*capture.Capture{vld(at("Add", 7, 2, 64), at("Sub", 7, 2, 64)), lineList("", line(7, 2, 64))}, "", 3, "several call stacks allocate there"},
		"two lines":          {[]*capture.Capture{vld(at("Add", 7, 2, 64), at("Add", 8, 1, 8)), lineList("", line(7, 2, 64), line(8, 1, 8))}, "app!Add a.cpp:7 line, a.cpp:8 line", 1, ""},
		"one of two":         {[]*capture.Capture{vld(at("Add", 7, 2, 64), at("Sub", 9, 1, 8)), lineList("", line(7, 2, 64), line(8, 1, 8))}, "app!Add a.cpp:7 line", 3, ""},
		"of two tests":       {[]*capture.Capture{vld(at("Add", 7, 3, 96)), lineList("A", line(7, 2, 64)), lineList("B", line(7, 1, 32))}, "app!Add a.cpp:7 line", 1, ""},
		"UMDH of 32 bits":    {[]*capture.Capture{umdh(at("Add", 7, 1, 68)), lineList("", line(7, 2, 64))}, "app!Add a.cpp:7 line", 1, ""},
		"UMDH of 64 bits":    {[]*capture.Capture{umdh(at("Add", 7, 1, 84)), lineList("", line(7, 2, 64))}, "app!Add a.cpp:7 line", 1, ""},
		"UMDH of 35 more":    {[]*capture.Capture{umdh(at("Add", 7, 1, 67)), lineList("", line(7, 2, 64))}, "", 1, "another size"},
		"UMDH and VLD":       {[]*capture.Capture{umdh(at("Add", 7, 1, 999)), vld(at("Add", 7, 1, 32)), lineList("", line(7, 2, 64))}, "app!Add a.cpp:7 line", 1, ""},
		"UMDH of another":    {[]*capture.Capture{umdh(at("Sub", 7, 1, 32)), vld(at("Add", 7, 1, 32)), lineList("", line(7, 2, 64))}, "", 2, "several call stacks"},
		"lines of two logs":  {[]*capture.Capture{vld(at("Add", 7, 2, 64)), lineList("A", numbered(50)), lineList("B", numbered(7))}, "", 2, "no call stack is known for other lines"},
		"the logs swapped":   {[]*capture.Capture{vld(at("Add", 7, 2, 64)), lineList("A", numbered(7)), lineList("B", numbered(50))}, "", 2, "no call stack is known for other lines"},
		"both of one stack":  {[]*capture.Capture{vld(at("Add", 7, 2, 64), at("Add", 50, 2, 64)), lineList("A", numbered(50)), lineList("B", numbered(7))}, "app!Add a.cpp:7 line", 1, ""},
		"of a stack each":    {[]*capture.Capture{vld(at("Add", 7, 2, 64), at("Sub", 50, 2, 64)), lineList("A", numbered(50)), lineList("B", numbered(7))}, "", 3, "several call stacks"},
		"one by address":     {[]*capture.Capture{vld(at("Add", 7, 2, 64)), lineList("A", numbered(50)), lineList("B", numbered(7, "Add"))}, "", 2, "no call stack is known for other lines"},
		"by address":         {[]*capture.Capture{vld(at("Add", 7, 1, 32)), lineList("", line(6, 2, 64, "Add"))}, "app!Add a.cpp:6 address", 1, ""},
		"by two addresses":   {[]*capture.Capture{vld(at("Add", 7, 1, 32), at("Sub", 7, 1, 32)), lineList("", line(6, 2, 64, "Add", "Sub"))}, "", 3, "several call stacks"},
		"address and line":   {[]*capture.Capture{vld(at("Add", 7, 1, 32), at("Sub", 6, 1, 32)), lineList("", line(6, 2, 64, "Add"))}, "", 3, "several call stacks"},
		"no file, all":       {[]*capture.Capture{vld(at("Add", 7, 2, 64)), lineList("", lineSite{"", 0, 2, 64, []string{"Add"}, ""})}, "app!Add  address", 1, ""},
		"no file, some":      {[]*capture.Capture{vld(at("Add", 7, 1, 32)), lineList("", lineSite{"", 0, 2, 64, []string{"Add"}, ""})}, "", 2, "crt-leaks: blocks of normal:32-byte-block are not joined with a call stack: only some of these blocks are known to have the call stack."},
		"no file, no stack":  {[]*capture.Capture{vld(at("Add", 7, 2, 64)), lineList("", lineSite{"", 0, 2, 64, nil, ""})}, "", 2, ""},
		"another folder":     {[]*capture.Capture{vld(at("Add", 7, 2, 64)), lineList("", lineSite{`c:\lib\a.cpp`, 7, 2, 64, nil, ""})}, "", 2, ""},
		"a relative path":    {[]*capture.Capture{vld(at("Add", 7, 2, 64)), lineList("", lineSite{`..\..\SRC/a.cpp`, 7, 2, 64, nil, ""})}, "app!Add a.cpp:7 line", 1, ""},
		"the name alone":     {[]*capture.Capture{vld(at("Add", 7, 2, 64)), lineList("", lineSite{`a.cpp`, 7, 2, 64, nil, ""})}, "app!Add a.cpp:7 line", 1, ""},
		"half a folder":      {[]*capture.Capture{vld(at("Add", 7, 2, 64)), lineList("", lineSite{`rc\a.cpp`, 7, 2, 64, nil, ""})}, "", 2, ""},
		"a longer name":      {[]*capture.Capture{vld(at("Add", 7, 2, 64)), lineList("", lineSite{`aa.cpp`, 7, 2, 64, nil, ""})}, "", 2, ""},
		"the list alone":     {[]*capture.Capture{lineList("", line(7, 2, 64))}, "", 1, ""},
		"beside a clean one": {[]*capture.Capture{vld(), lineList("", line(7, 2, 64))}, "", 1, ""},
	} {
		r := analyze(t, inputs(test.captures...))
		var joined []string
		for i := range r.Findings {
			f := &r.Findings[i]
			var places []string
			for _, j := range f.Joined {
				places = append(places, fmt.Sprintf("%s %s", j.Place, j.By))
				if j.Alone == nil || j.Alone.Signature != j.Signature || j.Signature == f.Signature {
					t.Errorf("%s: %+v of %s", name, j, f.Signature)
				}
			}
			if places == nil {
				continue
			}
			slices.Sort(places)
			joined = append(joined, f.Title+" "+strings.Join(places, ", "))
			kinds := []string{}
			for _, k := range f.ByKind {
				kinds = append(kinds, k.Kind)
			}
			if slices.Sort(kinds); len(slices.Compact(slices.Clone(kinds))) != len(kinds) || !slices.Contains(kinds, "crt-leaks") || len(kinds) < 2 {
				t.Errorf("%s: shown by %q", name, kinds)
			}
			if f.LeftAtExit == nil || !slices.Contains(f.LeftAtExit.Tools, "crt-leaks") {
				t.Errorf("%s: left at exit %+v", name, f.LeftAtExit)
			}
			if last := f.Clauses[len(f.Clauses)-1]; last.Rule != "joined-line" || !strings.Contains(last.Text, f.Joined[len(f.Joined)-1].Title) {
				t.Errorf("%s: %+v", name, last)
			}
		}
		if got := strings.Join(joined, "; "); got != test.joined {
			t.Errorf("%s: joined %q, want %q", name, got, test.joined)
		}
		if r.Verdict.Leaks != test.leaks {
			t.Errorf("%s: %d leaks, want %d: %s", name, r.Verdict.Leaks, test.leaks, r.Verdict.Sentence)
		}
		said := ""
		for _, w := range r.Warnings {
			if strings.Contains(w.Message, "are not joined") {
				said += w.Message
			}
		}
		if test.warning == "" && said != "" || !strings.Contains(said, test.warning) {
			t.Errorf("%s: says %q, want %q", name, said, test.warning)
		}
	}
}
