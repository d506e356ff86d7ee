package ntheaptest

// A madeTrace is an entry of the stack trace database.
type madeTrace struct {
	at     uint64
	number uint16
	stack  []uint64
}

// makeTraces makes n stacks. The number of frames is in Index, before Vista and with page heap in Depth; the other has something
// that is no number of frames.
func (m *maker) makeTraces(n int) {
	v := m.v
	size := v.pick(0x8c, 0x110)
	const room = 8 * Page
	database := m.reserve(room)
	m.zero(database, room)
	entries := database + 0x400
	for i := range n {
		t := madeTrace{at: entries + uint64(i)*((size+15)&^15), number: uint16(i + 1)}
		for range 1 + m.random.IntN(32) {
			image := m.p.Images[m.random.IntN(len(m.p.Images))]
			t.stack = append(t.stack, image.Base+uint64(m.random.Int64N(int64(image.Size))))
		}
		depth, other := v.pick(8, 0xc), v.pick(0xa, 0xe)
		if v.Old() || m.recipe.PageHeap {
			depth, other = other, depth
		}
		m.u16(t.at+depth, uint16(len(t.stack)))
		m.u16(t.at+other, uint16(0x1234+i))
		for i, frame := range t.stack {
			m.pointer(t.at+v.pick(0xc, 0x10)+uint64(i)*v.width(), frame)
		}
		m.traces = append(m.traces, t)
	}
	if v.Old() { // an array that grows downwards leads from numbers to traces
		end := database + room
		for _, t := range m.traces {
			m.pointer(end-uint64(t.number)*v.width(), t.at)
		}
		m.pointer(database+v.pick(0x64, 0xb8), end)
		variable := m.p.Images[1].Base + m.p.Images[1].Size - Page
		m.zero(variable, Page)
		m.pointer(variable+0x40, database)
		m.p.TraceDatabase = variable + 0x40
	}
}

// trace chooses one; some blocks have none.
func (m *maker) trace() madeTrace {
	if !m.recipe.Stacks || m.random.IntN(16) == 0 {
		return madeTrace{}
	}
	return m.traces[m.random.IntN(len(m.traces))]
}
