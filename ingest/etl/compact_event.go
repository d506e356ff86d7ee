package etl

import "math"

// A compactEvent is what joining needs of the events that are most of a heap trace. It is taken where buffers are
// decoded: in parallel, and while the event is in the processor's cache.
//
//	KindHeapAlloc, KindHeapFree          a heap, b address, c size, flags HeapSource; PID and TID that the header names
//	KindStackKeyKernel, KindStackKeyUser a time stamp of the target, b key; its PID and TID
type compactEvent struct {
	a, b, c  uint64
	pid, tid uint32
	flags    uint32
}

// eventOnly is the offset of frames whose compact form is all there is of the event.
const eventOnly = math.MaxUint32

// A preparer does for one decoding goroutine what joining would do otherwise, with one event after the other.
type preparer struct {
	stacks stackCache
	lean   bool   // of events with a compact form nothing else is kept
	kept   []byte // the other events of the buffer, where lean
	event  Event
}

// prepare takes an event of a buffer; e are its bytes.
func (p *preparer) prepare(f *frame, e []byte) {
	if p.stacks.kinds.Has(f.kind) {
		p.event.fill(*f, e)
		p.stacks.number(f, &p.event)
	}
	if !p.lean {
		return
	}
	switch f.kind {
	case KindHeapAlloc, KindHeapFree, KindStackKeyKernel, KindStackKeyUser:
		ok := f.read(f.kind, f.header, e)
		if !ok {
			p.event.fill(*f, e)
			ok = p.event.compact(&f.compactEvent)
		}
		if ok {
			f.offset = eventOnly
			return
		}
	}
	f.offset = uint32(len(p.kept))
	p.kept = append(p.kept, e...)
}

// read decodes an event of 64-bit Windows as it mostly is, which are nearly all of a trace; for others, and for those
// that are too short, it is false. e are the event's bytes with its whole header.
func (b *compactEvent) read(kind Kind, header HeaderType, e []byte) bool {
	b.pid, b.tid = NoID, NoID
	switch header {
	case HeaderSystem64:
		b.tid, b.pid, e = le.Uint32(e[8:]), le.Uint32(e[12:]), e[0x20:]
	case HeaderPerfInfo64:
		if le.Uint16(e)&(perfPEBS|perfCounters) != 0 {
			return false
		}
		e = e[0x10:]
	default:
		return false
	}
	switch {
	case kind == KindHeapAlloc && len(e) >= 28:
		b.a, b.c, b.b, b.flags = le.Uint64(e), le.Uint64(e[8:]), le.Uint64(e[16:]), le.Uint32(e[24:])
	case kind == KindHeapFree && len(e) >= 20:
		b.a, b.b, b.c, b.flags = le.Uint64(e), le.Uint64(e[8:]), 0, le.Uint32(e[16:])
	case (kind == KindStackKeyKernel || kind == KindStackKeyUser) && len(e) >= 24:
		b.a, b.pid, b.tid, b.b, b.c, b.flags = le.Uint64(e), le.Uint32(e[8:]), le.Uint32(e[12:]), le.Uint64(e[16:]), 0, 0
	default:
		return false
	}
	return true
}

// compact decodes the event, which is of one of the kinds that have a compact form.
func (e *Event) compact(b *compactEvent) (ok bool) {
	*b = compactEvent{pid: e.PID, tid: e.TID}
	switch e.Kind {
	case KindHeapAlloc:
		var a HeapAlloc
		a, ok = e.HeapAlloc()
		b.a, b.b, b.c, b.flags = a.Heap, a.Address, a.Size, uint32(a.Source)
	case KindHeapFree:
		var f HeapFree
		f, ok = e.HeapFree()
		b.a, b.b, b.flags = f.Heap, f.Address, uint32(f.Source)
	default:
		var t StackTarget
		if t, ok = e.StackTarget(); ok {
			b.a, b.pid, b.tid = uint64(t.Stamp), t.PID, t.TID
			b.b, ok = e.StackKey()
		}
	}
	return ok
}
