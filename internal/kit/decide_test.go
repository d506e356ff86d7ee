package kit_test

import (
	"testing"
	"time"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/kit"
	"heapdrift/internal/leaks"
)

const pushed = " --push http://heapdrift:8080 --project shop --scenario soak --build 12 --again"

// recorded is a run with so many snapshots.
func recorded(image string, snapshots int) *analysis.Report {
	r := &analysis.Report{Snapshots: make([]analysis.Snapshot, snapshots)}
	r.Process.Name = image
	return r
}

// Each reason for which evidence does not decide has its line: kind, number and time of what decides. A recording
// begins anew, so it has what the run has and what it lacks.
func TestDecideByEvidence(t *testing.T) {
	trace, byWork := recorded("app.exe", 5), recorded("app.exe", 5)
	trace.Trace, trace.Window = &analysis.Trace{}, &analysis.Window{DurationNS: int64(time.Hour)}
	byWork.Work = &analysis.Work{Unit: "document"}
	noWindow := recorded("app.exe", 0)
	noWindow.Trace = &analysis.Trace{}
	for _, tt := range []struct {
		name   string
		report *analysis.Report
		next   analysis.Next
		want   string // behind the name of the program
	}{
		{"snapshots", recorded("app.exe", 3), analysis.Next{Evidence: analysis.NextSnapshots, Snapshots: 2, SnapshotsToBeCertain: 7},
			"heap --snapshots 10"},
		{"certain already", recorded("app.exe", 3), analysis.Next{Evidence: analysis.NextSnapshots, Snapshots: 2}, "heap --snapshots 5"},
		{"dumps", recorded("app.exe", 1), analysis.Next{Evidence: analysis.NextDumps, Snapshots: 2, SnapshotsToBeCertain: 9}, "dump --snapshots 3"},
		{"losses", recorded("app.exe", 15), analysis.Next{Evidence: analysis.NextComplete}, "heap --snapshots 15"},
		{"losses of few", recorded("app.exe", 2), analysis.Next{Evidence: analysis.NextComplete}, "heap --snapshots 12"},
		{"longer", recorded("app.exe", 12), analysis.Next{Evidence: analysis.NextLonger, LengthFactor: 2, Hours: 8}, "heap --snapshots 12 --every 40m"},
		{"longer by few", recorded("app.exe", 5), analysis.Next{Evidence: analysis.NextLonger, LengthFactor: 2, Hours: 1}, "heap --snapshots 12 --every 5m"},
		{"short", recorded("app.exe", 12), analysis.Next{Evidence: analysis.NextLonger, LengthFactor: 2, Hours: 0.01}, "heap --snapshots 12 --every 3s"},
		{"odd", recorded("app.exe", 12), analysis.Next{Evidence: analysis.NextLonger, LengthFactor: 2, Hours: 24.1}, "heap --snapshots 12 --every 121m"},
		{"days", recorded("app.exe", 12), analysis.Next{Evidence: analysis.NextLonger, LengthFactor: 2, Hours: 24}, "heap --snapshots 12 --every 2h"},
		{"no times", recorded("app.exe", 12), analysis.Next{Evidence: analysis.NextLonger, LengthFactor: 1.1}, "heap --snapshots 14"},
		{"unknown", recorded("app.exe", 12), analysis.Next{Evidence: analysis.NextLonger}, "heap --snapshots 24"},
		{"many", recorded("app.exe", 90), analysis.Next{Evidence: analysis.NextLonger, LengthFactor: 3e9}, "heap --snapshots 99"},
		{"by work", byWork, analysis.Next{Evidence: analysis.NextLonger, LengthFactor: 3, Hours: 8}, "heap --snapshots 15 --per-work"},
		{"longer trace", trace, analysis.Next{Evidence: analysis.NextLonger, LengthFactor: 2, Hours: 3}, "trace --every 15m"},
		{"unknown trace", trace, analysis.Next{Evidence: analysis.NextLonger}, "trace --every 10m"},
		{"losses of a trace", trace, analysis.Next{Evidence: analysis.NextComplete}, "trace --every 5m"},
		{"trace without times", noWindow, analysis.Next{Evidence: analysis.NextLonger}, "trace"},
		{"spaces", recorded("My App.EXE", 3), analysis.Next{Evidence: analysis.NextSnapshots, Snapshots: 2}, "heap --snapshots 5"},
	} {
		v := leaks.RunVerdict{Gate: leaks.GateInconclusive, Next: &tt.next}
		o, ok := kit.Decide(&kit.Run{Project: "shop", Scenario: "soak", Build: "12", Report: tt.report}, &v)
		o.Server = "http://heapdrift:8080"
		image := "app.exe"
		if tt.name == "spaces" {
			image = `"My App.EXE"`
		}
		if want := "heapdrift record --image " + image + " --evidence " + tt.want + pushed; !ok || o.RecordLine() != want {
			t.Errorf("%s: %t,\n%s, want\n%s", tt.name, ok, o.RecordLine(), want)
		}
		v.Gate = leaks.GatePassed // by the policy: what would decide is the same
		if again, ok := kit.Decide(&kit.Run{Project: "shop", Scenario: "soak", Build: "12", Report: tt.report}, &v); !ok ||
			again.Evidence != o.Evidence {
			t.Errorf("%s, passed: %t, %+v", tt.name, ok, again)
		}
	}
}

// A gate may wait for another build than that of the run, for another run, or for nothing that is recorded.
func TestDecideByGate(t *testing.T) {
	compared := &leaks.RunComparison{Base: &compare.BuildResult{Build: "9 b"}}
	doubt := func(codes ...leaks.ReasonCode) *leaks.Decision {
		d := new(leaks.Decision)
		for _, code := range codes {
			d.Reasons = append(d.Reasons, leaks.Reason{Effect: leaks.EffectDoubts, Code: code})
		}
		d.Reasons = append(d.Reasons, leaks.Reason{Effect: leaks.EffectSilences, Code: leaks.ReasonKnown})
		return d
	}
	for _, tt := range []struct {
		name     string
		decision *leaks.Decision
		compared *leaks.RunComparison
		build    string // "" for no recording
	}{
		{"undecided", doubt(leaks.ReasonUndecided), nil, "12"},
		{"first build", doubt(leaks.ReasonFirst), nil, "NEXT-BUILD"},
		{"no baseline", doubt(leaks.ReasonNoBaseline), nil, "EARLIER-BUILD"},
		{"no release", doubt(leaks.ReasonNoRelease), nil, "EARLIER-BUILD"},
		{"baseline", doubt(leaks.ReasonBaseline), compared, `"9 b"`},
		{"baseline of none", doubt(leaks.ReasonBaseline), nil, "EARLIER-BUILD"},
		{"symbols", doubt(leaks.ReasonNoSymbols), nil, ""},
		{"symbols and more", doubt(leaks.ReasonNoSymbols, leaks.ReasonBudgetUncertain), nil, "12"},
		{"no evidence", nil, nil, "12"},
	} {
		v := leaks.RunVerdict{Gate: leaks.GateInconclusive, Decision: tt.decision, Compared: tt.compared}
		o, ok := kit.Decide(&kit.Run{Project: "shop", Scenario: "soak", Build: "12", Report: recorded("app.exe", 12)}, &v)
		o.Server = "http://heapdrift:8080"
		want := ""
		if tt.build != "" {
			want = "heapdrift record --image app.exe --evidence heap --snapshots 12 --push http://heapdrift:8080 --project shop" +
				" --scenario soak --build " + tt.build + " --again"
		}
		if ok != (want != "") || o.RecordLine() != want {
			t.Errorf("%s: %t,\n%s, want\n%s", tt.name, ok, o.RecordLine(), want)
		}
	}
	run := kit.Run{Project: "shop", Scenario: "soak", Build: "12", Report: recorded("app.exe", 12)}
	for _, gate := range []leaks.Gate{leaks.GatePassed, leaks.GateFailed, leaks.GatePending, leaks.GateError} {
		if o, ok := kit.Decide(&run, &leaks.RunVerdict{Gate: gate}); ok {
			t.Errorf("%s: %+v", gate, o)
		}
	}
	window := &analysis.Next{Evidence: analysis.NextWindow}
	run.Report.Trace = &analysis.Trace{}
	if o, ok := kit.Decide(&run, &leaks.RunVerdict{Gate: leaks.GatePassed, Next: window}); ok {
		t.Errorf("a window is recorded: %+v", o)
	}
	if _, ok := kit.Decide(&run, &leaks.RunVerdict{Gate: leaks.GateInconclusive, Next: window}); !ok {
		t.Error("a trace is not recorded again whose gate is inconclusive")
	}
}

// Where nobody knows the program, there is the kit and no line. What a shell could read as code is not in the line.
func TestRecordLineRefuses(t *testing.T) {
	v := leaks.RunVerdict{Gate: leaks.GateInconclusive}
	for _, r := range []*analysis.Report{nil, recorded("", 3), recorded("app", 3), recorded("a&b.exe", 3)} {
		o, ok := kit.Decide(&kit.Run{Project: "shop", Scenario: "soak", Build: "12", Report: r}, &v)
		o.Server = "http://heapdrift:8080"
		if !ok || o.Image != "" || o.RecordLine() != "" || o.Query().Get("evidence") != kit.UMDH {
			t.Errorf("%+v: %t, %+v", r, ok, o)
		}
	}
	for build, want := range map[string]string{"": "BUILD", "1.2": "1.2", "a b": `"a b"`, "main#1/2": `"main#1/2"`,
		`a"&calc`: "BUILD", "%PATH%": "BUILD", "$(x)": "BUILD", "a`b": "BUILD", "!x!": "BUILD"} {
		o := order
		o.Build = build
		if got := "heapdrift record --image app.exe --evidence heap --push http://heapdrift:8080 --project shop --scenario soak --build " +
			want + " --again"; o.RecordLine() != got {
			t.Errorf("%q: %s", build, o.RecordLine())
		}
	}
	for _, o := range []kit.Order{{}, {Project: "a&b", Image: "app.exe", Evidence: "umdh", Server: "http://h"},
		{Project: "a", Image: "app.exe", Evidence: "umdh", Server: "http://h%"}} {
		if got := o.RecordLine(); got != "" {
			t.Errorf("%+v: %s", o, got)
		}
	}
}
