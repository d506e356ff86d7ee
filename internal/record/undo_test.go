package record_test

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"heapdrift/internal/record"
	"heapdrift/internal/record/flags"
	"heapdrift/internal/record/flags/flagstest"
	"heapdrift/internal/record/target"
)

// killed leaves a machine as a recorder leaves it that is killed: settings changed, undo file written.
func killed(t *testing.T, f *fake, image string, recorder uint32) {
	t.Helper()
	changes, err := flags.Compute(&f.registry, image, flags.Want{Stacks: true, DatabaseMB: 256})
	if err != nil {
		t.Fatal(err)
	}
	u, err := flags.New(&f.registry, image, changes)
	if err != nil {
		t.Fatal(err)
	}
	u.RecorderPID, u.RecorderStarted, u.Task = recorder, time.Unix(5, 0), "heapdrift undo app.exe 9"
	if err := errors.Join(os.MkdirAll(f.undoFolder(), 0o700), u.Write(f.undoFolder()), u.Apply(&f.registry)); err != nil {
		t.Fatal(err)
	}
}

// What a killed recorder left is restored, with its task.
func TestUndo(t *testing.T) {
	f := newFake(t)
	killed(t, f, "app.exe", 9)
	m := &f.recorder(record.Options{}).Machine
	if lines, err := m.Status(); err != nil || len(lines) != 2 || !strings.Contains(lines[0], "PID 9, which has ended") {
		t.Errorf("Status: %q, %v", lines, err)
	}
	done, err := m.Undo(t.Context(), false)
	if err != nil || len(done) != 2 || done[0] != "GlobalFlag of app.exe is absent again" {
		t.Errorf("Undo: %q, %v", done, err)
	}
	f.untouched(t)
	if h := f.history(); h[len(h)-1] != "schtasks.exe /delete" {
		t.Errorf("the task stays: %q", h)
	}
	if done, err := m.Undo(t.Context(), false); len(done) != 0 || err != nil {
		t.Errorf("a second time: %q, %v", done, err)
	}
}

// A recorder that still runs restores its settings itself. A process that was given its PID later is none.
func TestUndoBesideRecorder(t *testing.T) {
	for name, test := range map[string]struct {
		started time.Time
		force   bool
		left    bool
	}{
		"runs": {time.Unix(5, 0), false, true}, "runs, with force": {time.Unix(5, 0), true, false},
		"another process": {time.Unix(6, 0), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.system.Add(target.Info{PID: 9, Started: test.started})
			killed(t, f, "app.exe", 9)
			_, err := f.recorder(record.Options{}).Machine.Undo(t.Context(), test.force)
			var settings *record.FlagsError
			if errors.As(err, &settings) != test.left || (f.registry.String() != "") != test.left {
				t.Errorf("%v; settings: %s", err, f.registry.String())
			}
			if test.left && len(settings.StillChanged) != 2 {
				t.Errorf("left: %q", settings.StillChanged)
			}
		})
	}
}

// What cannot be restored is listed, and its undo file stays.
func TestUndoFails(t *testing.T) {
	f := newFake(t)
	killed(t, f, "app.exe", 9)
	f.registry.Fail = map[string]error{flags.TraceDatabase: flagstest.ErrDenied}
	_, err := f.recorder(record.Options{}).Machine.Undo(t.Context(), false)
	var settings *record.FlagsError
	if !errors.As(err, &settings) || len(settings.StillChanged) != 1 ||
		!strings.Contains(err.Error(), "still changed: StackTraceDatabaseSizeInMb of app.exe is 0x100; before it was absent") {
		t.Errorf("%v", err)
	}
	f.registry.Fail = nil
	if _, err := f.recorder(record.Options{}).Machine.Undo(t.Context(), false); err != nil {
		t.Error(err)
	}
	f.untouched(t)
}

// A second recording of a program would take the settings of the first for what was there before.
func TestSecondRecording(t *testing.T) {
	f := newFake(t)
	killed(t, f, "App.exe", 9)
	_, err := f.recorder(record.Options{Target: app(), Snapshots: 1}).Plan()
	if err == nil || !strings.Contains(err.Error(), "run heapdrift record --undo first") {
		t.Errorf("after a kill: %v", err)
	}
	f.system.Add(target.Info{PID: 9, Started: time.Unix(5, 0)})
	_, err = f.recorder(record.Options{Target: app(), Snapshots: 1}).Plan()
	if err == nil || !strings.Contains(err.Error(), "PID 9 records App.exe already") {
		t.Errorf("beside a recording: %v", err)
	}
	if _, err := f.recorder(record.Options{Target: record.Target{Command: []string{"other.exe"}}, Snapshots: 1}).Plan(); err != nil {
		t.Errorf("of another program: %v", err)
	}
}

// The task is XML that the scheduler reads, runs a copy of the program that users cannot write, and comes again.
func TestTask(t *testing.T) {
	f := newFake(t)
	f.taken = func(int) {
		copies, _ := filepath.Glob(filepath.Join(f.undoFolder(), "heapdrift-*.exe"))
		if len(copies) != 1 {
			t.Errorf("copies of the program: %q", copies)
		}
	}
	r := f.recorder(record.Options{Target: app(), Snapshots: 1})
	run := r.Machine.Tools.Run
	r.Machine.Tools.Run = func(ctx context.Context, program string, args ...string) (string, error) {
		if args[0] == "/create" {
			checkTask(t, args)
		}
		return run(ctx, program, args...)
	}
	synctest.Test(t, func(t *testing.T) {
		plan, err := r.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Run(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
	})
	f.untouched(t)
}

func checkTask(t *testing.T, args []string) {
	t.Helper()
	text, err := os.ReadFile(args[4])
	if err != nil || args[3] != "/xml" || len(text) < 2 || text[0] != 0xFF || text[1] != 0xFE {
		t.Fatalf("%q: %v", args, err)
	}
	var ascii []byte
	for i := 2; i+1 < len(text); i += 2 {
		ascii = append(ascii, text[i])
	}
	plain := strings.Replace(string(ascii), `encoding="UTF-16"`, "", 1)
	for d := xml.NewDecoder(strings.NewReader(plain)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v:\n%s", err, plain)
		}
	}
	at := time.Now().Add(24 * time.Hour).Local().Format("2006-01-02T15:04:05")
	for _, part := range []string{"<Arguments>record --undo</Arguments>", "<BootTrigger/>", "<Interval>PT1H</Interval>", at} {
		if !strings.Contains(plain, part) {
			t.Errorf("the task lacks %s:\n%s", part, plain)
		}
	}
}

// A watch records each run of the program, and leaves the settings until it ends.
func TestWatch(t *testing.T) {
	f := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 2 {
			time.AfterFunc(time.Duration(1+3*i)*time.Hour, func() {
				p := f.system.Add(target.Info{Image: "app.exe"})
				f.note("starts with %s", strings.ReplaceAll(f.registry.String(), "\n ", ""))
				time.AfterFunc(150*time.Minute, func() { p.Exit(0) })
			})
		}
		time.AfterFunc(10*time.Hour, cancel)
		r := f.recorder(record.Options{Target: record.Target{Image: "app.exe"}, Every: time.Hour, Watch: true})
		plan, err := r.Plan()
		if err != nil {
			t.Fatal(err)
		}
		var dirs []string
		err = r.Watch(ctx, plan, func(_ context.Context, rec *record.Recording, failed error) {
			dirs = append(dirs, rec.Dir)
			// The settings are those of the watch: on for its runs, restored before the end of the last one is told.
			if last := len(dirs) >= 3; len(rec.Settings.Changed) != 2 || (rec.Settings.RestoredAt != nil) != last || !rec.Watch ||
				rec.EveryNS != int64(time.Hour) {
				t.Errorf("run %d: %+v, watch %t every %d", len(dirs), rec.Settings, rec.Watch, rec.EveryNS)
			}
			if n := len(rec.Files); n > 0 { // the last one is stopped as it waits
				f.note("run of %d", n)
			}
			if len(dirs) == 4 && (rec.Dir != dirs[1] || !errors.Is(failed, record.ErrInterrupted)) {
				t.Errorf("the end of the settings is told with %s: %v", rec.Dir, failed)
			}
		})
		if err != nil || len(dirs) != 4 || dirs[0] == dirs[1] {
			t.Errorf("%q, %v", dirs, err)
		}
	})
	const with = "starts with app.exe GlobalFlag 0x1000 StackTraceDatabaseSizeInMb 0x100"
	f.expect(t, "schtasks.exe /create", "set GlobalFlag", "set StackTraceDatabaseSizeInMb", with, "snapshot 1", "snapshot 2", "run of 2",
		with, "snapshot 3", "snapshot 4", "run of 2", "delete GlobalFlag", "delete StackTraceDatabaseSizeInMb",
		"schtasks.exe /delete", "run of 2")
	f.untouched(t)
}
