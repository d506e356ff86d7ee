package etl

import "math"

// A brief is what joining needs of the events that are most of a heap trace. It is taken where buffers are decoded: in parallel,
// and while the event is in the processor's cache.
//
//	KindHeapAlloc, KindHeapFree          a heap, b address, c size, flags HeapSource; PID and TID that the header names
//	KindStackKeyKernel, KindStackKeyUser a time stamp of the target, b key; its PID and TID
type brief struct {
	a, b, c  uint64
	pid, tid uint32
	flags    uint32
}

// briefOnly is the offset of frames whose brief is all there is of the event.
const briefOnly = math.MaxUint32

// A preparer does for one decoding goroutine what joining would do otherwise, with one event after the other.
type preparer struct {
	stacks stackCache
	lean   bool   // of events with a brief nothing else is kept
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
		if p.event.fill(*f, e); p.event.brief(&f.brief) {
			f.offset = briefOnly
			return
		}
	}
	f.offset = uint32(len(p.kept))
	p.kept = append(p.kept, e...)
}

// brief decodes the event, which is of one of the kinds that have a brief.
func (e *Event) brief(b *brief) (ok bool) {
	*b = brief{pid: e.PID, tid: e.TID}
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
