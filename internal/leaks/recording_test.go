package leaks_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/leaks"
)

var recordingBegan = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// watched is a watch that told the server at a time after its begin; its settings are on.
func watched(host, image string, told time.Duration) leaks.StoredRecording {
	r := leaks.StoredRecording{RunID: 7, Build: "b 7", Scenario: "soak", ReportedAt: recordingBegan.Add(told)}
	r.Host, r.State, r.Process.Image, r.Began = host, "running", image, recordingBegan
	r.Watch, r.EveryNS = true, int64(time.Hour)
	r.Settings.Changed = append(r.Settings.Changed, struct {
		Name string `json:"name"`
	}{"GlobalFlag"})
	return r
}

func kindsOf(list []leaks.RecordingWarning) string {
	var kinds []string
	for _, w := range list {
		kinds = append(kinds, string(w.Kind))
	}
	return strings.Join(kinds, " ")
}

// A watch that runs may have its settings on. It is silent after two intervals; then nobody restores them either.
func TestRecordingWarningsOfAWatch(t *testing.T) {
	r := watched("PC1", "app.exe", 0)
	for since, want := range map[time.Duration]string{0: "", 2*time.Hour - 1: "", 2 * time.Hour: "", 2*time.Hour + 1: "settings-on watch-silent"} {
		if got := kindsOf(leaks.RecordingWarnings([]leaks.StoredRecording{r}, "http://h", "shop", recordingBegan.Add(since))); got != want {
			t.Errorf("after %s: %q, want %q", since, got, want)
		}
	}
	list := leaks.RecordingWarnings([]leaks.StoredRecording{r}, "http://h", "shop", recordingBegan.Add(3*time.Hour))
	if len(list) != 2 || list[0].Host != "PC1" || list[0].Process != "app.exe" || !list[0].Since.Equal(recordingBegan) ||
		list[0].Do != `heapdrift record --undo --push http://h --project "shop"` || list[0].Sentence != "Stack recording of app.exe is on on PC1 for 3 h." ||
		list[1].Do != `heapdrift watch --image "app.exe" --every 1h0m0s --build "b 7" --scenario "soak" --push http://h --project "shop"` ||
		list[1].Sentence != "The watch of app.exe on PC1 sent nothing for 3 h; it takes a snapshot every 60 min." {
		t.Errorf("%+v", list)
	}
	late := recordingBegan.Add(100 * time.Hour)
	for name, change := range map[string]struct {
		change func(*leaks.StoredRecording)
		want   string
	}{
		"by work":     {func(r *leaks.StoredRecording) { r.EveryNS = 0 }, ""},
		"interrupted": {func(r *leaks.StoredRecording) { r.State = "interrupted" }, "settings-on"},
		"its program has ended, and did not start for a day":   {func(r *leaks.StoredRecording) { r.State = "ended"; r.ReportedAt = late.Add(-24*time.Hour - 1) }, "settings-on"},
		"its program has ended, and may start":                 {func(r *leaks.StoredRecording) { r.State = "ended"; r.ReportedAt = late.Add(-24 * time.Hour) }, ""},
		"its program has ended, and a snapshot takes two days": {func(r *leaks.StoredRecording) { r.State, r.EveryNS = "failed", int64(50*time.Hour) }, ""},
		"restored":    {func(r *leaks.StoredRecording) { r.State, r.Settings.Restored = "ended", &late }, ""},
		"no settings": {func(r *leaks.StoredRecording) { r.Settings.Changed = nil }, "watch-silent"},
		"no watch":    {func(r *leaks.StoredRecording) { r.Watch = false }, "settings-on"},
	} {
		r := watched("PC1", "app.exe", 0)
		change.change(&r)
		if got := kindsOf(leaks.RecordingWarnings([]leaks.StoredRecording{r}, "http://h", "shop", late)); got != change.want {
			t.Errorf("%s: %q, want %q", name, got, change.want)
		}
	}
}

// The settings of a program on a host are one: what the newest recording says of them counts.
func TestRecordingWarningsByNewest(t *testing.T) {
	now := recordingBegan.Add(time.Hour)
	on, off, other := watched("PC1", "app.exe", 0), watched("pc1", "App.exe", time.Minute), watched("PC2", "app.exe", 0)
	on.State, off.State, other.State = "interrupted", "ended", "interrupted"
	off.Settings.Restored = &now
	list := leaks.RecordingWarnings([]leaks.StoredRecording{on, off, other}, "http://h", "shop", now)
	if len(list) != 1 || list[0].Host != "PC2" {
		t.Errorf("%+v", list)
	}
	if list = leaks.RecordingWarnings([]leaks.StoredRecording{on, other}, "http://h", "shop", now); kindsOf(list) != "settings-on settings-on" {
		t.Errorf("%+v", list)
	}
}

// The page of a run says whether settings are on.
func TestRecordingSentence(t *testing.T) {
	r := watched("PC1", "app.exe", 0)
	if got := r.Sentence(recordingBegan.Add(time.Hour)); got != "stack recording is on on PC1 for 60 min" {
		t.Error(got)
	}
	restored := recordingBegan.Add(time.Minute)
	r.Settings.Restored = &restored
	if got := r.Sentence(recordingBegan.Add(time.Hour)); got != "settings of PC1 restored after 60 s" {
		t.Error(got)
	}
	r.Settings.Changed = nil
	if got := r.Sentence(recordingBegan); got != "" {
		t.Error(got)
	}
}

// Settings are on since they were changed: a watch changes them before the run that it records has begun.
func TestSettingsOnSince(t *testing.T) {
	r := watched("PC1", "app.exe", 0)
	set := recordingBegan.Add(-9 * time.Hour)
	r.Settings.Set = &set
	now := recordingBegan.Add(3 * time.Hour)
	list := leaks.RecordingWarnings([]leaks.StoredRecording{r}, "http://h", "shop", now)
	if len(list) != 2 || !list[0].Since.Equal(set) || list[0].Sentence != "Stack recording of app.exe is on on PC1 for 12 h." {
		t.Errorf("%+v", list)
	}
	if got := r.Sentence(now); got != "stack recording is on on PC1 for 12 h" {
		t.Error(got)
	}
	r.Settings.Restored = &recordingBegan
	if got := r.Sentence(now); got != "settings of PC1 restored after 9 h" {
		t.Error(got)
	}
}

// What no recording says is refused at its field.
func TestRecordingCheck(t *testing.T) {
	for field, spoil := range map[string]func(*leaks.RecordingState){
		"":     func(*leaks.RecordingState) {},
		"host": func(r *leaks.RecordingState) { r.Host = "a\nb" }, "process.image": func(r *leaks.RecordingState) { r.Process.Image = strings.Repeat("a", 257) },
		"recording":            func(r *leaks.RecordingState) { r.EveryNS = -1 },
		"settings.restore_key": func(r *leaks.RecordingState) { r.Settings.RestoreKey = strings.Repeat("a", 63) },
	} {
		r := watched("PC1", "app.exe", 0).RecordingState
		spoil(&r)
		err := r.Check()
		var wrong *leaks.FieldError
		if field == "" && err != nil || field != "" && (!errors.As(err, &wrong) || wrong.Field != field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// The name of a program stands in commands that people copy: what cmd, PowerShell or sh read as code is refused.
func TestRecordedProgram(t *testing.T) {
	for image, want := range map[string]bool{
		"app.exe": true, "Größe 2-a_b+c.exe": true, "程序.exe": true, strings.Repeat("a", 256): true, strings.Repeat("a", 257): false, "": false,
		`a" & calc & "`: false, "a\u201d ; calc ; \u201c.exe": false, "a`b": false, "$a": false, "%a%": false, "a;b": false, "a\nb": false,
	} {
		r := watched("PC1", image, 0).RecordingState
		if err := r.Check(); (err == nil) != want {
			t.Errorf("%q: %v", image, err)
		}
	}
}
