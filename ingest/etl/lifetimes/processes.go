package lifetimes

import "heapdrift/ingest/capture/allocations"

// A Process is one process instance, over the whole trace.
type Process struct {
	Instance uint32
	// Started and Ended say that the process began and ended inside the trace; EndedAt is Never where it did not end.
	Started, Ended bool
	EndedAt        int64
	Heap           allocations.Classes // all its heaps
	HeapPeak       allocations.Peak
	Virtual        allocations.Classes // committed by the program; what heaps took for their blocks is not in it
	VirtualPeak    allocations.Peak
	HeapVirtual    allocations.Classes // committed by heaps
	HeapTimeline   []allocations.Point
	// VirtualTimeline is of Virtual. What a heap commits is in it for the moment until it shows to be the heap's.
	VirtualTimeline []allocations.Point
	// Anomalies are those of its events, but for what is Malformed, Disordered or AfterExit.
	Anomalies Anomalies
}

// A process is a Process as it grows.
type process struct {
	instance    uint32
	epoch       uint32 // changes with regions and committed; 0 while nothing is known of virtual memory
	started     bool
	ended       bool
	endedAt     int64
	heap        account
	virtual     account
	heapVirtual account
	heapLine    timeline
	virtualLine timeline
	heaps       []uint32
	anomalies   Anomalies
	regions     intervals // reserved; value is 1 where a heap uses the region
	committed   intervals // value is the number of the commit
}

// processTable numbers process instances.
type processTable struct {
	processes []process
	small     []uint32          // number plus one by instance, of instances below smallInstance
	large     map[uint32]uint32 // of the others
}

const smallInstance = 1 << 16

// process is the number of an instance, which is new if need be.
func (t *Tracker) process(instance uint32) uint32 {
	p := &t.processes
	if int64(instance) < int64(len(p.small)) && p.small[instance] != 0 {
		return p.small[instance] - 1
	}
	if id, ok := p.large[instance]; ok {
		return id
	}
	p.processes = append(p.processes, process{instance: instance, endedAt: allocations.Never})
	id := uint32(len(p.processes) - 1)
	switch {
	case instance >= smallInstance:
		if p.large == nil {
			p.large = make(map[uint32]uint32)
		}
		p.large[instance] = id
	default:
		for int64(len(p.small)) <= int64(instance) {
			p.small = append(p.small, 0)
		}
		p.small[instance] = id + 1
	}
	return id
}

// anomalies are where an anomaly of a process counts: with all, and with its own.
func (t *Tracker) anomalies(process uint32) [2]*Anomalies {
	return [2]*Anomalies{&t.Anomalies, &t.processes.processes[process].anomalies}
}

// running is the process of an event; ok is false where it has ended.
func (t *Tracker) running(e *Event) (id uint32, ok bool) {
	id = t.process(e.Process)
	if t.processes.processes[id].ended {
		t.Anomalies.AfterExit++
		return 0, false
	}
	return id, true
}

func (t *Tracker) processStart(e *Event) {
	if id, ok := t.running(e); ok {
		t.processes.processes[id].started = true
	}
}

func (t *Tracker) processEnd(e *Event) {
	id, ok := t.running(e)
	if !ok {
		return
	}
	p := &t.processes.processes[id]
	p.ended, p.endedAt = true, e.Time
	for _, h := range p.heaps {
		t.endHeap(h, e.Time, allocations.EndExit)
	}
	t.endVirtual(id, e.Time, allocations.EndExit)
}
