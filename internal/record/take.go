package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/record/collect"
)

// takeAll takes snapshots as they are due.
func (s *session) takeAll(ctx context.Context) error {
	timing, stop := context.WithCancel(ctx)
	defer stop()
	events := s.timing(timing, s.marks, s.event)
	for n := 1; s.Options.Snapshots == 0 || n <= s.Options.Snapshots; n++ {
		select {
		case <-ctx.Done():
			return ErrInterrupted
		case <-s.running.Exited():
			return s.exited(n)
		case d := <-events:
			if d.err != nil {
				return d.err
			}
			if err := s.take(ctx, n, d); err != nil {
				return s.failed(ctx, n, err)
			}
		}
	}
	return nil
}

// failed is why a snapshot failed: the user, the end of the process, or err.
func (s *session) failed(ctx context.Context, n int, err error) error {
	select {
	case <-s.running.Exited():
		return s.exited(n)
	default:
		return interrupted(ctx, fmt.Errorf("snapshot %d: %w", n, err))
	}
}

// take takes the n-th snapshot.
func (s *session) take(ctx context.Context, n int, d due) error {
	name := fmt.Sprintf("%s-%02d%s", s.rec.Process.Image, n, s.plan.Collector.Extension)
	at := time.Now()
	path := filepath.Join(s.rec.Dir, name)
	cost, err := s.plan.Collector.Take(ctx, s.running.Info(), path, d.work)
	if next := s.plan.Collector.Fallback; next != nil && n == 1 && errors.Is(err, collect.ErrNoHeap) {
		s.fallBack(next, err)
		return s.take(ctx, n, d)
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	cost.Bytes = info.Size()
	s.add(Snapshot{File: name, TakenAt: at, Bytes: cost.Bytes, PauseMS: milliseconds(cost.Pause),
		TookMS: milliseconds(cost.Took), Work: d.work, Notes: cost.Notes})
	if d.mark {
		s.rec.Marks++
	}
	var restoring error
	if s.plan.restoresEarly() && s.settings != nil {
		restoring = s.restore(ctx)
	}
	s.progress(n, d.work)
	if err := errors.Join(restoring, s.rec.save()); err != nil {
		return err
	}
	if s.Taken != nil {
		s.Taken(ctx, s.rec)
	}
	return nil
}

// fallBack continues with another kind of evidence, which needs the same settings.
func (s *session) fallBack(next *collect.Collector, why error) {
	text := fmt.Sprintf("%v; continuing with --evidence %s: %s", collect.ErrNoHeap, next.Kind, next.Why)
	s.say("note       %s", text)
	s.rec.Notes = append(s.rec.Notes, why.Error()+"; recorded by "+next.Kind)
	s.plan.Collector, s.rec.Evidence = next, next.Kind
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (s *session) add(shot Snapshot) {
	s.rec.Snapshots = append(s.rec.Snapshots, shot)
	s.rec.Files = append(s.rec.Files, filepath.Join(s.rec.Dir, shot.File))
}

// progress prints what was taken and what is to come.
func (s *session) progress(n int, work *float64) {
	shot := &s.rec.Snapshots[len(s.rec.Snapshots)-1]
	line := fmt.Sprintf("snapshot   %d", n)
	if s.Options.Snapshots > 0 {
		line += fmt.Sprintf(" of %d", s.Options.Snapshots)
	}
	line += fmt.Sprintf("  %s, pause %.0f ms", quantity.Bytes(shot.Bytes), shot.PauseMS)
	if work != nil {
		line += fmt.Sprintf(", work %g", *work)
	}
	if left := s.Options.Snapshots - n; left > 0 && !s.Options.byWork() {
		line += fmt.Sprintf("; %s left", quantity.ShortDuration(time.Duration(left)*s.Options.Every))
	}
	s.say("%s", line)
	for _, note := range shot.Notes {
		s.say("note       %s", note)
	}
}

// exited is the end of a process before that of the recording.
func (s *session) exited(n int) error {
	code := s.running.ExitCode()
	s.rec.Process.ExitCode = &code
	text := fmt.Sprintf("%s ended with exit code %d before snapshot %d", s.rec.Process.Image, code, n)
	if s.Options.Snapshots > 0 {
		text += fmt.Sprintf(" of %d", s.Options.Snapshots)
	}
	s.rec.Notes = append(s.rec.Notes, text)
	if len(s.rec.Files) == 0 {
		return errors.New(text + ": there is no evidence")
	}
	s.say("%s; %s kept", text, quantity.Plural(len(s.rec.Files), "snapshot"))
	return nil
}

// waitForTrace waits for the end of the trace, and says how far it is.
func (s *session) waitForTrace(ctx context.Context) error {
	ticker := time.NewTicker(s.Options.Every)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return ErrInterrupted
		case <-s.running.Exited():
			code := s.running.ExitCode()
			s.rec.Process.ExitCode = &code
			text := fmt.Sprintf("%s ended with exit code %d; the trace ends with it", s.rec.Process.Image, code)
			s.rec.Notes = append(s.rec.Notes, text)
			s.say("%s", text)
			return nil
		case <-ticker.C:
			if n == s.Options.Snapshots {
				return nil
			}
			s.say("trace      %s left", quantity.ShortDuration(time.Duration(s.Options.Snapshots-n)*s.Options.Every))
		}
	}
}

// endTrace writes the trace.
func (s *session) endTrace(ctx context.Context) error {
	name := cmp.Or(s.rec.Process.Image, "trace") + s.plan.Collector.Extension
	at := time.Now()
	cost, err := s.plan.Collector.End(ctx, filepath.Join(s.rec.Dir, name))
	if err != nil {
		return err
	}
	s.add(Snapshot{File: name, TakenAt: at, Bytes: cost.Bytes, TookMS: milliseconds(cost.Took)})
	s.say("trace      %s", quantity.Bytes(cost.Bytes))
	return nil
}
