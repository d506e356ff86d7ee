package lifetimes

import (
	"heapdrift/ingest/capture/allocations"

	"math"
)

// A Process is one process instance, over the whole trace.
type Process struct {
	Instance uint32 // as Event.Process
	// Started and Ended say that the process began and ended inside the trace. EndedAt is in ns since the trace's
	// start, allocations.Never where it did not end.
	Started, Ended bool
	EndedAt        allocations.TraceTime
	Heap           allocations.WindowUsage // all its heaps
	HeapPeak       allocations.Peak        // of all its heaps together
	Virtual        allocations.WindowUsage // committed by the program; what heaps took for their blocks is not in it
	VirtualPeak    allocations.Peak
	HeapVirtual    allocations.WindowUsage // committed by heaps
	HeapTimeline   []allocations.Point     // of all its heaps together
	// VirtualTimeline is of Virtual. What a heap commits is in it for the moment until it shows to be the heap's.
	VirtualTimeline []allocations.Point
	// Anomalies are those of its events, but for what is Malformed, Disordered or AfterExit.
	Anomalies Anomalies
}

// A process is a Process as it grows.
type process struct {
	instance       uint32
	epoch          uint32 // changes with regions and committed; 0 while nothing is known of virtual memory
	started        bool
	ended          bool
	endedAt        int64
	heap           account
	heapLine       timeline
	heaps          []uint32
	anomalies      Anomalies
	*virtualMemory // nil while there was no event of any
}

// virtualMemory is what a process has besides its heaps' blocks.
type virtualMemory struct {
	virtual     account
	heapVirtual account
	virtualLine timeline
	regions     intervals // reserved; value is 1 where a heap uses the region
	committed   intervals // value is the number of the commit
}

// withVirtual is a process to which an event of virtual memory has come.
func (t *Tracker) withVirtual(pid uint32) *process {
	p := t.processes.at(pid)
	if p.virtualMemory == nil {
		p.virtualMemory = new(virtualMemory)
	}
	return p
}

// processTable numbers process instances. Those without an event of memory, which a trace can have any number of, have
// no process: what must be known of them is in the place of their number.
type processTable struct {
	list[process]
	small []uint32          // number plus one by instance, of instances below smallInstance
	large map[uint32]uint32 // of the others
}

const smallInstance = 1 << 16

// This value stands in place of a number plus one while an instance has no events of memory.
const (
	unmet   uint32 = 0
	started uint32 = math.MaxUint32 - 1
	ended   uint32 = math.MaxUint32
)

// entry is what is known of an instance: number plus one, unmet, started or ended.
func (p *processTable) entry(instance uint32) uint32 {
	if int64(instance) < int64(len(p.small)) {
		return p.small[instance]
	}
	return p.large[instance]
}

func (p *processTable) enter(instance, entry uint32) {
	if instance >= smallInstance {
		if p.large == nil {
			p.large = make(map[uint32]uint32)
		}
		p.large[instance] = entry
		return
	}
	for int64(len(p.small)) <= int64(instance) {
		p.small = append(p.small, unmet)
	}
	p.small[instance] = entry
}

// known is the number of an instance with events of memory.
func (p *processTable) known(instance uint32) (id uint32, ok bool) {
	entry := p.entry(instance)
	return entry - 1, entry != unmet && entry < started
}

// process is the number of an instance, which is new if need be.
func (t *Tracker) process(instance uint32) uint32 {
	p := &t.processes
	entry := p.entry(instance)
	if entry != unmet && entry < started {
		return entry - 1
	}
	p.add(process{instance: instance, started: entry == started, endedAt: allocations.Never})
	p.enter(instance, uint32(p.len()))
	return uint32(p.len() - 1)
}

// anomalies are where an anomaly of a process counts: with all, and with its own.
func (t *Tracker) anomalies(process uint32) [2]*Anomalies {
	return [2]*Anomalies{&t.Anomalies, &t.processes.at(process).anomalies}
}

// running is the process of an event; ok is false where it has ended.
func (t *Tracker) running(e *Event) (id uint32, ok bool) {
	if id, ok = t.processes.known(e.Process); ok && !t.processes.at(id).ended {
		return id, true
	}
	if !t.isRunning(e) {
		return 0, false
	}
	return t.process(e.Process), true
}

// isRunning counts events of processes that have ended.
func (t *Tracker) isRunning(e *Event) bool {
	id, ok := t.processes.known(e.Process)
	over := ok && t.processes.at(id).ended || !ok && t.processes.entry(e.Process) == ended
	if over {
		t.Anomalies.AfterExit++
	}
	return !over
}

func (t *Tracker) processStart(e *Event) {
	if !t.isRunning(e) {
		return
	}
	if id, ok := t.processes.known(e.Process); ok {
		t.processes.at(id).started = true
	} else {
		t.processes.enter(e.Process, started)
	}
}

func (t *Tracker) processEnd(e *Event) {
	if !t.isRunning(e) {
		return
	}
	id, ok := t.processes.known(e.Process)
	if !ok {
		t.processes.enter(e.Process, ended)
		return
	}
	p := t.processes.at(id)
	p.ended, p.endedAt = true, e.Time
	for _, h := range p.heaps {
		t.endHeap(h, e.Time, allocations.EndExit)
	}
	t.endVirtual(id, e.Time, allocations.EndExit)
}
