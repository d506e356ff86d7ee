package lifetimes_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"heapdrift/ingest/etl/lifetimes"
)

// A rawTrace is what the laboratory's uncompressed 64-bit traces hold for lifetimes, read in the simplest way: the
// package is tested without the reader that it serves.
type rawTrace struct {
	events []lifetimes.Event
	pids   []uint32 // by process instance
}

// A record is an event of a trace with a SYSTEM or PERFINFO header.
type record struct {
	time     int64
	group    byte
	op       byte
	pid, tid uint32
	wide     bool // 8-byte pointers
	payload  []byte
}

// p is the i-th pointer of the payload, n is the 32-bit number behind pointers many pointers and skip bytes.
func (r *record) p(i int) uint64 {
	if r.wide {
		return binary.LittleEndian.Uint64(r.payload[8*i:])
	}
	return uint64(binary.LittleEndian.Uint32(r.payload[4*i:]))
}

func (r *record) n(pointers, skip int) uint32 {
	if r.wide {
		pointers *= 2
	}
	return binary.LittleEndian.Uint32(r.payload[4*pointers+skip:])
}

func records(file []byte) []record {
	le := binary.LittleEndian
	var out []record
	for len(file) >= 0x48 {
		size := min(int(le.Uint32(file)), len(file))
		body := file[0x48:min(int(le.Uint32(file[0x30:])), size)]
		for len(body) >= 0x20 {
			marker := le.Uint32(body)
			if marker == 0 || marker == 0xFFFFFFFF {
				break
			}
			kind, length := byte(marker>>16), int(le.Uint16(body[4:]))
			system, perf := kind == 1 || kind == 2, kind == 0x11
			if !system && !perf {
				length = int(le.Uint16(body))
			}
			if length < 0x10 || length > len(body) {
				break
			}
			r := record{group: body[7], op: body[6], wide: kind != 1}
			switch {
			case system:
				r.tid, r.pid, r.time = le.Uint32(body[8:]), le.Uint32(body[12:]), int64(le.Uint64(body[16:]))
				r.payload = body[0x20:length]
			case perf:
				r.time, r.payload = int64(le.Uint64(body[8:])), body[0x10:length]
			}
			if system || perf {
				out = append(out, r)
			}
			body = body[min((length+7)&^7, len(body)):]
		}
		file = file[size:]
	}
	slices.SortStableFunc(out, func(a, b record) int { return int(a.time - b.time) })
	return out
}

// target names the event that a stack belongs to; tid is 0 for events that have none.
type target struct {
	time     int64
	pid, tid uint32
}

func readRaw(t *testing.T, file []byte, zero int64) *rawTrace {
	t.Helper()
	all := records(file)
	frames := map[target]string{}
	for _, r := range all {
		if r.group != 0x18 || r.op != 32 {
			continue
		}
		le := binary.LittleEndian
		to := target{int64(le.Uint64(r.payload)), le.Uint32(r.payload[8:]), le.Uint32(r.payload[12:])}
		frames[to] += string(r.payload[16:])
		to.tid = 0
		frames[to] += string(r.payload[16:])
	}
	ids := map[string]uint32{"": 0}
	trace := &rawTrace{}
	current := map[uint32]uint32{} // instance by PID
	instance := func(pid uint32, fresh bool) uint32 {
		if i, ok := current[pid]; ok && !fresh {
			return i
		}
		current[pid] = uint32(len(trace.pids))
		trace.pids = append(trace.pids, pid)
		return current[pid]
	}
	for _, r := range all {
		e := lifetimes.Event{Time: (r.time - zero) * 100, Thread: r.tid}
		pid := r.pid
		switch uint16(r.group)<<8 | uint16(r.op) {
		case 0x1020:
			e.Op, e.Heap = lifetimes.HeapCreate, r.p(0)
		case 0x1021:
			e.Op, e.Heap, e.Size, e.Address = lifetimes.HeapAlloc, r.p(0), r.p(1), r.p(2)
		case 0x1022:
			e.Op, e.Heap, e.Address, e.OldAddress, e.Size, e.OldSize = lifetimes.HeapRealloc, r.p(0),
				r.p(1), r.p(2), r.p(3), r.p(4)
		case 0x1023:
			e.Op, e.Heap = lifetimes.HeapDestroy, r.p(0)
		case 0x1024:
			e.Op, e.Heap, e.Address = lifetimes.HeapFree, r.p(0), r.p(1)
		case 0x0262, 0x0263:
			e.Op = lifetimes.VirtualAlloc + lifetimes.EventKind(r.op-98)
			e.Address, e.Size, e.Flags, pid = r.p(0), r.p(1), r.n(2, 4), r.n(2, 0)
		case 0x0301, 0x0302: // UniqueProcessKey, PID
			e.Op, pid = lifetimes.ProcessStart+lifetimes.EventKind(r.op-1), r.n(1, 0)
		default:
			continue
		}
		e.Process = instance(pid, e.Op == lifetimes.ProcessStart)
		stack := frames[target{r.time, pid, r.tid}]
		if _, ok := ids[stack]; !ok {
			ids[stack] = uint32(len(ids))
		}
		e.Stack = ids[stack]
		trace.events = append(trace.events, e)
	}
	return trace
}
