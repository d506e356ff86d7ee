package ntheaptest

// A madeTrace is an entry of the stack trace database.
type madeTrace struct {
	at     uint64
	number uint16 // 0 for none
	stack  []uint64
}

// firstTrace is where the entries of the database begin, and one entry in oneInNumbered has a number in Vista and
// later.
const (
	firstTrace    = 0x400
	oneInNumbered = 3
)

// makeTraces keeps n stacks, each of up to 32 frames, in the database of stacks, a reservation that begins with where
// it is. Plain entries have the number of frames in Index; those that have a number of their own have that in Index,
// and the number of frames in Depth: all of them before Vista and with page heap.
func (m *maker) makeTraces(n int, stack func(i int) []uint64) {
	v := m.v
	size := v.pick(0x8c, 0x110)
	room := max(8, (firstTrace+uint64(n)*(size+16))/Page+1) * Page
	database := m.reserve(room)
	m.zero(database, room)
	m.p.TraceDatabase = database
	end := database + room
	m.pointer(database+v.pick(0x48, 0x88), database)
	m.pointer(database+v.pick(0x64, 0xb8), end)
	for i := range n {
		t := madeTrace{at: database + firstTrace + uint64(i)*((size+15)&^15), stack: stack(i)}
		index, depth := uint16(len(t.stack)), uint16(0)
		if v.Old() || m.recipe.PageHeap || i%oneInNumbered == 0 && len(m.numbered) < 0xFFFF {
			m.numbered = append(m.numbered, i)
			t.number = uint16(len(m.numbered))
			index, depth = t.number, index
			m.pointer(end-uint64(t.number)*v.width(), t.at) // the array grows downwards
		}
		m.u16(t.at+v.pick(8, 0xc), index)
		m.u16(t.at+v.pick(0xa, 0xe), depth)
		for i, frame := range t.stack {
			m.pointer(t.at+v.pick(0xc, 0x10)+uint64(i)*v.width(), frame)
		}
		m.traces = append(m.traces, t)
	}
}

// randomStack leads through images as no program does.
func (m *maker) randomStack(int) (stack []uint64) {
	for range 1 + m.random.IntN(32) {
		image := m.p.Images[m.random.IntN(len(m.p.Images))]
		stack = append(stack, image.Base+uint64(m.random.Int64N(int64(image.Size))))
	}
	return stack
}

// trace chooses one; some blocks have none.
func (m *maker) trace() madeTrace {
	if !m.recipe.Stacks || m.random.IntN(16) == 0 {
		return madeTrace{}
	}
	return m.traces[m.random.IntN(len(m.traces))]
}

// numberedTrace chooses one that has a number.
func (m *maker) numberedTrace() madeTrace {
	if t := m.trace(); t.at == 0 || t.number != 0 {
		return t
	}
	return m.traces[m.numbered[m.random.IntN(len(m.numbered))]]
}
