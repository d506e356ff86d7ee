package record_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"heapdrift/internal/record"
	"heapdrift/internal/record/flags"
	"heapdrift/internal/record/target"
)

// watchWithServer watches a program for hours, with a server that has to hear of the settings.
func watchWithServer(t *testing.T, f *fake) *record.Machine {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Hour, func() { f.system.Add(target.Info{Image: "app.exe"}) })
	time.AfterFunc(10*time.Hour, cancel)
	r := f.recorder(record.Options{Target: record.Target{Image: "app.exe"}, Every: time.Hour, Watch: true,
		Server: &flags.Server{URL: "http://h", Project: "shop", Key: flags.NewKey()}})
	set := time.Now()
	plan, err := r.Plan()
	if err != nil {
		t.Fatal(err)
	}
	err = r.Watch(ctx, plan, func(_ context.Context, rec *record.Recording, _ error) {
		s := &rec.Settings
		if s.SetAt == nil || !s.SetAt.Equal(set) || s.RestoreKey != r.Options.Server.Digest() {
			t.Errorf("settings of the recording: %+v", s)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return &r.Machine
}

// A server that cannot be reached hears later that settings are restored: undo file and task stay until then, at most
// for a week. They count as restored meanwhile.
func TestServerIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		away time.Duration
		told bool
		left int // undo files after this time
	}{
		"at once": {0, true, 0}, "after a week": {7 * 24 * time.Hour, true, 0}, "not within a week": {7*24*time.Hour + 1, false, 0},
		"not yet": {7 * 24 * time.Hour, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { serverIsTold(t, test.away, test.told, test.left) })
		})
	}
}

func serverIsTold(t *testing.T, away time.Duration, back bool, left int) {
	f := newFake(t)
	m := watchWithServer(t, f)
	restored := time.Now()
	heard := errors.New("no route to host")
	m.Tell = func(_ context.Context, u *flags.Undo) error {
		if !u.RestoredAt.Equal(restored) || u.Server.Project != "shop" || u.Server.Key == "" {
			t.Errorf("told of %+v", u)
		}
		return heard
	}
	if got := f.registry.String(); got != "" {
		t.Errorf("settings left:\n%s", got)
	}
	done, err := m.TellServers(t.Context())
	if !errors.Is(err, record.ErrNotTold) || len(done) > 0 || !strings.Contains(err.Error(), "every hour") {
		t.Errorf("a server that is away: %q, %v", done, err)
	}
	if lines, err := m.Status(); len(lines) > 0 || err != nil {
		t.Errorf("Status: %q, %v", lines, err)
	}
	if _, err := f.recorder(record.Options{Target: app(), Snapshots: 1}).Plan(); err != nil {
		t.Errorf("the next recording: %v", err)
	}
	if done, err := m.Undo(t.Context(), false); len(done) > 0 || err != nil {
		t.Errorf("a second undo: %q, %v", done, err)
	}
	if slices.Contains(f.history(), "schtasks.exe /delete") {
		t.Error("the task is removed before the server has heard")
	}
	<-time.After(away)
	if back {
		heard = nil
	}
	done, err = m.TellServers(t.Context())
	if (err == nil) != back || (len(done) == 1) != back {
		t.Errorf("after %s: %q, %v", away, done, err)
	}
	if undos, _ := filepath.Glob(filepath.Join(f.undoFolder(), "*.json")); len(undos) != left {
		t.Errorf("%d undo files are left, want %d", len(undos), left)
	}
	if left == 0 {
		f.untouched(t)
		if h := f.history(); h[len(h)-1] != "schtasks.exe /delete" {
			t.Errorf("the task stays: %q", h)
		}
	}
}

// The task of a recorder that was killed restores the settings, and tells the server in the same call.
func TestServerIsToldAfterKill(t *testing.T) {
	f := newFake(t)
	killed(t, f, "app.exe", 9)
	undos, err := flags.List(f.undoFolder())
	if err != nil || len(undos) != 1 {
		t.Fatal(undos, err)
	}
	undos[0].Server = &flags.Server{URL: "http://h", Project: "shop", Key: flags.NewKey()}
	if err := undos[0].Write(f.undoFolder()); err != nil {
		t.Fatal(err)
	}
	m := &f.recorder(record.Options{}).Machine
	if _, err := m.Undo(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if _, err := m.TellServers(t.Context()); !errors.Is(err, record.ErrNotTold) || !strings.Contains(err.Error(), "names no server") {
		t.Errorf("without a way to tell: %v", err)
	}
	m.Tell = func(context.Context, *flags.Undo) error { return nil }
	if done, err := m.TellServers(t.Context()); err != nil || len(done) != 1 || done[0] != "http://h was told that the settings of app.exe are as before" {
		t.Errorf("%q, %v", done, err)
	}
	f.untouched(t)
	if _, err := os.Stat(undos[0].Path()); err == nil {
		t.Error("the undo file stays")
	}
}
