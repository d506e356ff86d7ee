package record_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"heapdrift/internal/record"
	"heapdrift/internal/record/collect"
	"heapdrift/internal/record/target"
)

// The undo file is first, the task second, the settings third; they are restored after the first snapshot.
func TestSnapshotsByTime(t *testing.T) {
	f := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		rec, err := f.record(t.Context(), record.Options{Target: app(), Snapshots: 3, Every: 5 * time.Minute,
			Labels: record.Labels{Project: "shop", Build: "7"}})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 15*time.Minute {
			t.Errorf("took %s", took)
		}
		checkSidecar(t, f, rec, began)
		if p := f.system.All()[1]; !p.IsClosed() {
			t.Error("the handle of the program is not given back")
		}
		if p := f.system.All()[0]; !p.IsClosed() {
			t.Error("the handle of the recorder is not given back")
		}
	})
	f.expect(t, "schtasks.exe /create", "set GlobalFlag", "set StackTraceDatabaseSizeInMb", "start app.exe", "snapshot 1",
		"delete GlobalFlag", "delete StackTraceDatabaseSizeInMb", "schtasks.exe /delete", "snapshot 2", "snapshot 3")
	f.untouched(t)
	if p := f.system.All()[1]; p.ExitCode() != 1 {
		t.Error("the program that was started still runs")
	}
	for _, says := range []string{"snapshot   2 of 3  8 B, pause 5 ms; 5 min left", "restored   the settings of app.exe are as before"} {
		if !strings.Contains(f.said(), says) {
			t.Errorf("does not say %q:\n%s", says, f.said())
		}
	}
}

func checkSidecar(t *testing.T, f *fake, rec *record.Recording, began time.Time) {
	t.Helper()
	s, err := record.ReadSidecar(f.folder())
	if err != nil {
		t.Fatal(err)
	}
	// The settings are restored after the first snapshot, and the recording ends with the last.
	if s.Settings.RestoredAt != nil && !s.Settings.RestoredAt.Equal(began.Add(5*time.Minute)) || s.Ended != nil && !s.Ended.Equal(began.Add(15*time.Minute)) {
		t.Errorf("restored %v, ended %v, began %s", s.Settings.RestoredAt, s.Ended, began)
	}
	if s.State != record.StateEnded || s.Process.Image != "app.exe" || s.Process.PID == 0 || s.OS != "Windows 10.0.26100" ||
		s.Heapdrift != "1.2.3" || s.Evidence != collect.Heap || s.Project != "shop" || s.Build != "7" || s.Process.ExitCode != nil ||
		!s.Began.Equal(began) || s.Ended == nil || s.Settings.RestoredAt == nil || len(s.Settings.Changed) != 2 || s.Settings.Undo == "" {
		t.Errorf("sidecar: %+v", s)
	}
	if len(s.Snapshots) != 3 || len(rec.Files) != 3 {
		t.Fatalf("%d snapshots, %d files", len(s.Snapshots), len(rec.Files))
	}
	for i, shot := range s.Snapshots {
		if at := began.Add(time.Duration(i+1) * 5 * time.Minute); !shot.TakenAt.Equal(at) || shot.PauseMS != 5 || shot.Bytes != 8 ||
			shot.Work != nil || filepath.Join(f.folder(), shot.File) != rec.Files[i] {
			t.Errorf("snapshot %d: %+v, %s", i, shot, rec.Files[i])
		}
	}
}

// Ctrl C restores before anything else, and keeps what was taken.
func TestInterrupted(t *testing.T) {
	for kind, want := range map[string][]string{
		collect.Heap: {"schtasks.exe /create", "set GlobalFlag", "set StackTraceDatabaseSizeInMb", "start app.exe",
			"delete GlobalFlag", "delete StackTraceDatabaseSizeInMb", "schtasks.exe /delete"},
		collect.Trace: {"schtasks.exe /create", "set TracingFlags", "wpr.exe -start", "start app.exe",
			"delete TracingFlags", "schtasks.exe /delete", "wpr.exe -stop"},
	} {
		t.Run(kind, func(t *testing.T) {
			f := newFake(t)
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(30*time.Second, cancel)
				rec, err := f.record(ctx, record.Options{Target: app(), Snapshots: 3, Evidence: kind})
				if !errors.Is(err, record.ErrInterrupted) || rec.State != record.StateInterrupted {
					t.Errorf("%v, %s", err, rec.State)
				}
				if kind == collect.Trace && len(rec.Files) != 1 {
					t.Errorf("files: %q", rec.Files)
				}
			})
			f.expect(t, want...)
			f.untouched(t)
		})
	}
}

// A trace lasts as long as was asked for. The recorder says how much of it is left, and at the end how large it is.
func TestTraceSaysHowFarItIs(t *testing.T) {
	f := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		rec, err := f.record(t.Context(), record.Options{Target: app(), Snapshots: 3, Every: time.Minute, Evidence: collect.Trace})
		if err != nil || len(rec.Files) != 1 || time.Since(began) != 3*time.Minute {
			t.Errorf("%v, %q after %s", err, rec.Files, time.Since(began))
		}
	})
	if got, want := f.said(), "trace      2 min left\ntrace      60 s left\n"; !strings.Contains(got, want) ||
		strings.Contains(got, " 0 s left") || !strings.Contains(got, "trace      5 B\n") {
		t.Errorf("says\n%s", got)
	}
}

// Where the own reader does not know the heaps of a process, another tool takes over, with the settings that it needs.
func TestFallback(t *testing.T) {
	f := newFake(t)
	f.fail["snapshot"] = fmt.Errorf("%w of app.exe", collect.ErrNoHeap)
	synctest.Test(t, func(t *testing.T) {
		rec, err := f.record(t.Context(), record.Options{Target: app(), Snapshots: 2, Evidence: collect.Auto})
		if err != nil || rec.Evidence != collect.UMDH || len(rec.Files) != 2 || len(rec.Notes) != 1 {
			t.Errorf("%+v, %v", rec, err)
		}
		pid := fmt.Sprint(rec.Process.PID)
		f.expect(t, "schtasks.exe /create", "set GlobalFlag", "set StackTraceDatabaseSizeInMb", "start app.exe",
			"umdh.exe -p:"+pid, "umdh.exe -p:"+pid, "delete GlobalFlag", "delete StackTraceDatabaseSizeInMb", "schtasks.exe /delete")
	})
	f.untouched(t)
	if want := "continuing with --evidence umdh"; !strings.Contains(f.said(), want) {
		t.Errorf("does not say %q:\n%s", want, f.said())
	}

	// A series has one kind: a later snapshot without a heap ends the recording, with what was taken.
	f = newFake(t)
	f.taken = func(n int) {
		if n == 1 {
			f.fail["snapshot"] = fmt.Errorf("%w of app.exe", collect.ErrNoHeap)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		rec, err := f.record(t.Context(), record.Options{Target: app(), Snapshots: 3, Evidence: collect.Auto})
		if !errors.Is(err, collect.ErrNoHeap) || rec.Evidence != collect.Heap || len(rec.Files) != 1 || rec.State != record.StateFailed {
			t.Errorf("%+v, %v", rec, err)
		}
	})
	f.untouched(t)
	if strings.Contains(f.said(), "continuing with") || slices.ContainsFunc(f.history(), func(line string) bool {
		return strings.Contains(line, "umdh")
	}) {
		t.Errorf("falls back after the first snapshot:\n%s", f.said())
	}

	// Who asked for heap snapshots gets no other kind.
	f = newFake(t)
	f.fail["snapshot"] = fmt.Errorf("%w of app.exe", collect.ErrNoHeap)
	synctest.Test(t, func(t *testing.T) {
		if _, err := f.record(t.Context(), record.Options{Target: app(), Snapshots: 2}); !errors.Is(err, collect.ErrNoHeap) {
			t.Errorf("error %v", err)
		}
	})
	f.untouched(t)
}

// A dump cannot be interrupted: the settings are restored beside it.
func TestInterruptedInSnapshot(t *testing.T) {
	f := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f.taken = func(int) {
			cancel()
			synctest.Wait()
			if got := f.registry.String(); got != "" {
				t.Errorf("settings while the snapshot goes on:\n%s", got)
			}
		}
		if _, err := f.record(ctx, record.Options{Target: app(), Snapshots: 3}); !errors.Is(err, record.ErrInterrupted) {
			t.Errorf("%v", err)
		}
	})
	f.untouched(t)
}

// A program that ends early ends the recording; its exit code is told, and what was taken is kept.
func TestProgramEndsEarly(t *testing.T) {
	f := newFake(t)
	f.taken = func(n int) {
		if n == 2 {
			f.system.All()[1].Exit(42)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		rec, err := f.record(t.Context(), record.Options{Target: app(), Snapshots: 5})
		if err != nil || len(rec.Files) != 2 || rec.Process.ExitCode == nil || *rec.Process.ExitCode != 42 {
			t.Errorf("%+v, %v", rec, err)
		}
	})
	if want := "app.exe ended with exit code 42 before snapshot 3 of 5; 2 snapshots kept"; !strings.Contains(f.said(), want) {
		t.Errorf("does not say %q:\n%s", want, f.said())
	}
	f.untouched(t)
}

// Without a snapshot there is nothing to analyse.
func TestProgramEndsAtOnce(t *testing.T) {
	f := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		time.AfterFunc(time.Second, func() { f.system.All()[1].Exit(3) })
		rec, err := f.record(t.Context(), record.Options{Target: app(), Snapshots: 5})
		if err == nil || !strings.Contains(err.Error(), "exit code 3") || rec.State != record.StateFailed {
			t.Errorf("%+v, %v", rec, err)
		}
	})
	f.untouched(t)
}

// Whatever fails, the settings are as before.
func TestFailuresRestore(t *testing.T) {
	for what, kind := range map[string]string{"start": collect.Heap, "snapshot": collect.Heap, "wpr.exe -start": collect.Trace,
		"wpr.exe -stop": collect.Trace} {
		t.Run(what, func(t *testing.T) {
			f := newFake(t)
			f.fail[what] = errors.New("broken for the test")
			synctest.Test(t, func(t *testing.T) {
				rec, err := f.record(t.Context(), record.Options{Target: app(), Snapshots: 2, Evidence: kind})
				if err == nil || !strings.Contains(err.Error(), "broken for the test") || rec.State != record.StateFailed ||
					!slices.ContainsFunc(rec.Notes, func(note string) bool { return strings.Contains(note, "broken for the test") }) {
					t.Errorf("%v, notes %q", err, rec.Notes)
				}
			})
			f.untouched(t)
		})
	}
}

// A machine without a scheduler can be recorded; the user is told.
func TestWithoutScheduler(t *testing.T) {
	f := newFake(t)
	f.fail["schtasks.exe /create"] = errors.New("exit code 1")
	synctest.Test(t, func(t *testing.T) {
		rec, err := f.record(t.Context(), record.Options{Target: app(), Snapshots: 1})
		if err != nil || rec.Settings.Task != "" || len(rec.Settings.Notes) != 1 {
			t.Errorf("%+v, %v", rec, err)
		}
	})
	if !strings.Contains(f.said(), "no scheduled task will restore") {
		t.Error(f.said())
	}
	f.expect(t, "schtasks.exe /create", "set GlobalFlag", "set StackTraceDatabaseSizeInMb", "start app.exe", "snapshot 1",
		"delete GlobalFlag", "delete StackTraceDatabaseSizeInMb")
}

// A process that cannot be ended by the recording runs on: one that ran before, and one with --keep.
func TestRunsOn(t *testing.T) {
	f := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		running := f.system.Add(target.Info{Image: "app.exe", Flags: 0x1000, HasFlags: true})
		for i, o := range []record.Options{
			{Target: record.Target{PID: running.What.PID}}, {Target: record.Target{Image: "app.exe"}},
			{Target: record.Target{Command: []string{"other.exe"}}, Keep: true},
		} {
			o.Snapshots, o.Dir = 1, filepath.Join(f.folder(), string(rune('a'+i)))
			if _, err := f.record(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		for _, image := range []string{"app.exe", "other.exe"} {
			if pids, err := f.system.Find(image); err != nil || len(pids) != 1 {
				t.Errorf("%s does not run any more: %v, %v", image, pids, err)
			}
		}
	})
	if slices.Contains(f.history(), "start app.exe") {
		t.Error("a process that runs was started again")
	}
}

// Each way to name a program leads to its process.
func TestTargets(t *testing.T) {
	for name, test := range map[string]struct {
		target record.Target
		image  string
	}{
		"service": {record.Target{Service: "shop"}, "shopsvc.exe"},
		"image":   {record.Target{Image: "late.exe"}, "late.exe"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.system.Services = map[string]string{"shop": `C:\shop\shopsvc.exe`}
			synctest.Test(t, func(t *testing.T) {
				time.AfterFunc(time.Hour, func() { f.system.Add(target.Info{Image: "late.exe"}) })
				rec, err := f.record(t.Context(), record.Options{Target: test.target, Snapshots: 2})
				if err != nil || rec.Process.Image != test.image || len(rec.Files) != 2 {
					t.Errorf("%+v, %v", rec, err)
				}
				<-time.After(2 * time.Hour) // the timer must not outlive the bubble
			})
			f.untouched(t)
		})
	}
}

// A folder holds one recording.
func TestFolderInUse(t *testing.T) {
	f := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		o := record.Options{Target: app(), Snapshots: 1}
		if _, err := f.record(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if _, err := f.record(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another folder") {
			t.Errorf("%v", err)
		}
	})
	f.untouched(t)
}
