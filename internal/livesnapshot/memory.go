package livesnapshot

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"sync"
	"sync/atomic"

	"heapdrift/ingest/minidump"
)

// pageBytes is the size of a page of memory.
const pageBytes = 4096

// errCut says that the limit of the pause ended the reading of heaps.
var errCut = errors.New("livesnapshot: the pause limit was reached")

// A memory reads the committed pages of a process or its clone. It is safe for concurrent use.
type memory struct {
	ctx    context.Context // that of Take, during which it is used
	from   space
	steady bool // from is a clone
	pause  *pause
	ranges []minidump.Range // of pages that may be read
	pages  pages

	bytes, reads atomic.Int64
	mu           sync.Mutex
	lost         map[int]bool // by number of the range: whether it had changed
}

func newMemory(ctx context.Context, from space, steady bool, regions []minidump.Region, p *pause) *memory {
	m := &memory{ctx: ctx, from: from, steady: steady, pause: p, lost: map[int]bool{}}
	for _, r := range regions {
		if isReadable(r) {
			m.ranges = append(m.ranges, minidump.Range{Address: r.Base, Size: r.Size})
		}
	}
	return m
}

func isReadable(r minidump.Region) bool { return r.State == minidump.MemCommit && r.Protect.Readable() }

// Ranges are the committed regions that may be read.
func (m *memory) Ranges() []minidump.Range { return m.ranges }

// MissingBytes is 0: what a process does not have is not missing.
func (m *memory) MissingBytes() int64 { return 0 }

// PresentBytes is how many of the size bytes from addr on were there when the regions were listed.
func (m *memory) PresentBytes(addr, size uint64) (n uint64) {
	i := m.find(addr)
	for ; i < len(m.ranges); i++ {
		r := &m.ranges[i]
		into, before := max(addr, r.Address)-r.Address, r.Address-min(addr, r.Address)
		if before >= size {
			break
		}
		n += min(r.Size-into, size-before)
	}
	return n
}

// ReadMemory reads as much of p as is there from an address on.
func (m *memory) ReadMemory(p []byte, addr uint64) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, fmt.Errorf("livesnapshot: %w", context.Cause(m.ctx))
	}
	if len(p) == 0 {
		return 0, nil
	}
	i := m.find(addr)
	if i == len(m.ranges) || m.ranges[i].Address > addr {
		return 0, &minidump.MissingError{Address: addr}
	}
	room := m.ranges[i].Size - (addr - m.ranges[i].Address)
	for k := i + 1; room < uint64(len(p)) && k < len(m.ranges) && m.ranges[k].Address == addr+room; k++ {
		room += m.ranges[k].Size
	}
	want := p[:min(room, uint64(len(p)))]
	if !m.pause.enter() {
		return 0, errCut
	}
	defer m.pause.leave()
	n := 0
	if len(want) <= smallRead && (m.steady || m.pause.isSuspended()) {
		n = m.small(want, addr)
	} else {
		n = m.read(want, addr)
	}
	if n < len(p) {
		return n, &minidump.MissingError{Address: addr + uint64(n)}
	}
	return n, nil
}

// find is the number of the first range that ends behind an address.
func (m *memory) find(addr uint64) int {
	return sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].Address+(m.ranges[i].Size-1) >= addr })
}

// read reads from the process: at once, and where that fails page by page up to the first that cannot be read. It is
// called inside the pause.
func (m *memory) read(p []byte, addr uint64) int {
	n := m.piece(p, addr)
	if n == len(p) {
		return n
	}
	for n < len(p) {
		page := p[n:min(len(p), n+int(pageBytes-(addr+uint64(n))%pageBytes))]
		got := m.piece(page, addr+uint64(n))
		if n += got; got < len(page) {
			m.lose(addr + uint64(n))
			break
		}
	}
	return n
}

// piece is one call of the system, whose answer is not believed.
func (m *memory) piece(p []byte, addr uint64) int {
	n, _ := m.from.ReadMemory(p, addr) // what came is judged by its length
	n = min(max(n, 0), len(p))
	m.reads.Add(1)
	m.bytes.Add(int64(n))
	return n
}

// lose counts the range that an address lies in as one that cannot be read.
func (m *memory) lose(addr uint64) {
	i := m.find(addr)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, counted := m.lost[i]; counted {
		return
	}
	r, err := m.from.Query(addr)
	m.lost[i] = err != nil || !isReadable(r)
}

// losses counts the ranges that could not be read: those that had changed, and others.
func (m *memory) losses() (vanished, unread int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, hasChanged := range m.lost {
		if hasChanged {
			vanished++
		} else {
			unread++
		}
	}
	return vanished, unread
}
