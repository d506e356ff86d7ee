package livesnapshot

import (
	"errors"
	"fmt"
	"testing"

	"heapdrift/ingest/minidump"
)

// A smallSpace is an address space whose bytes are their page's number. now is what the system says of its regions when
// they are read.
type smallSpace struct{ now []minidump.Region }

func (s smallSpace) region(addr uint64) (minidump.Region, error) {
	for _, r := range s.now {
		if addr-r.Base < r.Size {
			return r, nil
		}
	}
	return minidump.Region{}, errEnd
}

func (s smallSpace) Query(addr uint64) (minidump.Region, error) { return s.region(addr) }

func (s smallSpace) ReadMemory(p []byte, addr uint64) (n int, err error) {
	for n < len(p) {
		at := addr + uint64(n)
		if r, err := s.region(at); err != nil || !isReadable(r) || r.AllocationProtect == minidump.PageNoAccess {
			return n, errors.New("partial copy")
		}
		p[n] = byte(at / pageBytes)
		n++
	}
	return n, nil
}

func committed(base, pages uint64) minidump.Region {
	return minidump.Region{Base: base, Size: pages * pageBytes, State: minidump.MemCommit, Protect: minidump.PageReadWrite}
}

// Reads give what is there, whether they go through pages or not, and count as lost only what was asked for and is not
// readable: a range that has changed since it was listed, or one that the system does not let be read.
func TestLostMemory(t *testing.T) {
	const base = 0x1_0000
	listed := []minidump.Region{committed(base, 2), committed(base+2*pageBytes, 2)}
	protected, freed, refused := committed(base+2*pageBytes, 2), committed(base+2*pageBytes, 2), committed(base+2*pageBytes, 2)
	protected.Protect = minidump.PageNoAccess
	freed.State = minidump.MemFree
	refused.AllocationProtect = minidump.PageNoAccess // smallSpace gives an error for it
	for _, test := range []struct {
		name             string
		second           []minidump.Region // what has become of the second range
		addr, size       uint64
		read             int
		vanished, unread int64
	}{
		{"all there", listed[1:], base + 10, 100, 100, 0, 0},
		{"across pages", listed[1:], base + pageBytes - 10, 100, 100, 0, 0},
		{"across ranges", listed[1:], base + 2*pageBytes - 10, 100, 100, 0, 0},
		{"behind all", listed[1:], base + 4*pageBytes - 10, 100, 10, 0, 0},
		{"up to a lost page", []minidump.Region{freed}, base + 2*pageBytes - 100, 100, 100, 0, 0},
		{"large, up to a lost page", []minidump.Region{freed}, base, 2 * pageBytes, 2 * pageBytes, 0, 0},
		{"freed", []minidump.Region{freed}, base + 2*pageBytes - 10, 100, 10, 1, 0},
		{"unmapped", nil, base + 2*pageBytes - 10, 100, 10, 1, 0},
		{"protected", []minidump.Region{protected}, base + 2*pageBytes - 10, 100, 10, 1, 0},
		{"refused", []minidump.Region{refused}, base + 2*pageBytes - 10, 100, 10, 0, 1},
		{"large and refused", []minidump.Region{refused}, base, 3 * pageBytes, 2 * pageBytes, 0, 1},
		{"of one page to the limit of small reads", listed[1:], base, smallRead, smallRead, 0, 0},
		{"one more than small reads", listed[1:], base, smallRead + 1, smallRead + 1, 0, 0},
	} {
		for _, steady := range []bool{true, false} {
			m := newMemory(t.Context(), smallSpace{append([]minidump.Region{listed[0]}, test.second...)}, steady, listed, &pause{})
			b := make([]byte, test.size)
			for range 2 { // read again, nothing is lost twice
				n, err := m.ReadMemory(b, test.addr)
				if n != test.read || (err == nil) != (n == len(b)) {
					t.Errorf("%s, steady %t: %d bytes, %v", test.name, steady, n, err)
				}
			}
			for i := range b[:test.read] {
				if b[i] != byte((test.addr+uint64(i))/pageBytes) {
					t.Errorf("%s, steady %t: byte %d is of page %#x", test.name, steady, i, b[i])
					break
				}
			}
			if vanished, unread := m.losses(); vanished != test.vanished || unread != test.unread {
				t.Errorf("%s, steady %t: %d vanished, %d unread", test.name, steady, vanished, unread)
			}
		}
	}
}

// Small reads of a process that does not change cost one call of the system for each page.
func TestSmallReadsShareACall(t *testing.T) {
	const base = 0x1_0000
	for name, test := range map[string]struct {
		steady bool
		size   uint64
		calls  int64
	}{"of a clone": {true, smallRead, 2}, "of what changes": {false, smallRead, 16}, "large ones": {true, smallRead + 1, 15}} {
		m := newMemory(t.Context(), smallSpace{[]minidump.Region{committed(base, 2)}}, test.steady, []minidump.Region{committed(base, 2)}, &pause{})
		for at := uint64(0); at+test.size <= 2*pageBytes; at += test.size {
			if _, err := m.ReadMemory(make([]byte, test.size), base+at); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if got := m.reads.Load(); got != test.calls {
			t.Errorf("%s: %d calls, want %d", name, got, test.calls)
		}
	}
}

// How much of a stretch was there when the regions were listed.
func TestPresentMemory(t *testing.T) {
	const base = 0x1_0000
	hole := committed(base+pageBytes, 1)
	hole.State = minidump.MemReserve
	m := newMemory(t.Context(), smallSpace{}, true, []minidump.Region{committed(base, 1), hole, committed(base+2*pageBytes, 1)}, &pause{})
	for _, test := range []struct{ addr, size, want uint64 }{
		{base, pageBytes, pageBytes}, {base - 10, 10, 0}, {base - 10, 11, 1}, {base + 10, 3 * pageBytes, 2*pageBytes - 10},
		{base + pageBytes, pageBytes, 0}, {base + pageBytes - 1, pageBytes + 1, 1}, {base + pageBytes - 1, pageBytes + 2, 2},
		{base + 3*pageBytes, pageBytes, 0}, {base, 0, 0},
	} {
		t.Run(fmt.Sprintf("%#x+%#x", test.addr, test.size), func(t *testing.T) {
			if got := m.PresentBytes(test.addr, test.size); got != test.want {
				t.Errorf("%#x bytes, want %#x", got, test.want)
			}
		})
	}
}
