package livesnapshot

import "sync"

const (
	// smallRead is how large a read may be to be served from pages.
	smallRead = 512
	pageSlots = 2048 // 8 MB, if all are used
)

// pages keep pages of a process that does not change, for small reads: the stacks of a process are hundreds of
// thousands of reads of some hundred bytes, most close to each other, and a call of the system costs as much as ten.
// A page has one slot, and the next page with this slot replaces it.
type pages struct {
	once  sync.Once
	slots []pageSlot
}

type pageSlot struct {
	mu     sync.Mutex
	number uint64 // of the page, plus 1; 0 is none
	length int    // bytes that could be read
	bytes  *[pageBytes]byte
}

// small reads through the pages.
func (m *memory) small(p []byte, addr uint64) int {
	m.pages.once.Do(func() { m.pages.slots = make([]pageSlot, pageSlots) })
	done := 0
	for done < len(p) {
		n := m.ofPage(p[done:], addr+uint64(done))
		if n == 0 {
			break
		}
		done += n
	}
	return done
}

// ofPage reads what one page has of p.
func (m *memory) ofPage(p []byte, addr uint64) int {
	page, into := addr/pageBytes, addr%pageBytes
	slot := &m.pages.slots[page%pageSlots]
	slot.mu.Lock()
	defer slot.mu.Unlock()
	if slot.number != page+1 {
		if slot.bytes == nil {
			slot.bytes = new([pageBytes]byte)
		}
		slot.length, slot.number = m.piece(slot.bytes[:], page*pageBytes), page+1
		if slot.length < pageBytes {
			m.lose(page*pageBytes + uint64(slot.length))
		}
	}
	return copy(p, slot.bytes[min(int(into), slot.length):slot.length])
}
