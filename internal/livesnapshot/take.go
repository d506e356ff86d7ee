package livesnapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/dump"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/hdsnap"
	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/build"
)

// DefaultPauseLimit is how long a process is suspended at most by default.
const DefaultPauseLimit = 2 * time.Second

// Options tune a snapshot.
type Options struct {
	// PauseLimit is how long the process is suspended at most; 0 is DefaultPauseLimit.
	PauseLimit time.Duration
	// Types finds the structures of an ntdll by its PDB; nil, or a nil result, for the embedded table.
	Types func(ctx context.Context, pdb, debugID string) ntheap.Types
}

// Cost is what a snapshot cost the process and this program, and what it is of.
type Cost struct {
	TakenAt time.Time // in the zone of the machine
	Started time.Time // start of the process; zero where unknown
	System  string    // "Windows 10.0.26100"

	Pause     time.Duration // how long the process was suspended
	Total     time.Duration // from the first to the last read
	Cloned    bool          // read from a clone while the process went on
	LimitHit  bool          // the process went on before its heaps were read
	BytesRead int64         // of the process's memory
	Reads     int64         // how many calls of the system read memory
	Regions   int64         // regions of the address space
	Vanished  int64         // regions that were listed and were gone or protected when they were read
	Unread    int64         // regions of which a page could not be read for another reason
	// Unguarded is why nothing would have resumed the process if this program had been killed; nil where something would.
	Unguarded error
}

// String says the cost in a sentence.
func (c Cost) String() string {
	how := "while it was suspended"
	if c.Cloned {
		how = "from a clone"
	}
	return fmt.Sprintf("The process was suspended for %s. %s were read %s, in %s.",
		quantity.ShortDuration(c.Pause), quantity.Bytes(c.BytesRead), how, quantity.ShortDuration(c.Total))
}

// A Run says which run a snapshot belongs to, as the caller knows it.
type Run struct {
	Project, Build, Branch, Commit, Scenario string
	// Work is what the process had done, in WorkUnit; nil where nobody counted.
	Work     *int64
	WorkUnit string
}

// Header makes the header of the file that stores the snapshot.
func (c Cost) Header(r *Run) hdsnap.Header {
	return hdsnap.Header{Process: hdsnap.Process{Started: c.Started}, TakenAt: c.TakenAt, System: c.System,
		Writer:  "heapdrift " + build.Current().Version,
		Project: r.Project, Build: r.Build, Branch: r.Branch, Commit: r.Commit, Scenario: r.Scenario,
		Work: r.Work, WorkUnit: r.WorkUnit,
		Cost: &hdsnap.Cost{PauseNS: int64(c.Pause), TotalNS: int64(c.Total), BytesRead: c.BytesRead, Regions: c.Regions,
			Vanished: c.Vanished, Unread: c.Unread, Cloned: c.Cloned, LimitHit: c.LimitHit}}
}

// Take makes a capture of a process. Its error is an *Error where the process cannot be opened or shows no heap, else
// the context's. What could not be read is said in the capture. Its Kind is set when package hdsnap stores it. The cost
// is known in either case.
func Take(ctx context.Context, pid uint32, opt Options) (*capture.Capture, Cost, error) {
	t, err := open(pid)
	if err != nil {
		return nil, Cost{}, err
	}
	defer t.Close()
	s := newSession(t, pid, &opt)
	c, err := s.take(ctx)
	return c, s.cost(), err
}

// A session is one call of Take.
type session struct {
	target
	pid     uint32
	opt     *Options
	pause   *pause
	memory  *memory
	regions int
	started time.Time
	facts   facts
	cloned  bool
	// unguarded is as in Cost.
	unguarded error
}

func newSession(t target, pid uint32, opt *Options) *session {
	limit := opt.PauseLimit
	if limit <= 0 {
		limit = DefaultPauseLimit
	}
	return &session{target: t, pid: pid, opt: opt, started: time.Now(),
		pause: &pause{limit: limit, suspend: t.Suspend, resume: t.Resume, after: afterFunc}}
}

// take suspends the process, lists what it has and walks its heaps.
func (s *session) take(ctx context.Context) (*capture.Capture, error) {
	s.facts, s.unguarded = s.Facts(), s.Guard()
	if err := s.pause.begin(); err != nil {
		return nil, &Error{Code: CodeSuspend, PID: s.pid, Message: "the process cannot be suspended",
			Do: "run heapdrift as the user of the process, or as administrator", Err: err}
	}
	defer s.pause.end() // also where this function panics
	threads, threadsErr := s.Threads()
	space := s.space()
	regions, err := listRegions(ctx, space)
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	s.regions = len(regions)
	s.memory = newMemory(ctx, space, s.cloned, regions, s.pause)
	from := &source{session: s, regions: regions, threads: threads, threadsErr: threadsErr}
	from.listModules(ctx)
	c, err := dump.Build(ctx, from, dump.Options{Types: s.opt.Types, BlocksOnly: true, Reached: s.reached,
		Subject: dump.Subject{Name: "snapshot"}})
	if err != nil || ctx.Err() != nil { // memory that was not read for that looks like memory that is not there
		return nil, s.failed(ctx, err)
	}
	c.Process.Machine = s.facts.Host
	s.pause.end()
	s.warn(c, from)
	return c, nil
}

// space is what is read: a clone, after which the process goes on, or the process itself.
func (s *session) space() space {
	if clone, err := s.Clone(); err == nil {
		s.cloned = true
		s.pause.cloned()
		return clone
	}
	return s.target
}

// reached lets the process go on as soon as nothing that it changes is read any more.
func (s *session) reached(stage dump.Stage) {
	switch stage {
	case dump.HeapsWalked:
		s.pause.walked()
	case dump.StacksRead:
		s.pause.end()
	}
}

// failed says why there is no capture.
func (s *session) failed(ctx context.Context, err error) error {
	var refused *evidence.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case s.pause.isHit():
		return &Error{Code: CodeLimit, PID: s.pid, Err: err,
			Message: fmt.Sprintf("the pause limit of %s ended before a heap was found", s.pause.limit),
			Do:      "raise --pause-limit"}
	case errors.As(err, &refused):
		return &Error{Code: refused.Code, PID: s.pid, Message: "the process shows no heap of Windows", Err: err,
			Do: "check that it still runs"}
	}
	return &Error{Code: CodeRead, PID: s.pid, Message: "the process cannot be read", Err: err,
		Do: "check that it still runs"}
}

// cost is what was spent until now.
func (s *session) cost() Cost {
	c := Cost{Pause: s.pause.length(), Total: time.Since(s.started), Cloned: s.cloned, LimitHit: s.pause.isHit(),
		Unguarded: s.unguarded, Regions: int64(s.regions), TakenAt: s.started, Started: s.facts.Process.Created}
	if v := s.facts.System; v.Major > 0 {
		c.System = fmt.Sprintf("Windows %d.%d.%d", v.Major, v.Minor, v.Build)
	}
	if s.memory != nil {
		c.BytesRead, c.Reads = s.memory.bytes.Load(), s.memory.reads.Load()
		c.Vanished, c.Unread = s.memory.losses()
	}
	return c
}
