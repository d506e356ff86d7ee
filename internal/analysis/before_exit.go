package analysis

import "heapdrift/ingest/capture"

// WindowBeforeExit is the window from the start of the trace to just before the process ended; false where the process
// did not end in the trace.
func (t *Trace) WindowBeforeExit() (capture.Window, bool) {
	whole := (&capture.Trace{From: t.FromNS, To: t.ToNS}).Whole()
	from := whole.From
	if t.BeganNS != nil {
		from = max(from, *t.BeganNS)
	}
	if t.ExitedNS == nil || *t.ExitedNS <= from || *t.ExitedNS > whole.To {
		return capture.Window{}, false
	}
	return capture.Window{From: whole.From, To: *t.ExitedNS - 1}, true
}

// KnowBeforeExit reports whether Amounts.UpToExit is right for the totals and for the sites that they sum.
func (t *Totals) KnowBeforeExit() bool {
	for _, a := range []*Amounts{&t.Heap, &t.Virtual, t.HeapVirtual} {
		if a != nil && !a.knowBeforeExit() {
			return false
		}
	}
	return true
}

// knowBeforeExit reports whether all blocks that ended with the process were allocated inside the window. For older
// blocks, the amounts say neither how much ended with the process nor how much was freed before.
func (a *Amounts) knowBeforeExit() bool {
	return a.Lifetimes == nil || a.AtExit == Amount{} || a.AOFI == Amount{}
}

// UpToExit converts amounts of the whole trace to those of the window that WindowBeforeExit gives, in which blocks that
// ended with the process are held. The result is right where Totals.KnowBeforeExit reports true.
func (a *Amounts) UpToExit() Amounts {
	out := *a
	if a.Lifetimes == nil || a.AtExit == (Amount{}) {
		return out
	}
	l := *a.Lifetimes
	out.Lifetimes = &l
	held := a.AtExit
	out.Outstanding = out.Outstanding.Plus(held)
	if a.Growth != nil {
		out.Growth = new(a.Growth.Plus(held))
	}
	l.AIFO, l.AIFI, l.Freed = l.AIFO.Plus(held), l.AIFI.Minus(held), l.Freed.Minus(held)
	l.AtExit, l.HeldAtExit = Amount{}, nil
	if before, ended := out.HeldBeforeExit(); ended { // it began to free in order to end
		l.HeldAtExit = &before
	}
	return out
}

// UpToExit are totals as Amounts.UpToExit gives them.
func (t *Totals) UpToExit() Totals {
	out := Totals{Heap: t.Heap.UpToExit(), Virtual: t.Virtual.UpToExit()}
	if t.HeapVirtual != nil {
		out.HeapVirtual = new(t.HeapVirtual.UpToExit())
	}
	return out
}
