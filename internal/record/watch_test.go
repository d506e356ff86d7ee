package record_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"heapdrift/internal/record"
	"heapdrift/internal/record/collect"
	"heapdrift/internal/record/target"
)

// A watch that is stopped tells the end of the settings once with evidence: with the run that it stops, or, where that
// one has no snapshot yet, with the last run that has one.
func TestWatchIsStoppedInARun(t *testing.T) {
	const hour = time.Hour
	for name, test := range map[string]struct {
		earlier int           // snapshots of a run that ended by itself; it lasts half an hour more
		stopped time.Duration // after the beginning of the run that is stopped
		want    []string      // for each call: snapshots of the recording, its error, and whether settings are restored
	}{
		"no snapshot at all":          {0, hour / 2, []string{"0 interrupted restored"}},
		"one snapshot":                {0, 3 * hour / 2, []string{"1 interrupted restored"}},
		"two snapshots":               {0, 5 * hour / 2, []string{"2 interrupted restored"}},
		"none after a run with one":   {1, hour / 2, []string{"1", "0 interrupted restored", "1 interrupted restored"}},
		"none after a run with two":   {2, hour / 2, []string{"2", "0 interrupted restored", "2 interrupted restored"}},
		"one after a run with one":    {1, 3 * hour / 2, []string{"1", "1 interrupted restored"}},
		"between, after one snapshot": {1, -hour / 4, []string{"1", "0 interrupted restored", "1 interrupted restored"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				begins := hour
				if test.earlier > 0 {
					lasts := time.Duration(test.earlier)*hour + hour/2
					time.AfterFunc(begins, func() {
						p := f.system.Add(target.Info{Image: "app.exe"})
						time.AfterFunc(lasts, func() { p.Exit(0) })
					})
					begins += lasts + hour
				}
				time.AfterFunc(begins, func() { f.system.Add(target.Info{Image: "app.exe"}) })
				time.AfterFunc(begins+test.stopped, cancel)
				r := f.recorder(record.Options{Target: record.Target{Image: "app.exe"}, Every: hour, Watch: true})
				plan, err := r.Plan()
				if err != nil {
					t.Fatal(err)
				}
				var told []string
				err = r.Watch(ctx, plan, func(_ context.Context, rec *record.Recording, failed error) {
					text := fmt.Sprint(len(rec.Files))
					if errors.Is(failed, record.ErrInterrupted) {
						text += " interrupted"
					}
					if rec.Settings.RestoredAt != nil {
						text += " restored"
						if s, err := record.ReadSidecar(rec.Dir); len(told) == 0 && (err != nil || s.Settings.RestoredAt == nil) {
							t.Errorf("the sidecar says %+v, %v", s, err)
						}
					}
					told = append(told, text)
				})
				if err != nil || !slices.Equal(told, test.want) {
					t.Errorf("%q, %v; want %q", told, err, test.want)
				}
				<-time.After(3 * hour) // no timer may outlive the bubble
			})
			f.untouched(t)
		})
	}
}

// A run that fails is told, and the watch looks for the next one a minute later. A watch that is stopped in that minute
// ends at once.
func TestWatchTriesAgain(t *testing.T) {
	f := newFake(t)
	f.fail["snapshot"] = errors.New("broken for the test")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		const stopped = 3*time.Hour + 150*time.Second
		began := time.Now()
		for _, p := range []struct{ starts, ends time.Duration }{{time.Hour, 2*time.Hour + 10*time.Second},
			{2*time.Hour + 30*time.Second, 2*time.Hour + 45*time.Second}, {2*time.Hour + 2*time.Minute, 4 * time.Hour}} {
			time.AfterFunc(p.starts, func() {
				app := f.system.Add(target.Info{Image: "app.exe"})
				time.AfterFunc(p.ends-p.starts, func() { app.Exit(0) })
			})
		}
		time.AfterFunc(stopped, cancel)
		r := f.recorder(record.Options{Target: record.Target{Image: "app.exe"}, Every: time.Hour, Watch: true})
		plan, err := r.Plan()
		if err != nil {
			t.Fatal(err)
		}
		var told []time.Duration
		err = r.Watch(ctx, plan, func(_ context.Context, _ *record.Recording, failed error) {
			told = append(told, time.Since(began).Truncate(time.Second)) // a process is looked for some times a second
			if failed == nil || !strings.Contains(failed.Error(), "broken for the test") {
				t.Errorf("told is %v", failed)
			}
		})
		if want := []time.Duration{2 * time.Hour, 3*time.Hour + 2*time.Minute}; err != nil || !slices.Equal(told, want) {
			t.Errorf("fails after %s, %v; want %s", told, err, want)
		}
		if took := time.Since(began); took != stopped {
			t.Errorf("ends after %s, want %s", took, stopped)
		}
		<-time.After(time.Hour) // no timer may outlive the bubble
	})
	if n := strings.Count(f.said(), "broken for the test"); n != 2 {
		t.Errorf("the user is told %d times:\n%s", n, f.said())
	}
	f.untouched(t)
}

// A watch restarts a service once, for the settings. From then on the service manager starts it.
func TestWatchOfAService(t *testing.T) {
	f := newFake(t)
	f.system.Services = map[string]string{"shop": `C:\shop\shopsvc.exe`}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(90*time.Minute, func() { f.system.All()[1].Exit(0) })
		time.AfterFunc(3*time.Hour, func() {
			p := f.system.Add(target.Info{Image: "shopsvc.exe"})
			time.AfterFunc(90*time.Minute, func() { p.Exit(0) })
		})
		time.AfterFunc(10*time.Hour, cancel)
		r := f.recorder(record.Options{Target: record.Target{Service: "shop"}, Every: time.Hour, Watch: true})
		plan, err := r.Plan()
		if err != nil {
			t.Fatal(err)
		}
		var told []int
		if err := r.Watch(ctx, plan, func(_ context.Context, rec *record.Recording, _ error) {
			told = append(told, len(rec.Files))
		}); err != nil || !slices.Equal(told, []int{1, 1, 0, 1}) {
			t.Errorf("%v, %v", told, err)
		}
	})
	starts := slices.DeleteFunc(f.history(), func(s string) bool { return !strings.HasPrefix(s, "start ") })
	if len(starts) != 1 {
		t.Errorf("starts are %q, want one", starts)
	}
	f.untouched(t)
}

// A program that ends while it is traced ends the trace, which is kept: also without any of the pieces of its time.
// So does the user.
func TestTraceEndsWithItsProgram(t *testing.T) {
	for name, exits := range map[string]bool{"its program": true, "the user": false} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				began := time.Now()
				time.AfterFunc(90*time.Second, func() {
					if exits {
						f.system.All()[1].Exit(7)
					} else {
						cancel()
					}
				})
				rec, err := f.record(ctx, record.Options{Target: app(), Snapshots: 3, Every: time.Minute, Evidence: collect.Trace})
				if len(rec.Files) != 1 || time.Since(began) != 90*time.Second || errors.Is(err, record.ErrInterrupted) == exits {
					t.Errorf("%q after %s, %v", rec.Files, time.Since(began), err)
				}
				const says = "app.exe ended with exit code 7; the trace ends with it"
				known := rec.Process.ExitCode != nil && *rec.Process.ExitCode == 7
				if exits && err != nil || known != exits || slices.Contains(rec.Notes, says) != exits ||
					strings.Contains(f.said(), says+"\n") != exits {
					t.Errorf("exit code %v, notes %q, %v; says\n%s", rec.Process.ExitCode, rec.Notes, err, f.said())
				}
				cancel()
			})
			f.untouched(t)
		})
	}
}

// A watch that is stopped in a snapshot restores the settings at once: a dump takes long, and a console that is closed
// leaves five seconds.
func TestWatchIsStoppedInASnapshot(t *testing.T) {
	f := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		left := "no snapshot was taken"
		f.taken = func(int) {
			cancel()
			synctest.Wait()
			left = f.registry.String()
		}
		time.AfterFunc(time.Hour, func() { f.system.Add(target.Info{Image: "app.exe"}) })
		r := f.recorder(record.Options{Target: record.Target{Image: "app.exe"}, Every: time.Hour, Watch: true})
		plan, err := r.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Watch(ctx, plan, func(context.Context, *record.Recording, error) {}); err != nil || left != "" {
			t.Errorf("behind the snapshot there are %q, %v", left, err)
		}
	})
	f.untouched(t)
}

// A watch goes on where a run cannot even begin, as its folder cannot be made: it tells so without a recording.
func TestWatchWithoutAFolder(t *testing.T) {
	f := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(90*time.Second, cancel)
		r := f.recorder(record.Options{Target: record.Target{Image: "app.exe"}, Every: time.Hour, Watch: true})
		plan, err := r.Plan()
		if err != nil {
			t.Fatal(err)
		}
		r.Options.Dir = f.program() // a file
		told := 0
		if err := r.Watch(ctx, plan, func(_ context.Context, rec *record.Recording, failed error) {
			if told++; rec != nil || failed == nil {
				t.Errorf("told is %+v, %v", rec, failed)
			}
		}); err != nil || told != 2 {
			t.Errorf("told %d times, %v", told, err)
		}
	})
	f.untouched(t)
}

// The note of a program that ends early says of how many snapshots, where there is a number.
func TestNoteOfAnEarlyEnd(t *testing.T) {
	for snapshots, want := range map[int]string{0: "before snapshot 2", 1: "before snapshot 1 of 1", 2: "before snapshot 2 of 2"} {
		f := newFake(t)
		synctest.Test(t, func(t *testing.T) {
			after := 90 * time.Second
			if snapshots == 1 {
				after = 30 * time.Second
			}
			time.AfterFunc(after, func() { f.system.All()[1].Exit(3) })
			rec, err := f.record(t.Context(), record.Options{Target: app(), Snapshots: snapshots, Every: time.Minute})
			note := "app.exe ended with exit code 3 " + want
			if !slices.Contains(rec.Notes, note) || (err == nil) != (len(rec.Files) > 0) ||
				strings.Contains(f.said(), note+"; 1 snapshot kept\n") != (err == nil) {
				t.Errorf("%d snapshots: notes %q, %v; want %q\n%s", snapshots, rec.Notes, err, note, f.said())
			}
		})
		f.untouched(t)
	}
}
