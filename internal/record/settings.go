package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"heapdrift/internal/record/flags"
	"heapdrift/internal/record/target"
)

// settings are what a recording has changed on the machine; nil where it has changed nothing.
type settings struct {
	machine *Machine
	undo    *flags.Undo

	once  sync.Once
	notes []string // of the restoration
	err   error
}

// set makes the changes of a plan. The undo file comes first: whatever happens then, it says what was there before.
func (r *Recorder) set(ctx context.Context, p *Plan, rec *Recording) (*settings, error) {
	if len(p.Changes) == 0 {
		return nil, nil
	}
	m := &r.Machine
	if err := r.refuseSecond(p.Image); err != nil {
		return nil, err
	}
	if err := m.MakeFolder(m.UndoFolder); err != nil {
		return nil, &FlagsError{Err: err}
	}
	u, err := flags.New(m.Registry, p.Image, p.Changes)
	if err != nil {
		return nil, &FlagsError{Err: err}
	}
	if own, err := m.Processes.Open(u.RecorderPID); err == nil {
		u.RecorderStarted = own.Info().Started
		own.Close()
	}
	u.Task, u.Server = taskName(u), r.Options.Server
	if err := u.Write(m.UndoFolder); err != nil {
		return nil, &FlagsError{Err: err}
	}
	s := &settings{machine: m, undo: u}
	// The task comes before the change as well, but a machine without a scheduler can be recorded.
	if err := s.schedule(ctx, time.Now().Add(r.Options.UndoAfter)); err != nil {
		u.Task = ""
		r.sayError("no scheduled task will restore the settings if this program is killed", err)
		rec.Settings.Notes = append(rec.Settings.Notes, "no scheduled task: "+err.Error())
	}
	if err := u.Apply(m.Registry); err != nil {
		return nil, &FlagsError{Err: err, StillChanged: s.dropAfterFailure(ctx)}
	}
	rec.Settings.Changed, rec.Settings.Undo, rec.Settings.Task, rec.Settings.SetAt = u.Changes, u.Path(), u.Task, &u.SetAt
	if u.Server != nil {
		rec.Settings.RestoreKey = u.Server.Digest()
	}
	return s, nil
}

// dropAfterFailure removes undo file and task where nothing is changed after a failed Apply; else it says what is.
func (s *settings) dropAfterFailure(ctx context.Context) (left []string) {
	if left = s.left(); len(left) > 0 {
		return left
	}
	s.unschedule(ctx)
	_ = s.undo.Remove() // without effect where it stays: all is as before
	return nil
}

// refuseSecond refuses to change the settings of a program that another recording has changed: the second undo file
// would hold the first recording's values.
func (r *Recorder) refuseSecond(image string) error {
	undos, err := flags.List(r.Machine.UndoFolder)
	if err != nil {
		return &FlagsError{Err: err}
	}
	i := slices.IndexFunc(undos, func(u *flags.Undo) bool { return target.SameImage(u.Image, image) })
	if i < 0 {
		return nil
	}
	u := undos[i]
	if r.Machine.alive(u) {
		return &FlagsError{Err: fmt.Errorf("PID %d records %s already", u.RecorderPID, u.Image)}
	}
	return &FlagsError{Err: fmt.Errorf("a recording of %s left its settings changed; run heapdrift record --undo first", u.Image),
		StillChanged: describe(u)}
}

// alive reports whether the recorder of an undo file still runs, and restores the settings itself.
func (m *Machine) alive(u *flags.Undo) bool {
	running, err := m.Processes.Open(u.RecorderPID)
	if err != nil {
		return false
	}
	defer running.Close()
	select {
	case <-running.Exited():
		return false
	default:
	}
	return running.Info().Started.Equal(u.RecorderStarted) // else the pid was given to another process
}

// restore makes the settings what they were, and removes undo file and task; once, whoever is first. It does not end
// with ctx: this is what has to happen after Ctrl C.
func (s *settings) restore(ctx context.Context) (notes []string, err error) {
	s.once.Do(func() { s.notes, s.err = s.restoreNow(ctx) })
	return s.notes, s.err
}

func (s *settings) restoreNow(ctx context.Context) (notes []string, err error) {
	notes, err = s.undo.Restore(s.machine.Registry)
	if err != nil {
		return notes, &FlagsError{Err: fmt.Errorf("%w; the undo file %s stays", err, s.undo.Path()), StillChanged: s.left()}
	}
	if s.undo.Server != nil { // its task stays as well, and tries to tell the server
		now := time.Now()
		s.undo.RestoredAt = &now
		if err := s.undo.Write(s.machine.UndoFolder); err != nil {
			return notes, &FlagsError{Err: fmt.Errorf("the settings are restored, and their server may not hear of it: %w", err)}
		}
		return notes, nil
	}
	if err := s.drop(ctx); err != nil {
		return notes, &FlagsError{Err: fmt.Errorf("the settings are restored, and the undo file stays: %w", err)}
	}
	return notes, nil
}

// drop removes undo file and task.
func (s *settings) drop(ctx context.Context) error {
	if err := s.undo.Remove(); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), taskTime)
	defer cancel()
	s.unschedule(ctx)
	return nil
}

// left lists the values that are not yet what they were before.
func (s *settings) left() (left []string) {
	for i := range s.undo.Changes {
		c := &s.undo.Changes[i]
		now, err := s.machine.Registry.Get(s.undo.Image, c.Name)
		switch {
		case err != nil:
			left = append(left, fmt.Sprintf("%s of %s cannot be read: %v; before it was %s", c.Name, s.undo.Image, err, c.Before))
		case now.String() != c.Before.String():
			left = append(left, fmt.Sprintf("%s of %s is %s; before it was %s", c.Name, s.undo.Image, now, c.Before))
		}
	}
	return left
}

func describe(u *flags.Undo) (lines []string) {
	for i := range u.Changes {
		lines = append(lines, fmt.Sprintf("%s %s", u.Image, u.Changes[i].String()))
	}
	return lines
}

// Status lists the settings that recordings have changed on this machine and not restored, in sentences.
func (m *Machine) Status() ([]string, error) {
	undos, err := flags.List(m.UndoFolder)
	var lines []string
	for _, u := range undos {
		who := fmt.Sprintf("by PID %d, which has ended: heapdrift record --undo restores it", u.RecorderPID)
		if m.alive(u) {
			who = fmt.Sprintf("by PID %d, which still records and restores it", u.RecorderPID)
		}
		for _, line := range describe(u) {
			lines = append(lines, fmt.Sprintf("%s, since %s %s", line, u.SetAt.Local().Format(time.DateTime), who))
		}
	}
	return lines, err
}

// Undo restores the settings of recordings that no longer run; with force, of those that run, too. It returns what it
// restored, in sentences. The error says what is left.
func (m *Machine) Undo(ctx context.Context, force bool) (done []string, err error) {
	undos, err := flags.List(m.UndoFolder)
	failure := &FlagsError{Err: err}
	for _, u := range undos {
		if !force && m.alive(u) {
			failure.Err = fmt.Errorf("PID %d still records %s and restores the settings at its end; "+
				"end it, or add --force", u.RecorderPID, u.Image)
			failure.StillChanged = append(failure.StillChanged, describe(u)...)
			continue
		}
		s := settings{machine: m, undo: u}
		notes, err := s.restore(ctx)
		done = append(done, notes...)
		if err != nil {
			failure.Err = err
			failure.StillChanged = append(failure.StillChanged, s.left()...)
			continue
		}
		for i := range u.Changes {
			done = append(done, fmt.Sprintf("%s of %s is %s again", u.Changes[i].Name, u.Image, u.Changes[i].Before))
		}
	}
	if failure.Err != nil {
		return done, failure
	}
	return done, nil
}
