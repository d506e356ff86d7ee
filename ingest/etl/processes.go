package etl

import "math"

// UnknownTime is the time of what happened before the trace, or after it, or was not logged.
const UnknownTime = math.MinInt64

// A Process is one life of a process: a PID is given out again and again.
type Process struct {
	PID, Parent, Session uint32
	Key                  uint64 // address of the kernel's object; 0 where unknown
	Name, CommandLine    string // "" where the trace has no event of the process
	Flags                ProcessFlags
	Start, End           int64 // ns since the trace's start, or UnknownTime
	ExitStatus           int32 // 0 where End is UnknownTime
	HeapPointerBytes     uint8 // bytes of a pointer in its heap events, 0 without any
	Images               []Image
	stacked              *stackUses // nil for processes that allocated nothing
	met                  int64      // time of the event that first told about it
}

// stackUses are those of a process's allocating operations.
type stackUses [len(allocating)]StackCoverage

// countStack counts an allocating operation, and with is 1 where it has a stack.
func (p *Process) countStack(kind int, with int64) {
	if p.stacked == nil {
		p.stacked = new(stackUses)
	}
	p.stacked[kind].add(with)
}

// Known reports whether the trace has an event of the process itself, which names it.
func (p *Process) Known() bool { return p.Name != "" }

// processes follow which process has which PID.
type processes struct {
	all      []Process
	current  map[uint32]uint32 // by PID: index into all
	lastPID  uint32
	lastSeen uint32 // of lastPID, where valid
	valid    bool
	ended    []uint32 // since the last event
	now      int64    // time of the event that is taken in
}

// at returns the process that has the PID now. One that no event told about is made.
func (ps *processes) at(pid uint32) uint32 {
	if ps.valid && ps.lastPID == pid {
		return ps.lastSeen
	}
	i, ok := ps.current[pid]
	if !ok {
		i = ps.begin(pid)
	}
	ps.lastPID, ps.lastSeen, ps.valid = pid, i, true
	return i
}

// begin makes a process that has the PID from now on.
func (ps *processes) begin(pid uint32) uint32 {
	i := uint32(len(ps.all))
	ps.all = append(ps.all, Process{PID: pid, Start: UnknownTime, End: UnknownTime, met: ps.now})
	ps.current[pid] = i
	ps.valid = false
	return i
}

// alive returns the process that allocates under the PID now. Where the one that was known has ended, the start of
// another was lost.
func (ps *processes) alive(pid uint32) uint32 {
	i := ps.at(pid)
	if ps.all[i].End != UnknownTime {
		return ps.begin(pid)
	}
	return i
}

// note takes in a process event; started says whether a life began by it. Lives that ended are in ps.ended.
//
// It is one decision for each kind of event, by two questions: is the event of the life that is known under the PID
// (same), and does that go on (alive)?
func (ps *processes) note(e *Event, p *ProcessEvent) (i uint32, started bool) {
	i, known := ps.current[p.PID]
	alive, same := false, false
	if known {
		q := &ps.all[i]
		alive = q.End == UnknownTime
		same = q.Key == p.Key && p.Key != 0 || alive && (q.Key == 0 || p.Key == 0)
	}
	switch e.Kind {
	case KindProcessStart:
		if same && (ps.all[i].Start == e.Time || alive && ps.all[i].Key == p.Key && p.Key != 0) {
			break // logged by two sessions; behind an end, both key and PID were given out again
		}
		if alive && !ps.all[i].Known() && ps.all[i].Start == UnknownTime && ps.all[i].met == e.Time {
			ps.all[i].Start, started = e.Time, true // other events of the same instant came first
			break
		}
		i = ps.follow(i, alive, p.PID, e.Time)
		ps.all[i].Start, started = e.Time, true
	case KindProcessEnd:
		if !same {
			i = ps.follow(i, alive, p.PID, e.Time)
		}
		if ps.all[i].End == UnknownTime {
			ps.end(i, e.Time, p.ExitStatus)
		}
	case KindProcessDefunct:
		if !same {
			return i, false // it ended before the trace, and something holds a handle of it
		}
		if alive {
			ps.end(i, e.Time, p.ExitStatus)
		}
	default: // rundowns
		if !same {
			i = ps.follow(i, alive, p.PID, e.Time)
		}
	}
	ps.all[i].describe(p)
	return i, started
}

// follow makes a process that has the PID of another from now on. The end of one that is still alive was lost.
func (ps *processes) follow(before uint32, alive bool, pid uint32, now int64) uint32 {
	if alive {
		ps.end(before, now, 0)
	}
	return ps.begin(pid)
}

// end ends the life of a process.
func (ps *processes) end(i uint32, at int64, status int32) {
	ps.all[i].End, ps.all[i].ExitStatus = at, status
	ps.ended = append(ps.ended, i)
}

// describe fills in what an event says.
func (p *Process) describe(e *ProcessEvent) {
	p.Parent, p.Session, p.Flags = e.Parent, e.Session, p.Flags|e.Flags
	if e.Key != 0 {
		p.Key = e.Key
	}
	if e.Image != "" {
		p.Name = e.Image
	}
	if e.CommandLine != "" {
		p.CommandLine = e.CommandLine
	}
}
