package analysis_test

import (
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// compared is a difference whose rows have trace ids and usages before and after.
func compared(name string, rows ...[2]capture.Usage) *capture.Capture {
	d := difference(rows...)
	d.Process.Name = name
	for i := range d.Sites {
		d.Sites[i].Trace = uint64(i + 1)
	}
	return d
}

// again is a copy of a capture, whose name a test may change.
func again(c *capture.Capture) *capture.Capture {
	other := *c
	return &other
}

// Evidence that does not name its program is assigned by its process id, its frames or the snapshots that it compares;
// without any of these it belongs to the only program.
func TestProgramOfEvidenceWithoutItsName(t *testing.T) {
	logs := []*capture.Capture{
		app.snapshot(row{id: 1, stack: app.in(0x20), count: 2, bytes: 20}),
		app.snapshot(row{id: 1, stack: app.in(0x20), count: 5, bytes: 50}),
	}
	other := process{pid: 99, image: 0x500000, library: 0x7700_0000, name: "Other.exe"}
	big := other.snapshot(row{id: 1, stack: other.in(0x20), count: 1, bytes: 1000})
	grew := [2]capture.Usage{{Count: 2, Bytes: 20}, {Count: 5, Bytes: 50}}
	named := func(name string, c *capture.Capture) *capture.Capture {
		c.Process.Name = name
		return c
	}
	excerpt := named("", app.snapshot(row{id: 2, stack: app.in(0x20), count: 7, bytes: 70}))
	excerpt.Process.PID, excerpt.Modules = 0, nil
	foreign := compared("", [2]capture.Usage{{Count: 3, Bytes: 1}, {Count: 9, Bytes: 2}})
	foreign.Stacks = capture.Stacks{}
	foreign.Sites[0].Stack = foreign.Stacks.AddStack([]capture.FrameID{foreign.Stacks.AddText(capture.FrameText{Module: "ntdll",
		Function: "f"}, 0)})
	matched := compared("ntdll", grew)
	matched.Stacks, matched.Sites[0].Stack = foreign.Stacks, foreign.Sites[0].Stack
	for name, test := range map[string]struct {
		captures []*capture.Capture
		process  string
		codes    string
		instants int
	}{
		"a difference by its debugger's name": {append(logs[:2:2], named("app", again(foreign))), "", "unsupported", 2},
		"a difference by its frames": {append(logs[:2:2], big, compared("ntdll", grew)),
			"app.exe", "unsupported", 2},
		"a difference by its snapshots":   {append(logs[:2:2], big, matched), "app.exe", "unsupported", 2},
		"a difference of none of them":    {append(logs[:2:2], big, foreign), "app.exe", "", 2},
		"a difference that names nothing": {append(logs[:2:2], foreign), "", "unsupported", 2},
		"a log by its process id": {append(logs[:2:2], big,
			named("ntdll.dll", app.snapshot(row{id: 1, stack: app.in(0x20), count: 7, bytes: 70}))), "10", "", 3},
		"a log by its process id, its program by name": {append(logs[:2:2], big,
			named("ntdll.dll", app.snapshot(row{id: 1, stack: app.in(0x20), count: 7, bytes: 70}))), "app.exe", "", 3},
		"an excerpt of a log, the only program": {append(logs[:2:2], excerpt), "", "", 3},
		"an excerpt of a log, by the pid":       {append(logs[:2:2], excerpt), "10", "", 3},
		"a difference of another program": {append(logs[:2:2], named("Other", again(foreign))), "",
			"several-processes", 2},
	} {
		r, err := analysis.Analyze(t.Context(), inputs(test.captures...), analysis.Options{Process: test.process})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if codes(r) != test.codes || len(r.Snapshots) != test.instants || r.Process.Name != "app.exe" || r.Process.PID != 10 {
			t.Errorf("%s: %+v, %d instants, %+v", name, r.Process, len(r.Snapshots), r.Warnings)
		}
	}
	log := named("ntdll.dll", app.snapshot(row{id: 1, stack: app.in(0x20), count: 7, bytes: 70}))
	r, err := analysis.Analyze(t.Context(), inputs(append(logs[:2:2], log)...), analysis.Options{Process: "ntdll.dll"})
	if err != nil || len(r.Snapshots) != 1 || r.Process.Name != "ntdll.dll" {
		t.Errorf("a log by the name that it has: %+v, %v", r, err)
	}
	choices, all := analysis.ProcessChoices(seenIn(inputs(append(logs[:2:2], named("app", again(foreign)), excerpt)...)), 9)
	if all != 1 || len(choices) != 1 || choices[0].Choose != "app.exe" || choices[0].Held != 50 {
		t.Errorf("%d choices: %+v", all, choices)
	}
}
