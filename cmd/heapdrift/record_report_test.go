package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/record"
	"heapdrift/internal/record/flags"
)

// A recording that is pushed tells the server which settings it has changed; the run's page says so, until
// "record --undo --push" tells that they are restored.
func TestRecordingIsReported(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	server := startServer(t)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	rec := &record.Recording{Dir: t.TempDir(), Files: []string{writeLog(t, "one.txt", 10, 50), writeLog(t, "two.txt", 20, 60)}}
	rec.Host, rec.State, rec.Process.Image, rec.Began = host, record.StateFailed, "shop.exe", time.Now().Add(-time.Hour)
	rec.Settings.Changed = []flags.Change{{Name: "GlobalFlag"}}
	var f recordFlags
	if _, err := parse(f.set("record"), []string{"--push", server, "--project", "shop", "--build", "1"}, streams{}); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code, err := f.conclude(t.Context(), rec, streams{in: strings.NewReader(""), out: &out, err: &errs})
	if err != nil || code != exitInconclusive || strings.Contains(errs.String(), "was not told") {
		t.Fatalf("%d, %v\n%s\n%s", code, err, &out, &errs)
	}
	lines := strings.Fields(out.String())
	page := lines[len(lines)-1]
	if text := body(t, page); !strings.Contains(text, "stack recording is on on "+host) {
		t.Error("the run's page does not say that stack recording is on")
	}
	if text := body(t, server+"/projects/shop"); !strings.Contains(text, "heapdrift record --undo --push "+server) {
		t.Error("the project's page does not say how to clean up")
	}
	if err := f.reportUndo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := body(t, page); !strings.Contains(text, "settings of "+host+" restored") {
		t.Error("the run's page does not say that the settings are restored")
	}
	if text := body(t, server+"/projects/shop"); strings.Contains(text, "record --undo") {
		t.Error("the project's page still warns")
	}
	f.push.project = ""
	t.Setenv("HEAPDRIFT_PROJECT", "")
	if err := f.reportUndo(t.Context()); err == nil || !strings.Contains(err.Error(), "--project") {
		t.Errorf("without a project: %v", err)
	}
}
