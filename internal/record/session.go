package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"heapdrift/internal/record/target"
)

// ErrInterrupted is the error of a recording that the user stopped. What was taken is kept, and the settings are
// restored.
var ErrInterrupted = errors.New("record: interrupted")

// session is a recording under way.
type session struct {
	*Recorder
	plan     *Plan
	rec      *Recording
	settings *settings
	running  target.Running
	started  bool // by this recording
	marks    *markReader
	event    <-chan struct{} // nil for none
}

// Run records by a plan. Beside an error it returns what was taken.
func (r *Recorder) Run(ctx context.Context, p *Plan) (*Recording, error) {
	s := &session{Recorder: r, plan: p, running: p.Running}
	rec, err := r.newRecording(p)
	if err != nil {
		return nil, err
	}
	s.rec = rec
	if r.Options.PerWork {
		if s.marks, err = newMarks(rec.Dir); err != nil {
			return rec, fmt.Errorf("record: %w", err)
		}
		defer announce(rec.Dir)()
	}
	if r.Options.Event != "" {
		listening, stop := context.WithCancel(ctx)
		defer stop()
		if s.event, err = r.Machine.Processes.Event(listening, r.Options.Event); err != nil {
			return rec, errors.Join(fmt.Errorf("record: %w", err), s.finish(err))
		}
	}
	err = s.run(ctx)
	return rec, errors.Join(err, s.finish(err))
}

// newRecording makes the folder with its sidecar.
func (r *Recorder) newRecording(p *Plan) (*Recording, error) {
	dir, err := filepath.Abs(r.Options.Dir)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	if old, err := ReadSidecar(dir); err == nil {
		return nil, fmt.Errorf("record: %s holds a recording of %s already: choose another folder by -o", dir, old.Process.Image)
	}
	host, _ := os.Hostname() // informs people only
	rec := &Recording{Dir: dir, Sidecar: Sidecar{Schema: sidecarSchema, State: StateRunning, Heapdrift: r.Version,
		RecorderPID: uint32(os.Getpid()), Host: host, OS: r.Machine.Processes.Describe(),
		Process: ProcessInfo{Image: p.Image}, Labels: r.Options.Labels, Evidence: p.Collector.Kind, Began: time.Now(),
		WorkUnit: r.Options.Unit, Snapshots: []Snapshot{}, Watch: r.Options.prepared}}
	if !r.Options.byWork() {
		rec.EveryNS = int64(r.Options.Every)
	}
	if r.Options.ofWatch != nil {
		rec.Settings = *r.Options.ofWatch
	}
	return rec, rec.save()
}

// run sets, starts, takes and restores.
func (s *session) run(ctx context.Context) (err error) {
	if s.settings, err = s.set(ctx, s.plan, s.rec); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.restore(ctx)) }()
	if set := s.settings; set != nil {
		// At once: a dump cannot be interrupted, and a closed console leaves five seconds.
		defer context.AfterFunc(ctx, func() { _, _ = set.restore(ctx) })() // s.restore has the result
	}
	if err := s.rec.save(); err != nil {
		return err
	}
	trace := s.plan.Collector.Take == nil
	if trace {
		if err := s.plan.Collector.Begin(ctx, s.rec.Dir, pidOf(s.running)); err != nil {
			return err
		}
	}
	err = s.follow(ctx, trace)
	if ctx.Err() != nil { // before the trace, which takes its time
		err = errors.Join(err, s.restore(ctx))
	}
	if trace { // also after Ctrl C: without this the trace would go on, and be lost
		err = errors.Join(err, s.endTrace(context.WithoutCancel(ctx)))
	}
	return err
}

// follow starts the program and takes its evidence until the recording or the program ends.
func (s *session) follow(ctx context.Context, trace bool) error {
	if err := s.begin(ctx); err != nil {
		return interrupted(ctx, err)
	}
	s.rec.Process = processInfo(s.running.Info())
	if err := s.rec.save(); err != nil {
		return err
	}
	s.say("recording  %s, PID %d", s.rec.Process.Image, s.rec.Process.PID)
	if trace {
		return s.waitForTrace(ctx)
	}
	return s.takeAll(ctx)
}

func pidOf(running target.Running) uint32 {
	if running == nil {
		return 0
	}
	return running.Info().PID
}

// interrupted is why something ended: the user, or err.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}

// begin starts, restarts or waits for the program.
func (s *session) begin(ctx context.Context) (err error) {
	if s.running != nil {
		return nil
	}
	t, system := &s.Options.Target, s.Machine.Processes
	var pid uint32
	switch {
	case len(t.Command) > 0:
		if err := os.Setenv(DirVariable, s.rec.Dir); err != nil {
			return err
		}
		s.running, err = system.Start(t.Command, !s.Options.PerWork)
		s.started = err == nil
		return err
	case t.Image != "":
		known, err := system.Find(t.Image)
		if err != nil {
			return err
		}
		s.say("waiting    for %s: start it now", t.Image)
		s.running, err = target.WaitForStart(ctx, system, t.Image, known)
		return err
	case t.Service != "":
		pid, err = system.RestartService(ctx, t.Service)
	default:
		pid, err = target.RecyclePool(ctx, s.Machine.Tools.Run, appcmd(), t.Pool)
	}
	if err != nil {
		return err
	}
	s.running, err = system.Open(pid)
	return err
}

// appcmd is the command of IIS.
func appcmd() string {
	return filepath.Join(cmp.Or(os.Getenv("SystemRoot"), `C:\Windows`), "System32", "inetsrv", "appcmd.exe")
}

func processInfo(info target.Info) ProcessInfo {
	return ProcessInfo{Image: info.Image, Path: info.Path, PID: info.PID, Bits: info.Bits, Started: info.Started}
}

// restore restores the settings once.
func (s *session) restore(ctx context.Context) error {
	if s.settings == nil {
		return nil
	}
	set := s.settings
	s.settings = nil
	notes, err := set.restore(ctx)
	s.rec.Settings.Notes = append(s.rec.Settings.Notes, notes...)
	for _, note := range notes {
		s.say("note       %s", note)
	}
	if err != nil {
		return err
	}
	now := time.Now()
	s.rec.Settings.RestoredAt = &now
	s.say("restored   the settings of %s are as before", s.plan.Image)
	return nil
}

// finish ends the program that the recording started, and completes the sidecar.
func (s *session) finish(err error) error {
	var failures []error
	if s.running != nil {
		if s.started && !s.Options.Keep {
			failures = append(failures, s.end())
		}
		s.running.Close()
	}
	now := time.Now()
	s.rec.Ended = &now
	switch {
	case errors.Is(err, ErrInterrupted):
		s.rec.State = StateInterrupted
	case err != nil:
		s.rec.State = StateFailed
		s.rec.Notes = append(s.rec.Notes, err.Error())
	default:
		s.rec.State = StateEnded
	}
	return errors.Join(append(failures, s.rec.save())...)
}

// end ends the program that the recording has started.
func (s *session) end() error {
	select {
	case <-s.running.Exited():
		return nil
	default:
	}
	if err := s.running.Kill(); err != nil {
		return err
	}
	<-s.running.Exited()
	return nil
}
