package analysis_test

import (
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/analysis/export"
)

// The sessions of a test are lost in these numbers between snapshots.
var lost = []int64{0, 19, 23, 16, 20, 27, 18, 22, 14, 21, 25, 17}

// losing are snapshots of a program that loses sessions, with a few names and nodes each, and a log whose lines have
// nothing to do with them.
func losing(names, nodes int64) []*capture.Capture {
	lines := []int64{0, 31, 12, 18, 26, 9, 22, 17, 30, 11, 24, 20}
	var list []*capture.Capture
	sessions, logged := int64(5), int64(5)
	for i := range lost {
		sessions, logged = sessions+lost[i], logged+lines[i]
		of := func(id uint64, place, owner, count, size int64) row {
			return row{id: id, stack: app.in(-0x10, place, owner, 0x300, 0x400), count: count, bytes: count * size}
		}
		list = append(list, app.snapshot(of(1, 0x20, 0x100, sessions, 96), of(2, 0x30, 0x100, names*sessions, 32),
			of(3, 0x40, 0x100, nodes*sessions, 24), of(4, 0x50, 0x100, logged, 200)))
	}
	return list
}

func text(t *testing.T, name string, r *analysis.Report) string {
	t.Helper()
	f, err := export.FindFormat(name)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := f.Write(&b, r, export.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Parts of one object are one cause, with their ratio, their sum and the function that makes them; what the same
// function loses at other times is another.
func TestCauses(t *testing.T) {
	r := analyze(t, inputs(losing(5, 2)...))
	if len(r.Causes) != 1 || r.Verdict.Causes != 2 || r.Verdict.Leaks != 4 {
		t.Fatalf("%+v, %+v", r.Causes, r.Verdict)
	}
	c := r.Causes[0]
	objects := int64(0)
	for _, n := range lost[:len(lost)-1] { // those of the last interval had no time to be freed
		objects += n
	}
	if c.Ratio != "1 : 2 : 5" || c.Objects != objects || c.CommonFrame != "app!<unknown>+0x100@0x10000" || c.Verdict != analysis.ClassLeak ||
		!c.Certain || c.Growth.Count != 8*222 || c.Growth.Bytes != 222*(96+5*32+2*24) || c.Rate == nil ||
		c.Members[0].BytesPerBlock != 96 || c.Members[1].BytesPerBlock != 24 || c.Members[2].Blocks != 5 {
		t.Errorf("%+v, %+v, %+v", c, c.Growth, c.Members)
	}
	for _, f := range r.Findings {
		if part := f.CauseNumber == 1 && r.FindLostTogether(&f) == &r.Causes[0]; part != (f.Outstanding.Bytes/f.Outstanding.Count != 200) {
			t.Errorf("%s is of cause %d", f.Title, f.CauseNumber)
		}
	}
	if s := r.Verdict.Sentence; !strings.Contains(s, "from 2 leaks in 4 stacks; the most, ") ||
		!strings.Contains(s, "in 1,776 blocks, lost objects of app+0x100") {
		t.Error(s)
	}
	if s := text(t, "text", r); !strings.Contains(s, "leak  "+c.Title+"  1 leak in 3 stacks") ||
		!strings.Contains(s, "    of each 5 blocks of 32 B: app+0x30") {
		t.Error(s)
	}
	if s := text(t, "markdown", r); strings.Count(s, "↳") != 3 || !strings.Contains(s, "1 : 2 : 5, 1 leak in 3 stacks | +") {
		t.Error(s)
	}
	if s := text(t, "junit", r); !strings.Contains(s, `tests="3" failures="3"`) {
		t.Error(s)
	}
	back, err := analysis.ReadJSON(strings.NewReader(text(t, "json", r)))
	if err != nil || len(back.Causes) != 1 || back.Causes[0].Ratio != c.Ratio || back.Verdict.Causes != 2 {
		t.Errorf("%+v, %v", back, err)
	}
}

// One cause alone is the whole sentence.
func TestSentenceOfOneCause(t *testing.T) {
	var list []*capture.Capture
	for _, c := range losing(5, 2) {
		c.Sites = c.Sites[:3]
		kept := capture.Blocks{}
		for b := range c.Blocks.All() {
			if b.Site < 3 {
				kept.Add(b)
			}
		}
		c.Blocks = kept
		list = append(list, c)
	}
	r := analyze(t, inputs(list...))
	if s := r.Verdict.Sentence; !strings.Contains(s, ": 1 leak in 3 stacks, lost objects of app+0x100, ratio 1 : 2 : 5, ") {
		t.Error(s)
	}
}

// What the rules know is in no cause.
func TestKnownIsInNoCause(t *testing.T) {
	rules, err := blame.ParseRules(`function:"Name::*" -> known="old"`)
	if err != nil {
		t.Fatal(err)
	}
	image := capture.Image{ImageID: capture.ImageID{File: "app.exe", Size: 0x10000}, Symbols: capture.SymbolsPrivate, Proven: true}
	image.Add(0x30, capture.NamedFrame{Function: "Name::Assign"})
	names := &capture.Names{Images: []capture.Image{image}}
	names.Sort()
	r, err := analysis.Analyze(t.Context(), inputs(losing(5, 2)...), analysis.Options{Rules: rules, Names: names})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Causes) != 1 || r.Causes[0].Ratio != "1 : 2" || r.Verdict.Causes != 2 || r.Verdict.Known != 1 {
		t.Errorf("%+v, %+v", r.Causes, r.Verdict)
	}
}

// A frame that more than half of 20 findings or more run through owns no object.
func TestTrunkOwnsNothing(t *testing.T) {
	for _, c := range []struct{ findings, held, causes int }{{20, 10, 1}, {20, 11, 0}, {19, 18, 1}} {
		var list []*capture.Capture
		for i := range lost {
			var rows []row
			sessions := int64(5)
			for _, n := range lost[:i+1] {
				sessions += n
			}
			for k := range int64(c.findings) {
				owner, count := 0x1000+0x10*k, int64(3)
				if k < int64(c.held) {
					owner = 0x100
				}
				if k < 2 {
					count = sessions * (k + 1)
				}
				rows = append(rows, row{id: uint64(k + 1), stack: app.in(-0x10, 0x2000+0x10*k, owner, 0x3000+0x10*k, 0x4000+0x10*k),
					count: count, bytes: 32 * count})
			}
			list = append(list, app.snapshot(rows...))
		}
		if r := analyze(t, inputs(list...)); len(r.Findings) != c.findings || len(r.Causes) != c.causes {
			t.Errorf("%d of %d findings: %+v", c.held, c.findings, r.Causes)
		}
	}
}

// A trace tells causes by when the blocks came that it saw stay.
func TestCausesOfATrace(t *testing.T) {
	at := func(place uint64) []uint64 {
		return []uint64{ntdll, 0x400000 + place, 0x400100, 0x400300, 0x400400}
	}
	made := func(other bool) *analysis.Report {
		var lives []life
		for i := range 2 {
			lives = append(lives, life{capture.KindHeap, at(uint64(0x20 + 0x10*i)), allocations.WindowUsage{AIFO: u(300, 9600)}, 9600})
		}
		c := trace(7, lives...)
		for i := range c.Sites {
			v := &allocations.Survival{From: 0, Over: 10e9}
			for bin := range v.Left {
				n := int64(bin*bin*7%5 + 2)
				if other && i == 1 {
					n = int64(bin*bin*bin*5%7 + 2)
				}
				n *= int64(1 + 2*i)
				v.Born[bin], v.Left[bin], v.LeftBytes[bin] = n, n, 32*n
			}
			c.Sites[i].Life.Survival = v
		}
		return analyze(t, inputs(c))
	}
	if r := made(false); len(r.Causes) != 1 || r.Causes[0].Ratio != "1 : 3" && r.Causes[0].Ratio != "3 : 1" {
		t.Errorf("%+v", r.Causes)
	}
	if r := made(true); len(r.Causes) != 0 {
		t.Errorf("%+v", r.Causes)
	}
}
