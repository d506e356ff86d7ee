package etl

import "context"

// Memory of the buffers that are open at once. A trace needs about one buffer for each CPU and session; only damaged
// time stamps make it more.
const maxOpen = 256 << 20

// A merge delivers the events of a trace in time order. It opens a buffer when the events before the buffer's first one
// have been delivered. So the result depends neither on the order of buffers in a file, nor on their sequence numbers,
// nor on how CPUs and sessions share buffers.
type merge struct {
	trace *Trace
	pass  *pass
	ahead *prefetcher
	next  int   // of the trace's refs, the first that is not open
	open  []run // a heap by next event
	held  int64 // memory of the open blocks
	slack int64 // in time stamps: buffers are opened this long before they are due

	event     Event
	last      int64 // stamp of the event before
	fn        func(*Event) error
	onCompact func(f *frame, at int64, source uint16) error // for events of which only the compact form is kept
	touch     func(frames []frame, source uint16)           // is told of them some before; nil where that is of no use
}

// A run is an open buffer; stamp is that of its next event.
type run struct {
	stamp int64
	*block
}

func (m *merge) run(ctx context.Context) error {
	for n := 0; ; n++ {
		if n&0x3FF == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := m.openDue(ctx); err != nil {
			return err
		}
		if len(m.open) == 0 {
			return nil
		}
		if err := m.deliver(); err != nil {
			return err
		}
	}
}

// openDue opens the buffers that may hold the next event.
func (m *merge) openDue(ctx context.Context) error {
	for refs := m.trace.refs; m.next < len(refs); m.next++ {
		if len(m.open) > 0 && (refs[m.next].first-m.slack > m.open[0].stamp && !m.early() || m.held > maxOpen) {
			return nil
		}
		b, err := m.ahead.take(ctx)
		if err != nil {
			return err
		}
		m.pass.note(b)
		if len(b.frames) == 0 {
			m.ahead.recycle(b)
			continue
		}
		m.held += b.size()
		m.push(b)
	}
	return nil
}

// early reports whether a buffer should be opened before it is due. Where CPUs share buffers, an event may lie one
// buffer later than its time says.
func (m *merge) early() bool {
	const shared = 3
	return m.slack > 0 && len(m.open) < shared
}

// deliver passes on the next event, and those behind it that no other buffer may precede.
func (m *merge) deliver() error {
	b := m.open[0].block
	bound := int64(1<<63 - 1)
	for _, child := range m.open[1:min(3, len(m.open))] {
		bound = min(bound, child.stamp)
	}
	if m.next < len(m.trace.refs) {
		bound = min(bound, m.trace.refs[m.next].first-m.slack)
	}
	e := &m.event
	e.CPU, e.Logger, e.SourceIndex, e.worker = b.ref.cpu, b.ref.logger, b.ref.source, b.worker
	for first := true; b.at < len(b.frames); first = false {
		f := &b.frames[b.at]
		if !first && f.stamp >= bound {
			m.open[0].stamp = f.stamp
			m.down(0)
			return nil
		}
		if b.at%together == 0 && m.touch != nil {
			m.touch(b.frames[b.at:], e.SourceIndex)
		}
		b.at++
		if f.stamp < m.last {
			m.pass.losses[b.ref.source].Disordered++
		} else {
			m.last = f.stamp
		}
		m.pass.cover(m.last)
		at := m.trace.clock.ns(m.last)
		if f.offset == eventOnly {
			if err := m.onCompact(f, at, e.SourceIndex); err != nil {
				return err
			}
			continue
		}
		e.fill(*f, b.body[f.offset:f.offset+uint32(f.size)])
		e.Time = at
		if err := m.fn(e); err != nil {
			return err
		}
	}
	m.pop()
	m.held -= b.size()
	m.ahead.recycle(b)
	return nil
}

func (a *run) before(b *run) bool {
	if a.stamp != b.stamp {
		return a.stamp < b.stamp
	}
	return a.ref.compare(b.ref) < 0
}

func (m *merge) push(b *block) {
	m.open = append(m.open, run{b.frames[0].stamp, b})
	for i := len(m.open) - 1; i > 0; {
		parent := (i - 1) / 2
		if !m.open[i].before(&m.open[parent]) {
			return
		}
		m.open[i], m.open[parent] = m.open[parent], m.open[i]
		i = parent
	}
}

// pop removes the run at the top.
func (m *merge) pop() {
	n := len(m.open) - 1
	m.open[0] = m.open[n]
	m.open[n] = run{}
	m.open = m.open[:n]
	m.down(0)
}

func (m *merge) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m.open); child++ {
			if m.open[child].before(&m.open[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		m.open[i], m.open[least] = m.open[least], m.open[i]
		i = least
	}
}
