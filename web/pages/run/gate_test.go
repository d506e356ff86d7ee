package run

import (
	"slices"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
)

// An inconclusive run names the recording that decides it, with the address under which the reader reaches the server.
func TestRecordingThatDecides(t *testing.T) {
	run := &store.Run{Project: "shop", Scenario: "soak", Build: "7"}
	report := &analysis.Report{Process: analysis.Process{Name: "app.exe"}}
	next := &analysis.Next{Evidence: analysis.NextComplete}
	var open, decided gateView
	open.decideBy(run, report, &leaks.RunVerdict{Gate: leaks.GateInconclusive, Next: next}, "http://heapdrift:8080")
	const line = "heapdrift record --image app.exe --evidence heap --snapshots 12 --push http://heapdrift:8080 --project shop --scenario soak --build 7 --again"
	const page = "/projects/shop/kit?build=7&evidence=umdh&image=app.exe&scenario=soak&snapshots=12"
	if open.record != line || string(open.kit) != page {
		t.Errorf("%s\n%s", open.record, open.kit)
	}
	decided.decideBy(run, report, &leaks.RunVerdict{Gate: leaks.GatePassed}, "http://heapdrift:8080")
	if decided.record != "" || decided.kit != "" {
		t.Errorf("%+v", decided)
	}
}

// An answer says what was asked beyond the policy, and nothing else.
func TestQuestionText(t *testing.T) {
	for want, told := range map[string]store.StoredDecision{
		"by policy 3: why":                                          {},
		"by policy 3, asked to fail on new: why":                    {FailOn: "new"},
		"by policy 3, against build 41: why":                        {Baseline: "41"},
		"by policy 3, ignoring leaks up to 1.00 MB per day: why":    {Asked: "1MB/day"},
		"by policy 3, asked to fail on leak, against build 41: why": {FailOn: "leak", Baseline: "41"},
	} {
		told.Policy, told.Why = 3, "why"
		if got := questionText(&told); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The row that is open has the numbers of the rows that are shown. Beside the selection of a trace it has those of its
// whole time.
func TestRowsThatOpen(t *testing.T) {
	shown, stored := []store.SiteRow{{Ordinal: 1}}, []store.SiteRow{{Ordinal: 2}}
	for _, test := range []struct {
		selected bool
		trace    *traceView
		want     int
	}{{false, nil, 1}, {true, nil, 1}, {false, &traceView{}, 1}, {true, &traceView{}, 2}} {
		table := siteTable{rows: shown, stored: stored, selected: test.selected, trace: test.trace}
		if got := table.openable(); len(got) != 1 || got[0].Ordinal != test.want {
			t.Errorf("selected %t, trace %t: %+v", test.selected, test.trace != nil, got)
		}
	}
}

// A selection is answered by its index where there is one, a window of a trace by the trace, and all else by the store.
func TestSourceOfSites(t *testing.T) {
	selection := query.Selection{Module: "app"}
	for _, test := range []struct {
		indexed  bool
		more     query.Selection
		trace    bool
		windowed bool
		want     string
	}{
		{false, query.Selection{}, false, false, "store"}, {true, query.Selection{}, false, false, "store"},
		{false, selection, false, false, "store"}, {true, selection, false, false, "selection"},
		{true, selection, true, true, "selection"}, {false, selection, true, true, "window"},
		{true, query.Selection{}, true, true, "window"}, {false, query.Selection{}, true, false, "store"},
	} {
		table := siteTable{listing: listing{more: test.more}}
		if test.trace {
			table.trace = &traceView{}
			if test.windowed {
				table.trace.windowed = &analysis.WindowNumbers{}
			}
		}
		if got := table.answeredBy(test.indexed); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// The sign for address space that is left out takes two cells, and what follows is drawn behind it.
func TestSpaceLeftOut(t *testing.T) {
	c := canvas{cellBytes: 4096}
	c.draw(&drawnSpan{address: 0x10000, size: 6000, drawn: 6000, use: "heap", taken: 6000})
	left := &fold{address: 0x20000, bytes: 1 << 30}
	c.leaveOut(left)
	c.draw(&drawnSpan{address: 0x50000000, size: 4096, drawn: 4096, use: "stack", taken: 4096})
	var folded []bool
	for i := range c.cells {
		folded = append(folded, c.cells[i].folded == left)
	}
	if !slices.Equal(folded, []bool{false, false, true, true, false}) || c.at != 5*4096 {
		t.Errorf("cells of the sign are %t, and the next byte goes to %g", folded, c.at)
	}
	if last := &c.cells[len(c.cells)-1]; last.taken["stack"] != 4096 || last.from != 0x50000000 {
		t.Errorf("behind the sign is %+v", last)
	}
}

// A run without memory beside its sites has no page for it.
func TestMemoryViewOfNothing(t *testing.T) {
	if memoryViewOf(store.Run{}, &analysis.Report{}) != nil || memoryViewOf(store.Run{}, &analysis.Report{Memory: make([]analysis.Memory, 1)}) == nil {
		t.Error("a page is there without memory, or none with it")
	}
}
