package record

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// A due snapshot is one whose time has come.
type due struct {
	work *float64 // done by the process; nil where nobody says
	mark bool     // heapdrift mark waits for an answer
	err  error    // the timing cannot go on
}

// timing says when snapshots are due. It ends with ctx.
func (r *Recorder) timing(ctx context.Context, marks *markReader, event <-chan struct{}) <-chan due {
	events := make(chan due)
	send := func(d due) bool {
		select {
		case events <- d:
			return true
		case <-ctx.Done():
			return false
		}
	}
	switch {
	case r.Options.Counter != "":
		go r.byCounter(ctx, send)
	case r.Options.PerWork:
		go r.byMarks(ctx, marks, merge(ctx, enters(ctx, r.In), event), send)
	case r.Options.At != nil:
		go r.byDay(ctx, send)
	default:
		go r.byClock(ctx, send)
	}
	return events
}

// byClock is due at equal intervals from the start on, whatever the snapshots take. What passed meanwhile is left out.
func (r *Recorder) byClock(ctx context.Context, send func(due) bool) {
	ticker := time.NewTicker(r.Options.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if !send(due{}) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// A DayTime is a time of the day, by the clock of the machine.
type DayTime struct{ Hour, Minute int }

// Day is the time between two snapshots at a DayTime; in fact 23 or 25 hours where the clocks change.
const Day = 24 * time.Hour

// ParseDayTime reads "hh:mm", from "00:00" to "23:59".
func ParseDayTime(text string) (DayTime, error) {
	t, err := time.Parse("15:04", text)
	if err != nil {
		return DayTime{}, fmt.Errorf("%q is not a time of the day, such as 00:00", text)
	}
	return DayTime{t.Hour(), t.Minute()}, nil
}

// String prints "hh:mm".
func (d DayTime) String() string { return fmt.Sprintf("%02d:%02d", d.Hour, d.Minute) }

// noon is an hour that each day has.
const noon = 12

// Next is the first instant after now with this time, in now's zone: once on each day, also where the clock skips the
// time or has it twice.
func (d DayTime) Next(now time.Time) time.Time {
	at := func(day, hour, minute int) time.Time {
		return time.Date(now.Year(), now.Month(), day, hour, minute, 0, 0, now.Location())
	}
	for day := now.Day(); ; day++ {
		next := at(day, d.Hour, d.Minute)
		if next.Day() != at(day, noon, 0).Day() { // the clock leaves the time out, and Go takes the evening before
			next = next.Add(time.Hour)
		}
		if next.After(now) {
			return next
		}
	}
}

// clockStep is how often the clock is looked at: a machine that slept, or whose clock was set, must not wait too long.
const clockStep = time.Minute

// byDay is due at a time of each day.
func (r *Recorder) byDay(ctx context.Context, send func(due) bool) {
	now := func() time.Time { return time.Now().Round(0) } // the clock on the wall
	var last time.Time
	for {
		from := now()
		if from.Before(last) { // the clock was set back: the snapshot of the day is there
			from = last
		}
		next := r.Options.At.Next(from)
		last = next
		for left := next.Sub(now()); left > 0; left = next.Sub(now()) {
			if !pause(ctx, min(left, clockStep)) {
				return
			}
		}
		if !send(due{}) {
			return
		}
	}
}

// byCounter is due whenever the work has grown by a step.
func (r *Recorder) byCounter(ctx context.Context, send func(due) bool) {
	next, begun, problem := 0.0, false, ""
	for {
		n, err := readCounter(ctx, r.Options.Counter)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil: // the program may not have written it yet
			if text := err.Error(); text != problem {
				problem = text
				r.say("waiting: %s", text)
			}
		case !begun:
			begun, next = true, n+r.Options.Step
		case n >= next:
			if !send(due{work: &n}) {
				return
			}
			next = n + r.Options.Step
		}
		if !pause(ctx, pollTime) {
			return
		}
	}
}

// byMarks is due at each mark.
func (r *Recorder) byMarks(ctx context.Context, marks *markReader, one <-chan struct{}, send func(due) bool) {
	done := 0.0
	for {
		lines, err := marks.next()
		if err != nil && !send(due{err: err}) {
			return
		}
		for _, line := range lines {
			work, err := ParseMark(line)
			if err != nil {
				r.sayError("mark", err)
			}
			if work == nil {
				work = new(float64)
				*work = done + 1
			}
			done = *work
			if !send(due{work: work, mark: true}) {
				return
			}
		}
		select {
		case <-one:
			done++
			n := done
			if !send(due{work: &n}) {
				return
			}
		case <-time.After(pollTime):
		case <-ctx.Done():
			return
		}
	}
}

// merge tells of each Enter and each event. Either may be nil, or end: the other goes on, as marks do.
func merge(ctx context.Context, enter, event <-chan struct{}) <-chan struct{} {
	all := make(chan struct{})
	forward := func(from <-chan struct{}) {
		for range from {
			select {
			case all <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}
	for _, from := range []<-chan struct{}{enter, event} {
		if from != nil {
			go forward(from)
		}
	}
	return all
}

// enters is told of each line of the input. Its reader ends with the input: a console's cannot be interrupted.
func enters(ctx context.Context, in io.Reader) <-chan struct{} {
	if in == nil {
		return nil
	}
	lines := make(chan struct{})
	go func() {
		defer close(lines)
		reader := bufio.NewReader(in)
		for {
			if _, err := reader.ReadSlice('\n'); err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				return
			}
			select {
			case lines <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// pause waits, and reports false where ctx ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
