package etl

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"time"

	"heapdrift/ingest/evidence"
	"heapdrift/ingest/sorting"
)

// A Source is one .etl file, unpacked. Its reader is used from several goroutines at once.
type Source struct {
	Name     string // in messages
	ReaderAt io.ReaderAt
	Size     int64 // bytes
}

// Options tune Open. The zero value is right.
type Options struct {
	Workers int // goroutines that decode buffers beside the caller's; 0 for as many as there are processors, up to 4
}

// A File says what one source of a trace is.
type File struct {
	Name       string
	LogFile    LogFile
	Buffers    int64  // with the header buffer
	Compressed int64  // buffers that are compressed
	Bytes      int64  // of events, decoded
	Losses     Losses // what the session or the file has lost, so far as passes have met it
}

// Info describes a trace.
type Info struct {
	Files []File    // as Open was given them
	Start time.Time // instant that Event.Time counts from, in UTC
	// Events is how many events the latest pass has met, those that it was not asked for included; 0 before the first.
	Events int64
}

// A Trace is one recording, from one or more files of the same boot.
type Trace struct {
	info     Info
	sources  []Source
	decoders []decoder // by source
	refs     []ref     // in the order of their first events
	clock    clock
	pass     pass
	workers  int
}

// maxSources is more files than a session writes.
const maxSources = 256

// Open indexes the files of one trace. It reads their buffers' headers; events are read by Events.
//
// The error is an *evidence.Error, or the context's. Damage behind the first buffer is no error: it is counted in the
// Losses.
func Open(ctx context.Context, sources []Source, opt Options) (*Trace, error) {
	if len(sources) == 0 || len(sources) > maxSources {
		return nil, &evidence.Error{Code: CodeNoSource, Message: "a trace is made of 1 to 256 files"}
	}
	t := &Trace{sources: slices.Clone(sources), workers: opt.Workers}
	for i := range sources {
		s := scanner{source: &sources[i], file: &File{Name: sources[i].Name}, number: uint16(i), sequence: sequences{}}
		if err := s.open(); err != nil {
			return nil, err
		}
		if err := s.scan(ctx); err != nil {
			return nil, err
		}
		t.refs = append(t.refs, s.refs...)
		t.decoders = append(t.decoders, s.decode)
		t.info.Files = append(t.info.Files, *s.file)
	}
	if err := t.join(); err != nil {
		return nil, err
	}
	sorting.Unstable(t.refs, func(a, b ref) int { return cmp.Or(cmp.Compare(a.first, b.first), a.compare(&b)) })
	return t, nil
}

// join checks that the files are of one boot and clock, and sets the trace's start to the earliest of theirs.
func (t *Trace) join() error {
	files := t.info.Files
	first := &files[0].LogFile
	start := first
	for i := range files[1:] {
		l := &files[i+1].LogFile
		boot := l.Boot.Sub(first.Boot).Abs()
		if l.stampFrequency() != first.stampFrequency() || boot > time.Second && l.Clock != ClockSystem {
			return &evidence.Error{Code: CodeOtherBoot, File: files[i+1].Name, Message: "this file and " + files[0].Name +
				" were recorded in different boots of Windows, or on different clocks", Do: "analyse them one by one"}
		}
		if l.Stamp < start.Stamp {
			start = l
		}
	}
	t.info.Start = start.Start
	t.clock = newClock(start.Stamp, start.stampFrequency())
	return nil
}

// Info describes the trace as far as Open has read it; passes over the events add to the Losses.
func (t *Trace) Info() Info {
	info := t.info
	info.Files = slices.Clone(info.Files)
	info.Events = t.pass.events
	for i := range t.pass.losses {
		l, p := &info.Files[i].Losses, &t.pass.losses[i]
		l.BadBuffers, l.BadBytes, l.Disordered = p.BadBuffers, p.BadBytes, p.Disordered
		if p.FirstDamage >= 0 {
			l.damage(p.FirstDamage)
		}
	}
	return info
}

// Events calls fn with every event of the trace in the order of time. It may be called again for another pass. An
// error of fn ends the pass and is returned as it is.
func (t *Trace) Events(ctx context.Context, fn func(*Event) error) error {
	return t.EventsOf(ctx, allKinds, fn)
}

// EventsOf is Events for the events of some kinds only.
func (t *Trace) EventsOf(ctx context.Context, kinds KindSet, fn func(*Event) error) error {
	return t.events(ctx, kinds, preparer{}, &t.pass, merge{fn: fn})
}

// events is a pass over the events of some kinds, which are prepared; m says where they go.
func (t *Trace) events(ctx context.Context, kinds KindSet, prepare preparer, p *pass, m merge) error {
	p.begin(len(t.sources))
	a := newPrefetcher(ctx, t, kinds, prepare)
	defer a.close()
	m.trace, m.pass, m.ahead, m.last = t, p, a, math.MinInt64
	for i := range t.info.Files {
		if l := &t.info.Files[i].LogFile; l.Mode&ModeNoPerCPU != 0 {
			m.slack = l.stampFrequency() / 10
		}
	}
	return m.run(ctx)
}

// Covered returns the time of the first and the last event that the latest pass has delivered, in ns since the start;
// 0, 0 before the first pass.
func (t *Trace) Covered() (from, to int64) {
	if t.pass.first > t.pass.last {
		return 0, 0
	}
	return t.clock.ns(t.pass.first), t.clock.ns(t.pass.last)
}

// A pass is what reading the events has shown.
type pass struct {
	losses      []Losses // by source
	first, last int64    // stamps
	events      int64
	streams     map[stream]int64 // last time stamp that was read of each, where it is not nil
}

// A stream is one of a file's sequences of buffers.
type stream struct{ source, cpu, logger uint16 }

func (p *pass) begin(sources int) {
	*p = pass{streams: p.streams, losses: make([]Losses, sources), first: math.MaxInt64, last: math.MinInt64}
	for i := range p.losses {
		p.losses[i].FirstDamage = -1
	}
}

func (p *pass) cover(stamp int64) {
	p.first, p.last = min(p.first, stamp), max(p.last, stamp)
}

// note counts a block's events and the damage in it.
func (p *pass) note(b *block) {
	p.events += b.events
	if p.streams != nil && b.events > 0 && b.ref.offset > 0 {
		s := stream{b.ref.source, b.ref.cpu, b.ref.logger}
		p.streams[s] = max(p.streams[s], b.last)
	}
	if b.missing > 0 {
		p.losses[b.ref.source].bad(b.ref.offset, b.missing)
	}
}
