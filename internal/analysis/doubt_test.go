package analysis_test

import (
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
)

// noon is the minute at which the first snapshot of a test was taken.
var noon = time.Date(2025, 3, 4, 12, 0, 0, 0, time.UTC)

// leaking is eight snapshots of one process that leaks, taken at the given minutes after noon.
func leaking(minutes ...int) []*capture.Capture {
	list := grown(10, 10, 310, 610, 910, 1210, 1510, 1810, 2110, 2410, 2710, 3010, 3310)
	for i, m := range minutes {
		list[i].Snapshots[0].TakenAt = noon.Add(time.Duration(m) * time.Minute)
	}
	return list
}

// The same file given twice is one instant, whatever kind of evidence it is.
func TestTheSameEvidenceCountsOnce(t *testing.T) {
	space := app.dump(row{id: 1, stack: app.in(0x20), count: 4, bytes: 64})
	space.Memory = &capture.Memory{Space: &capture.Space{}}
	log := app.snapshot(row{id: 1, stack: app.in(0x20), count: 4, bytes: 64})
	for name, c := range map[string]*capture.Capture{
		"dump": space, "log": log, "facts": facts(capture.Memory{}),
		"difference": difference([2]capture.Usage{{}, {Count: 1, Bytes: 1}}),
	} {
		in := inputs(c, c)
		for i := range in {
			in[i].Files[0].SHA256 = "e3b0c442"
		}
		r := analyze(t, in)
		if len(r.Snapshots) != len(c.Snapshots) || r.Evidence[1].Used || codes(r) != "unsupported" ||
			!strings.Contains(r.Warnings[0].Message, "snap2.txt is the same file as snap1.txt and counts once.") {
			t.Errorf("%s: %d instants, %+v", name, len(r.Snapshots), r.Warnings)
		}
	}
}

// Logs have times in whole minutes: logs of one minute stay in the given order, and growth is counted by snapshot.
func TestSnapshotsOfOneMinute(t *testing.T) {
	r := analyze(t, inputs(leaking(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3)...))
	if r.Verdict.Status != analysis.StatusLeak || codes(r) != "" {
		t.Errorf("%+v, %s", r.Verdict, codes(r))
	}
	if rate := r.Findings[0].Rate; rate == nil || rate.Unit != "snapshot" || rate.Count != 300 {
		t.Errorf("it grows by %+v", rate)
	}
	if r := analyze(t, inputs(leaking(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)...)); r.Findings[0].Rate.Unit != "hour" {
		t.Errorf("of minutes that rise it grows by %+v", r.Findings[0].Rate)
	}
}

// If it is uncertain whether the snapshots are of one process and in the order of time, nothing that they show is
// certain.
func TestDoubtfulEvidenceDecidesNothing(t *testing.T) {
	elsewhere := process{pid: 10, image: 0x900000, library: 0x7700_0000}
	still := func(pid uint32) []*capture.Capture { return grown(pid, 5, 5, 5, 5, 5, 5) }
	disordered := still(10)
	for i, c := range disordered {
		c.Snapshots[0].TakenAt = noon.Add(-time.Duration(i) * time.Minute)
	}
	unknown := leaking()
	unknown[10].Process.PID, unknown[11].Process.PID = 0, 11
	for name, test := range map[string]struct {
		captures []*capture.Capture
		codes    string
	}{
		"a leak against the clock":       {leaking(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 10), "clock-disorder"},
		"no leak against the clock":      {disordered, strings.TrimSpace(strings.Repeat("clock-disorder ", 5))},
		"a leak of two processes":        {append(leaking(), grown(11, 5)...), "pid-changed"},
		"no leak of two processes":       {append(still(10), still(11)...), "pid-changed"},
		"a process id behind an unknown": {unknown, "pid-changed"},
		"a process that was started again": {append(leaking(),
			elsewhere.snapshot(row{id: 1, stack: elsewhere.in(0x20), count: 5, bytes: 320})), "module-moved"},
		"a process that came before": {append(grown(9, 5), leaking()...), "pid-changed"},
	} {
		r := analyze(t, inputs(test.captures...))
		if r.Verdict.Status != analysis.StatusInconclusive ||
			!strings.Contains(r.Verdict.Sentence, "the evidence does not suffice ("+strings.Fields(test.codes)[0]+")") {
			t.Errorf("%s: %+v", name, r.Verdict)
		}
		if codes(r) != test.codes {
			t.Errorf("%s: warnings %q, want %q", name, codes(r), test.codes)
		}
		for _, f := range r.Findings {
			if f.Certain {
				t.Errorf("%s: %s is certain", name, f.Title)
			}
		}
	}
	if r := analyze(t, inputs(leaking()...)); r.Verdict.Status != analysis.StatusLeak || !r.Findings[0].Certain {
		t.Errorf("without doubt: %+v", r.Verdict)
	}
}

// Several kinds of evidence in one report must be of one process, too.
func TestProcessesOfSeveralKindsOfEvidence(t *testing.T) {
	stranger := app
	stranger.pid = 11
	about := func(pid uint32) *capture.Capture {
		c := facts(capture.Memory{})
		c.Process = capture.Process{Name: "app.exe", PID: pid}
		return c
	}
	other := row{id: 1, stack: app.in(0x20), count: 4, bytes: 64}
	traced := func() *capture.Capture {
		return trace(7, life{capture.KindHeap, []uint64{ntdll, code}, allocations.WindowUsage{AIFI: u(64, 6400)}, 300})
	}
	changed := difference([2]capture.Usage{{}, {Count: 1, Bytes: 1}})
	changed.Process = capture.Process{Name: "app.exe"}
	changedElsewhere := difference([2]capture.Usage{{}, {Count: 1, Bytes: 1}})
	changedElsewhere.Process = capture.Process{Name: "app.exe", PID: 11}
	for name, test := range map[string]struct {
		captures []*capture.Capture
		says     string
	}{
		"logs and a dump": {append(leaking(), stranger.dump(other)),
			"snap1.txt shows process 10, snap13.txt process 11"},
		"logs and facts": {append(leaking(), about(11)),
			"snap1.txt shows process 10, snap13.txt process 11"},
		"logs and a difference": {append(leaking(), changedElsewhere),
			"snap1.txt shows process 10, snap13.txt process 11"},
		"a trace and logs": {append(leaking(), traced()),
			"snap13.txt shows process 7, snap1.txt process 10"},
		"a difference and two reports": {[]*capture.Capture{changed, about(10), about(11)},
			"snap2.txt shows process 10, snap3.txt process 11"},
	} {
		r := analyze(t, inputs(test.captures...))
		if !strings.Contains(codes(r), "pid-changed") || !strings.Contains(r.Warnings[0].Message, test.says) ||
			r.Verdict.Status != analysis.StatusInconclusive {
			t.Errorf("%s: %s, %+v", name, r.Verdict.Status, r.Warnings)
		}
		for _, f := range r.Findings {
			if f.Certain {
				t.Errorf("%s: %s is certain", name, f.Title)
			}
		}
	}
	same := append(leaking(), app.dump(other), about(10), about(0), changed)
	if r := analyze(t, inputs(same...)); r.Verdict.Status != analysis.StatusLeak || codes(r) != "unsupported" {
		t.Errorf("of one process: %+v, %s", r.Verdict, codes(r))
	}
}
