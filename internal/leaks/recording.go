package leaks

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"heapdrift/ingest/quantity"
	"heapdrift/ingest/sorting"
)

// A RecordingState is what heapdrift record or watch reports about a run that it pushes: the part of recording.json
// that says what is changed on the machine.
type RecordingState struct {
	Host    string `json:"host"`  // name of the machine
	State   string `json:"state"` // "running", "ended", "interrupted" or "failed"
	Process struct {
		Image string `json:"image"`
		PID   uint32 `json:"pid"`
	} `json:"process"`
	Began time.Time `json:"began"`
	// Watch says that snapshots go on without an end. EveryNS is the time between two of them in ns; 0 where they
	// follow the work.
	Watch    bool  `json:"watch"`
	EveryNS  int64 `json:"every_ns"`
	Settings struct {
		Changed []struct {
			Name string `json:"name"`
		} `json:"changed"`
		// Set is when they were changed; nil where nothing is, and where an older client does not say.
		Set      *time.Time `json:"set_at,omitempty"`
		Restored *time.Time `json:"restored,omitempty"`
		// RestoreKey is the SHA-256 of a key, in hexadecimal digits. Who has the key may say that the settings are restored.
		RestoreKey string `json:"restore_key,omitempty"`
	} `json:"settings"`
}

// The States of a recording that warnings go by: one under way, and one that its user has ended.
const (
	stateRunning     = "running"
	stateInterrupted = "interrupted"
)

// Limits of a RecordingState.
const (
	maxRecordingName = 256 // bytes of host and image
	maxSettings      = 16
)

// isDigestOfKey reports whether a text is what a RestoreKey looks like: nothing, or 64 digits.
func isDigestOfKey(key string) bool {
	return key == "" || len(key) == 64 && strings.Trim(key, "0123456789abcdef") == ""
}

// Check refuses values that no recording reports.
func (r *RecordingState) Check() error {
	for _, f := range []struct{ field, value string }{{"host", r.Host}, {"process.image", r.Process.Image}} {
		if f.value == "" || len(f.value) > maxRecordingName || !IsSingleLine(f.value) {
			return &FieldError{Field: f.field,
				Message: fmt.Sprintf("%q must be one line of at most %d bytes", f.value, maxRecordingName)}
		}
	}
	if strings.ContainsFunc(r.Process.Image, IsUnsafeInCommand) {
		return &FieldError{Field: "process.image", Message: fmt.Sprintf("%q is no name of a program", r.Process.Image)}
	}
	if r.Began.IsZero() || r.EveryNS < 0 || len(r.Settings.Changed) > maxSettings {
		return &FieldError{Field: "recording", Message: "began, every_ns or settings are none of a recording"}
	}
	if !isDigestOfKey(r.Settings.RestoreKey) {
		return &FieldError{Field: "settings.restore_key", Message: "restore_key is no SHA-256 in hexadecimal digits"}
	}
	return nil
}

// IsUnsafeInCommand reports whether a character has a meaning in a shell, or does not belong in a name. Names with such
// characters do not stand in commands that people copy. PowerShell takes typographic quotes for quotes.
func IsUnsafeInCommand(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" -_.+", r)
}

// SettingsOn reports whether settings of Windows are still changed.
func (r *RecordingState) SettingsOn() bool {
	return len(r.Settings.Changed) > 0 && r.Settings.Restored == nil
}

// since is when the settings were changed: a watch changes them once, for all of its recordings.
func (r *RecordingState) since() time.Time {
	if r.Settings.Set != nil {
		return *r.Settings.Set
	}
	return r.Began
}

// A StoredRecording is the state of a run's recording, and when the server was told it.
type StoredRecording struct {
	RunID           int64
	Build, Scenario string
	RecordingState
	ReportedAt time.Time // by the server's clock
}

// A RecordingWarningKind says what is wrong with a recording.
type RecordingWarningKind string

// The kinds of warnings.
const (
	RecordingSettingsOn RecordingWarningKind = "settings-on"
	RecordingSilent     RecordingWarningKind = "watch-silent"
)

// A RecordingWarning is a recording that somebody must look after.
type RecordingWarning struct {
	Kind     RecordingWarningKind `json:"kind"`
	RunID    int64                `json:"run"`
	Host     string               `json:"host"`
	Process  string               `json:"process"`
	Since    time.Time            `json:"since"` // when the settings were changed, or the watch was last heard of
	Sentence string               `json:"sentence"`
	Do       string               `json:"do"` // command that restores the settings, or goes on recording
}

// missedIntervals is how many snapshots of a watch may fail to come before it is said to be silent.
const missedIntervals = 2

// RecordingWarnings lists the recordings of a project whose settings are on, and the watches that no longer report. The
// newest recording of a program on a host counts: its settings are one for all recordings. server and project go into
// the commands.
func RecordingWarnings(list []StoredRecording, server, project string, now time.Time) []RecordingWarning {
	flags := " --push " + server + ` --project "` + project + `"` // names hold no quotes
	newest := map[string]*StoredRecording{}
	for i := range list {
		r := &list[i]
		key := strings.ToLower(r.Host) + "\x00" + strings.ToLower(r.Process.Image)
		if old := newest[key]; old == nil || r.ReportedAt.After(old.ReportedAt) {
			newest[key] = r
		}
	}
	warnings := []RecordingWarning{}
	for _, r := range newest {
		warnings = append(warnings, r.warnings(flags, now)...)
	}
	sorting.Stable(warnings, func(a, b RecordingWarning) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Process, b.Process), cmp.Compare(a.Kind, b.Kind))
	})
	return warnings
}

// warnings are those of one recording.
func (r *StoredRecording) warnings(flags string, now time.Time) (list []RecordingWarning) {
	add := func(kind RecordingWarningKind, since time.Time, sentence, do string) {
		list = append(list, RecordingWarning{Kind: kind, RunID: r.RunID, Host: r.Host, Process: r.Process.Image,
			Since: since, Sentence: sentence, Do: do})
	}
	silent := r.silent(now)
	if r.SettingsOn() && (silent || !r.expected(now)) {
		add(RecordingSettingsOn, r.since(), fmt.Sprintf("Stack recording of %s is on on %s for %s.", r.Process.Image, r.Host,
			ageOf(r.since(), now)), "heapdrift record --undo"+flags)
	}
	if silent {
		text := fmt.Sprintf("The watch of %s on %s sent nothing for %s; it takes a snapshot every %s.",
			r.Process.Image, r.Host, ageOf(r.ReportedAt, now), quantity.ShortDuration(time.Duration(r.EveryNS)))
		add(RecordingSilent, r.ReportedAt, text,
			`heapdrift watch --image "`+r.Process.Image+`" --every `+time.Duration(r.EveryNS).String()+
				` --build "`+r.Build+`" --scenario "`+r.Scenario+`"`+flags)
	}
	return list
}

// idleWatch is how long a watch may wait for the next start of its program before its settings are warned of; at least
// missedIntervals of its snapshots.
const idleWatch = 24 * time.Hour

// expected reports whether a watch is under way that keeps settings on: between two runs of its program it waits for
// the next start.
func (r *StoredRecording) expected(now time.Time) bool {
	switch {
	case !r.Watch || r.State == stateInterrupted:
		return false
	case r.State == stateRunning:
		return true
	}
	return now.Sub(r.ReportedAt) <= max(idleWatch, missedIntervals*time.Duration(r.EveryNS))
}

// silent reports whether a watch by time missed its snapshots.
func (r *StoredRecording) silent(now time.Time) bool {
	return r.Watch && r.State == stateRunning && r.EveryNS > 0 &&
		now.Sub(r.ReportedAt) > missedIntervals*time.Duration(r.EveryNS)
}

func ageOf(since, now time.Time) string {
	return quantity.ShortDuration(max(now.Sub(since), 0).Round(time.Second))
}

// Sentence says, for the page of the run, whether settings are on, and for how long.
func (r *StoredRecording) Sentence(now time.Time) string {
	switch {
	case len(r.Settings.Changed) == 0:
		return ""
	case r.SettingsOn():
		return fmt.Sprintf("stack recording is on on %s for %s", r.Host, ageOf(r.since(), now))
	}
	return fmt.Sprintf("settings of %s restored after %s", r.Host, ageOf(r.since(), *r.Settings.Restored))
}
