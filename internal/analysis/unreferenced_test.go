package analysis_test

import (
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// unreachedDump is a dump with blocks of one stack: no pointer reaches those at the given addresses, and pointers reach
// 20 others.
func unreachedDump(nth int, stack []uint64, addresses ...uint64) *capture.Capture {
	n := int64(len(addresses))
	c := app.dump(row{stack: stack, count: n, bytes: 16 * n}, row{stack: stack, count: 20, bytes: 320},
		row{stack: app.in(0x30), count: 1, bytes: 16})
	c.Snapshots[0].TakenAt = time.Date(2026, 1, 1, 0, 10*nth, 0, 0, time.UTC)
	c.Sites[0].Unreachable, c.Memory.Reach = true, &capture.PointerSearch{}
	c.Blocks = capture.Blocks{}
	for _, a := range addresses {
		c.Blocks.Add(capture.Block{Site: 0, Address: a, Size: 16})
	}
	for i := range uint64(20) {
		c.Blocks.Add(capture.Block{Site: 1, Address: 0x9000 + 16*i, Size: 16})
	}
	c.Blocks.Add(capture.Block{Site: 2, Address: 0xA000, Size: 16})
	return c
}

// Blocks that no pointer reaches are a finding of their own in one dump, and certain if three dumps agree on three
// blocks.
func TestUnreferenced(t *testing.T) {
	stack := app.in(0x20)
	dump := func(nth int, addresses ...uint64) *capture.Capture { return unreachedDump(nth, stack, addresses...) }
	for _, c := range []struct {
		name     string
		dumps    []*capture.Capture
		class    analysis.Class
		certain  bool
		status   analysis.VerdictStatus
		sentence string
	}{
		{"one dump", []*capture.Capture{dump(0, 0x10, 0x20, 0x30)}, analysis.ClassUnreferenced, false,
			analysis.StatusInconclusive,
			"app.exe holds 48 B in 3 blocks that no pointer reaches, all of it from app+0x20; one dump is not proof: take 2 more dumps of this process, or 10 snapshots."},
		{"too few blocks", []*capture.Capture{dump(0, 0x10, 0x20)}, analysis.ClassUnknown, false, analysis.StatusInconclusive,
			"app.exe holds 368 B in 23 blocks in one snapshot, the most, 352 B in 22 blocks (96 %), from app+0x20; take 4 more snapshots of this process to detect leaks, 9 more to be certain."},
		{"two dumps", []*capture.Capture{dump(0, 0x10, 0x20, 0x30), dump(1, 0x10, 0x20, 0x30)}, analysis.ClassUnreferenced,
			false, analysis.StatusInconclusive, "one dump is not proof"},
		{"three dumps that agree", []*capture.Capture{dump(0, 0x10, 0x20, 0x30), dump(1, 0x10, 0x20, 0x30),
			dump(2, 0x10, 0x20, 0x30, 0x40)}, analysis.ClassUnreferenced, true, analysis.StatusLeak,
			"app.exe holds 64 B in 4 blocks that no pointer reaches, all of it from app+0x20; 3 or more dumps agree."},
		{"three dumps of other blocks", []*capture.Capture{dump(0, 0x50, 0x20, 0x30), dump(1, 0x10, 0x60, 0x30),
			dump(2, 0x10, 0x20, 0x30)}, analysis.ClassUnreferenced, false, analysis.StatusInconclusive, ""},
	} {
		r := analyze(t, inputs(c.dumps...))
		f := r.Findings[0]
		if f.Verdict != c.class || f.Certain != c.certain || r.Verdict.Status != c.status ||
			!strings.Contains(r.Verdict.Sentence, c.sentence) {
			t.Errorf("%s: %s, certain %t, %s: %s", c.name, f.Verdict, f.Certain, r.Verdict.Status, r.Verdict.Sentence)
		}
		if got := r.Sites[0].Verdict; (got == analysis.ClassUnreferenced) != (c.class == analysis.ClassUnreferenced) {
			t.Errorf("%s: the site is %s", c.name, got)
		}
	}
}

// Blocks without stacks that no pointer reaches come from many places: they are no finding, and the verdict begins with
// them if they hold much memory.
func TestUnreferencedWithoutStacks(t *testing.T) {
	c := unreachedDump(0, nil, 0x10, 0x20, 0x30)
	c.Sites[0].Usage[0].Bytes = 2 << 20
	r := analyze(t, inputs(c))
	if r.Findings[0].Verdict == analysis.ClassUnreferenced ||
		!strings.HasPrefix(r.Verdict.Sentence,
			"app.exe holds 2.00 MB in 3 blocks that no pointer reaches, allocated without a recorded call stack; ") {
		t.Errorf("%s: %s", r.Findings[0].Verdict, r.Verdict.Sentence)
	}
}

// Where most of the memory has no call stack, the sentence says that first, and how to have the stacks.
func TestMostHasNoStack(t *testing.T) {
	dump := func(bare int64) *capture.Capture {
		return app.dump(row{stack: app.in(0x20), count: 10, bytes: 1000}, row{count: 5, bytes: bare})
	}
	for bare, want := range map[int64]string{
		1000: "app.exe holds 1.95 KB in 15 blocks in one snapshot, the most, 1,000 B in 10 blocks (50 %), from app+0x20;",
		1001: "app.exe holds 1.95 KB in 15 blocks in one snapshot, 1,001 B of it (50 %) without a call stack, 1,000 B of it from app+0x20; record an ETW trace for the missing call stacks;",
		9000: "app.exe holds 9.77 KB in 15 blocks in one snapshot, 8.79 KB of it (90 %) without a call stack, 1,000 B of it from app+0x20; record an ETW trace for the missing call stacks;",
	} {
		if got := analyze(t, inputs(dump(bare))).Verdict.Sentence; !strings.HasPrefix(got, want) {
			t.Errorf("%d: %s", bare, got)
		}
	}
}
