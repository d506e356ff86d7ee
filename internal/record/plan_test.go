package record_test

import (
	"errors"
	"strings"
	"testing"

	"heapdrift/internal/record"
	"heapdrift/internal/record/collect"
	"heapdrift/internal/record/target"
)

// Options that do not go together are refused before anything happens.
func TestCheck(t *testing.T) {
	every := record.Options{Target: app(), Evidence: collect.Heap, Every: 1, Snapshots: 1}
	if err := every.Check(); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(*record.Options){
		"name what to record":            func(o *record.Options) { o.Target = record.Target{} },
		"choose one of":                  func(o *record.Options) { o.Target.PID = 4 },
		"--snapshots":                    func(o *record.Options) { o.Snapshots = -1 },
		"--every":                        func(o *record.Options) { o.Every = 0 },
		"exclude each other":             func(o *record.Options) { o.PerWork, o.Counter = true, "x" },
		"needs --step":                   func(o *record.Options) { o.Counter = "x" },
		`"Local\\a\\b" is not the name`:  func(o *record.Options) { o.PerWork, o.Event = true, `Local\a\b` },
		`"Global\\" is not the name`:     func(o *record.Options) { o.PerWork, o.Event = true, `Global\` },
		"a trace has no snapshots":       func(o *record.Options) { o.Evidence, o.PerWork = collect.Trace, true },
		"a trace needs an end":           func(o *record.Options) { o.Evidence, o.Snapshots = collect.Trace, 0 },
		`"C:\\a.exe" is not the name of`: func(o *record.Options) { o.Target = record.Target{Image: `C:\a.exe`} },
	} {
		o := every
		change(&o)
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// The plan names what is changed, for how long, and what needs an administrator, and changes nothing.
func TestPlan(t *testing.T) {
	for name, test := range map[string]struct {
		options record.Options
		lines   []string
	}{
		"a start": {record.Options{Target: app(), Snapshots: 12}, []string{"start app.exe, and end it after the recording",
			"12 snapshots, every 60 s: 12 min", `Image File Execution Options\app.exe GlobalFlag: absent → 0x1000`,
			"StackTraceDatabaseSizeInMb: absent → 256 MB", "after the first snapshot; after a kill by heapdrift record --undo",
			"an administrator, to change the settings of app.exe"}},
		"a name without .exe": {record.Options{Target: record.Target{Command: []string{"app"}}, Snapshots: 1, Keep: true},
			[]string{"start app.exe; it runs on", `Options\app.exe GlobalFlag`}},
		"umdh": {record.Options{Target: app(), Snapshots: 1, Evidence: collect.UMDH}, []string{"when the recording ends"}},
		"auto": {record.Options{Target: app(), Snapshots: 1, Evidence: collect.Auto}, []string{"heap, because "}},
		"a trace": {record.Options{Target: app(), Snapshots: 2, Evidence: collect.Trace}, []string{"2 min in one trace",
			"TracingFlags: absent → 0x1", "record a trace"}},
		"no flags": {record.Options{Target: app(), Snapshots: 1, NoFlags: true}, []string{"nothing on this machine"}},
		"a service": {record.Options{Target: record.Target{Service: "shop"}, Snapshots: 1}, []string{"restart the service shop (svc.exe)",
			"and restart the service shop"}},
		"a pool": {record.Options{Target: record.Target{Pool: "p"}, Snapshots: 1}, []string{"recycle the application pool p (w3wp.exe)",
			"other pools of IIS"}},
		"without stacks": {record.Options{Target: record.Target{PID: 1004}, Snapshots: 1}, []string{
			"old.exe, PID 1004, as it runs", "nothing on this machine", "started without +ust"}},
		"to be restarted": {record.Options{Target: record.Target{Image: "old.exe"}, Snapshots: 1}, []string{
			"wait for the next start of old.exe", "runs as PID 1004 without what the evidence needs", "GlobalFlag"}},
		"event":   {record.Options{Target: app(), PerWork: true, Event: "done"}, []string{"each when the event done is set, at Enter or heapdrift mark"}},
		"marks":   {record.Options{Target: app(), PerWork: true}, []string{"snapshots without an end, each at Enter"}},
		"counter": {record.Options{Target: app(), Counter: "c.txt", Step: 50, Snapshots: 2}, []string{"2 snapshots, each after 50 more in c.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.system.Services = map[string]string{"shop": `"C:\x\svc.exe" -k`}
			f.system.Services["shop"] = target.ProgramOf(f.system.Services["shop"])
			f.system.Add(target.Info{Image: "old.exe", HasFlags: true})
			plan, err := f.recorder(test.options).Plan()
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			plan.Print(&text)
			for _, line := range test.lines {
				if !strings.Contains(text.String(), line) {
					t.Errorf("does not say %q:\n%s", line, text.String())
				}
			}
			f.expect(t)
			f.untouched(t)
		})
	}
}

// Without the rights of an administrator nothing is begun that needs them.
func TestNotElevated(t *testing.T) {
	for name, test := range map[string]struct {
		options record.Options
		refused bool
	}{
		"settings": {record.Options{Target: app(), Snapshots: 1}, true},
		"a trace":  {record.Options{Target: app(), Snapshots: 1, Evidence: collect.Trace, NoFlags: true}, true},
		"no flags": {record.Options{Target: app(), Snapshots: 1, NoFlags: true}, false},
		"a pid":    {record.Options{Target: record.Target{PID: 1004}, Snapshots: 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.system.Restricted = true
			f.system.Add(target.Info{Image: "old.exe"})
			_, err := f.recorder(test.options).Plan()
			var settings *record.FlagsError
			if errors.As(err, &settings) != test.refused || test.refused && !strings.Contains(err.Error(), "Run as administrator") {
				t.Errorf("%v", err)
			}
		})
	}
}

// A service in a shared process is refused: its settings would hit all of them.
func TestSharedService(t *testing.T) {
	f := newFake(t)
	f.system.Services = map[string]string{"shared": `C:\Windows\System32\svchost.exe`}
	for service, says := range map[string]string{"shared": "all services share", "none": "no service"} {
		_, err := f.recorder(record.Options{Target: record.Target{Service: service}, Snapshots: 1}).Plan()
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", service, err)
		}
	}
}
