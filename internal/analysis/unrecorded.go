package analysis

// WhyUnrecorded says why the totals of a trace are unknown, for heaps and for virtual memory: the trace has no such
// events of the process, so that 0 in the totals means unknown. Each is "" where the totals are known.
func (r *Report) WhyUnrecorded() (heap, virtual string) {
	if r.Trace == nil {
		return "", ""
	}
	t := &r.Totals
	if len(r.Trace.HeapTimeline.AtNS) == 0 && t.Heap.IsNothing() {
		heap = "the trace has no heap events of this process"
	}
	if len(r.Trace.VirtualTimeline.AtNS) == 0 && t.Virtual.IsNothing() &&
		(t.HeapVirtual == nil || t.HeapVirtual.IsNothing()) {
		virtual = "the trace has no VirtualAlloc events of this process"
	}
	return heap, virtual
}

// IsNothing reports whether a trace has neither allocations nor frees of a kind of memory.
func (a *Amounts) IsNothing() bool {
	l := a.Lifetimes
	return a.Outstanding == Amount{} && (l == nil ||
		l.Allocated == Amount{} && l.Freed == Amount{} && l.AOFO == Amount{} && l.UnknownFrees == 0)
}
