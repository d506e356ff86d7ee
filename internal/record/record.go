// Package record takes evidence of a running program on Windows, from the settings that it needs to the files:
//
//	plan, undo file, settings, start of the program, snapshots or a trace, settings as before, recording.json
//
// Whatever happens in between, the settings are restored. If the recorder itself is killed, "heapdrift record --undo"
// or a scheduled task does it. The package asks Windows through interfaces, so that its rules are tested everywhere.
package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"heapdrift/internal/record/collect"
	"heapdrift/internal/record/flags"
	"heapdrift/internal/record/target"
)

// A Machine is the access of a recording to Windows.
type Machine struct {
	Processes target.System
	Registry  flags.Registry
	Tools     collect.Tools
	// UndoFolder is where undo files are; MakeFolder makes it, writable for administrators only.
	UndoFolder string
	MakeFolder func(dir string) error
	// Program is the path of this program, which the scheduled task runs.
	Program string
	// Tell tells the server of an undo file that its settings are restored; nil for nobody.
	Tell func(ctx context.Context, u *flags.Undo) error
}

// A Target is what is recorded. Exactly one field is set.
type Target struct {
	Command []string // a program to start, with its arguments
	PID     uint32   // a process that runs
	Image   string   // file name of a program that runs, or is waited for
	Service string   // name of a service
	Pool    string   // an application pool of IIS
}

func (t *Target) count() (n int) {
	for _, set := range []bool{len(t.Command) > 0, t.PID != 0, t.Image != "", t.Service != "", t.Pool != ""} {
		if set {
			n++
		}
	}
	return n
}

// Options say what to record, and how.
type Options struct {
	Target    Target
	Evidence  string        // a kind of package collect
	Snapshots int           // how many; 0 for no end
	Every     time.Duration // time between two snapshots
	At        *DayTime      // a snapshot each day at this time; Every is a Day then; nil for none
	// PerWork takes a snapshot at each mark: Enter, or heapdrift mark.
	PerWork bool
	// Event is a named event of Windows: each time that it is set is one mark more. It needs PerWork; "" for none.
	Event string
	// Counter is a file or URL that has the work done so far, and Step the work between two snapshots.
	Counter string
	Step    float64
	Unit    string // of the work
	Dir     string // folder for the files; it is made
	NoFlags bool   // change no settings
	Keep    bool   // leave a program that the recording has started running
	// DatabaseMB is the least size of the stack trace database; 0 leaves the size.
	DatabaseMB uint32
	UndoAfter  time.Duration // after which time the scheduled task restores the settings
	Labels     Labels

	Watch bool // record every run of the program: the settings stay for its next start
	// Server is told of changed settings while they are changed, and so of their end; nil for none.
	Server *flags.Server

	prepared bool // the settings are set already, by a watch
	// ofWatch are the settings that a watch has changed for its recordings; nil outside of one.
	ofWatch *Settings
}

// Check says what is wrong with the options, as the command line names them.
func (o *Options) Check() error {
	switch n := o.Target.count(); {
	case n == 0:
		return errors.New("name what to record: --pid, --image, --service, --iis-pool, or -- and a program with its arguments")
	case n > 1:
		return errors.New("choose one of --pid, --image, --service, --iis-pool and a program behind --")
	case o.Snapshots < 0:
		return errors.New("--snapshots: must not be negative")
	case o.PerWork && o.Counter != "":
		return errors.New("--per-work and --counter exclude each other")
	case o.Event != "" && !validEvent(o.Event):
		return fmt.Errorf(`--mark-event: %q is not the name of an event, such as Global\app-done`, o.Event)
	case o.At != nil && o.byWork():
		return errors.New("--at excludes --per-work and --counter")
	case o.At != nil && (o.Every != Day || o.Evidence == collect.Trace):
		return errors.New("--at takes snapshots once a day: leave --every and --evidence trace out")
	case o.Counter != "" && o.Step <= 0:
		return errors.New("--counter needs --step: the work between two snapshots")
	case !o.byWork() && o.Every <= 0:
		return errors.New("--every: must be more than 0")
	case o.byWork() && o.Evidence == collect.Trace:
		return errors.New("a trace has no snapshots: leave --per-work and --counter out")
	case o.Evidence == collect.Trace && o.Snapshots == 0:
		return errors.New("a trace needs an end: --snapshots and --every")
	}
	if image := o.Target.Image; image != "" && flags.ImageName(image) != image {
		return fmt.Errorf("--image: %q is not the name of a program's file, such as app.exe", image)
	}
	return nil
}

// maxEvent is the longest name of an event, in bytes: MAX_PATH of Windows.
const maxEvent = 260

// validEvent reports whether an event can have a name: backslashes are only behind Local and Global.
func validEvent(name string) bool {
	for _, space := range []string{`Local\`, `Global\`} {
		name = strings.TrimPrefix(name, space)
	}
	return name != "" && len(name) < maxEvent && !strings.ContainsAny(name, "\\\x00")
}

// byWork reports whether snapshots follow the work, and not the clock.
func (o *Options) byWork() bool { return o.PerWork || o.Counter != "" }

// length is how long snapshots by time take; 0 where that is not known.
func (o *Options) length() time.Duration {
	if o.byWork() {
		return 0
	}
	return time.Duration(o.Snapshots) * o.Every
}

// A FlagsError is a failure to set or restore the settings of Windows.
type FlagsError struct {
	Err          error
	StillChanged []string // what is still changed, in sentences
	// Elevate says that an administrator could run the same command line.
	Elevate bool
}

func (e *FlagsError) Error() string {
	text := e.Err.Error()
	for _, left := range e.StillChanged {
		text += "\n  still changed: " + left
	}
	return text
}

// Unwrap returns the cause.
func (e *FlagsError) Unwrap() error { return e.Err }

// A Recording is one run of a program, with its evidence.
type Recording struct {
	Sidecar
	// Dir is the folder with the files.
	Dir string
	// Files are the paths of the evidence, in the order in which it was taken.
	Files []string
}

// A Recorder records.
type Recorder struct {
	Machine Machine
	Options Options
	Version string // of this program
	// Out gets the plan and the progress.
	Out io.Writer
	// In is read for the Enters by which the user marks work; nil for none.
	In io.Reader
	// Taken is called after each snapshot; nil for no call.
	Taken func(ctx context.Context, r *Recording)
}

func (r *Recorder) say(format string, args ...any) { fmt.Fprintf(r.Out, format+"\n", args...) }

// sayError prints an error beside the way of the recording.
func (r *Recorder) sayError(what string, err error) {
	r.say("%s: %s", what, strings.ReplaceAll(err.Error(), "\n", "; "))
}
