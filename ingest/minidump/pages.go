package minidump

import "sync"

const (
	// smallRead is how large a read may be to be served from pages: structures and links of lists, not blocks.
	smallRead = 512
	pageSize  = 4 << 10
	pageSlots = 2048 // 8 MB, if all are used
)

// pages keep parts of the file for small reads. Following a list makes thousands of reads, many of them close to each
// other, and one access to the file costs as much as ten reads from a page. A page has one slot, and the next page with
// this slot replaces it.
type pages struct {
	once  sync.Once
	slots []pageSlot
}

type pageSlot struct {
	mu     sync.Mutex
	number int64 // of the page in the file, plus 1; 0 is none
	length int
	bytes  *[pageSize]byte // nil until the slot is first used
}

// read fills p from an offset; p must lie inside the file.
func (c *pages) read(src *source, p []byte, at int64) error {
	if err := src.ctx.Err(); err != nil {
		return err
	}
	c.once.Do(func() { c.slots = make([]pageSlot, pageSlots) })
	for len(p) > 0 {
		n, err := c.part(src, p, at)
		if err != nil {
			return err
		}
		p, at = p[n:], at+int64(n)
	}
	return nil
}

// part reads what one page has of p.
func (c *pages) part(src *source, p []byte, at int64) (int, error) {
	page, into := at/pageSize, int(at%pageSize)
	slot := &c.slots[page%pageSlots]
	slot.mu.Lock()
	defer slot.mu.Unlock()
	if slot.number != page+1 {
		slot.number = 0
		if slot.bytes == nil {
			slot.bytes = new([pageSize]byte)
		}
		length := int(src.room(page*pageSize, pageSize))
		if err := src.read(slot.bytes[:length], page*pageSize); err != nil {
			return 0, err
		}
		slot.number, slot.length = page+1, length
	}
	n := copy(p, slot.bytes[min(into, slot.length):slot.length])
	if n == 0 {
		return 0, errShort
	}
	return n, nil
}
