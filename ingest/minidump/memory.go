package minidump

import "sort"

// A Range is Size bytes of memory from Address on that the dump holds.
type Range struct {
	Address, Size uint64
	offset        int64 // in the file
}

// Memory is the memory of the process as far as the dump holds it. It may be used by several goroutines.
type Memory struct {
	src     *source
	ranges  []Range
	missing int64
	lost    []Range
	pages   pages
}

// Ranges are the ranges that can be read, by address; none overlap. Neighbours that the dump lists apart stay apart.
func (m *Memory) Ranges() []Range { return m.ranges }

// MissingBytes is how many bytes of memory the dump lists and does not have, as it is cut short.
func (m *Memory) MissingBytes() int64 { return m.missing }

// MissingRanges are where that memory was, by address, neighbours as one; of the first 65536 ranges that are missing.
func (m *Memory) MissingRanges() []Range { return m.lost }

// PresentBytes is how many of the size bytes from an address on the dump has.
func (m *Memory) PresentBytes(addr, size uint64) (n uint64) {
	i := sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].Address+(m.ranges[i].Size-1) >= addr })
	for ; i < len(m.ranges); i++ {
		r := &m.ranges[i]
		into := max(addr, r.Address) - r.Address // which is in it
		before := r.Address - min(addr, r.Address)
		if before >= size {
			break
		}
		n += min(r.Size-into, size-before)
	}
	return n
}

// ReadMemory reads memory from an address on, across ranges that are neighbours. Where the dump has less than p has
// room for, it returns how much it read and a *MissingError with the first address that is missing. Other errors are
// those of the file.
func (m *Memory) ReadMemory(p []byte, addr uint64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	i := m.find(addr)
	if i < 0 {
		return 0, &MissingError{addr}
	}
	done := 0
	for {
		r := m.ranges[i]
		into := addr - r.Address
		n, at := r.Size-into, r.offset+int64(into)
		want := uint64(len(p) - done)
		// Ranges that follow each other in the file as well are read at once.
		for ; n < want && i+1 < len(m.ranges); i++ {
			next := m.ranges[i+1]
			if next.Address != addr+n || next.offset != at+int64(n) {
				break
			}
			n += next.Size
		}
		n = min(n, want)
		if err := m.read(p[done:done+int(n)], at); err != nil {
			return done, &Problem{Code: CodeReadFailed, Entry: -1, Offset: at, Count: 1,
				Message: "reading the dump failed", Err: err}
		}
		done += int(n)
		if done == len(p) {
			return done, nil
		}
		addr += n
		if i++; i == len(m.ranges) || m.ranges[i].Address != addr {
			return done, &MissingError{addr}
		}
	}
}

// find is the number of the range that an address lies in, or −1.
func (m *Memory) find(addr uint64) int {
	i := sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].Address > addr }) - 1
	if i < 0 || addr-m.ranges[i].Address >= m.ranges[i].Size {
		return -1
	}
	return i
}

// read reads from the file, what is small from pages that were read before.
func (m *Memory) read(p []byte, at int64) error {
	if len(p) <= smallRead {
		return m.pages.read(m.src, p, at)
	}
	return m.src.read(p, at)
}
