package ntheap

import (
	"slices"
	"testing"
)

// flatMemory is memory in one piece.
type flatMemory struct {
	base  uint64
	bytes []byte
}

func (m flatMemory) ReadMemory(p []byte, addr uint64) (int, error) {
	if addr-m.base >= uint64(len(m.bytes)) {
		return 0, errNoWord
	}
	return copy(p, m.bytes[addr-m.base:]), nil
}

// A zone of subsegments is read as far as it says that it is used, one more where it counts, and never behind the
// memory that is there: a damaged zone does not make the walk look through the process.
func TestZone(t *testing.T) {
	const base, size = 0x10_0000, 0x20
	fits := func(n int) []byte { return make([]byte, n) }
	for _, test := range []struct {
		name    string
		indexed bool
		memory  []byte
		says    uint64
		want    int
	}{
		{"empty", false, fits(0x1000), base + 0x40, 0},
		{"one", false, fits(0x1000), base + 0x40 + size, 1},
		{"three", false, fits(0x1000), base + 0x40 + 3*size, 3},
		{"half of a fourth", false, fits(0x1000), base + 0x40 + 3*size + size/2, 3},
		{"end before the beginning", false, fits(0x1000), base + 0x20, 0},
		{"end of no zone", false, fits(0x1000), 0, 0},
		{"end behind the memory", false, fits(0x1000), ^uint64(0), (0x1000 - 0x40) / size},
		{"end of a large memory", false, fits(0x10_0000), ^uint64(0), mostSubsegments},
		{"no memory", false, nil, 0, 0},
		{"counts none", true, fits(0x1000), 0, 1},
		{"counts two", true, fits(0x1000), 2, 3},
		{"counts what no zone has", true, fits(0x10_0000), 1<<32 - 1, mostSubsegments},
		{"counts behind the memory", true, fits(0x60), 9, 1},
	} {
		if len(test.memory) > 0 {
			for i := range 8 {
				test.memory[0x10+i] = byte(test.says >> (8 * i))
			}
		}
		h := &ntHeap{layout: &ntLayout{lfh: &lfhLayout{zoneFree: 0x10, zoneNextIndex: 0x10, zoneSubsegment: 0x40,
			indexed: test.indexed, subsegmentSize: size}}}
		got := slices.Collect(h.zone(newWindow(flatMemory{base, test.memory}, true, randomWindow), base))
		for i, at := range got {
			if at != base+0x40+uint64(i)*size {
				t.Errorf("%s: subsegment %d at %#x", test.name, i, at)
			}
		}
		if len(got) != test.want {
			t.Errorf("%s: %d subsegments, want %d", test.name, len(got), test.want)
		}
	}
}

// A subsegment is in use where its container is there, has the signature and leads back; any of them missing makes it
// none.
func TestSubsegmentInUse(t *testing.T) {
	const base, container = 0x10_0000, 0x10_0100
	put := func(b []byte, value uint64, n int) {
		for i := range n {
			b[i] = byte(value >> (8 * i))
		}
	}
	for _, test := range []struct {
		name                             string
		container, size, count, sign, up uint64
		short                            int // bytes that are missing at the end of the memory
		want                             bool
	}{
		{"in use", container, 3, 1, containerSignature, base, 0, true},
		{"no container", 0, 3, 1, containerSignature, base, 0, false},
		{"container elsewhere", 0x5000_0000, 3, 1, containerSignature, base, 0, false},
		{"blocks without size", container, 0, 1, containerSignature, base, 0, false},
		{"no blocks", container, 3, 0, containerSignature, base, 0, false},
		{"no signature", container, 3, 1, containerSignature ^ 1, base, 0, false},
		{"container of another", container, 3, 1, containerSignature, base + 0x40, 0, false},
		{"signature cut off", container, 3, 1, containerSignature, base, 4, false},
	} {
		b := make([]byte, 0x110)
		put(b[0x00:], test.container, 8)
		put(b[0x08:], test.size, 2)
		put(b[0x0a:], test.count, 2)
		put(b[0x100:], test.up, 8)
		put(b[0x10c:], test.sign, 4)
		h := &ntHeap{layout: &ntLayout{lfh: &lfhLayout{userBlocks: 0, blockSize: 8, blockCount: 10, headerSubsegment: 0,
			headerSignature: 0xc}}}
		s, ok := h.subsegment(newWindow(flatMemory{base, b[:len(b)-test.short]}, true, randomWindow), base)
		if ok != test.want || ok && (s != subsegment{container: container, at: base, blockSize: 3, count: 1}) {
			t.Errorf("%s: %+v, %t", test.name, s, ok)
		}
	}
}

// Where blocks begin in a container is believed on a multiple of 8, behind the header and inside its first page.
func TestPlausibleFirstBlock(t *testing.T) {
	layout := &lfhLayout{headerOffsets: 0x18, headerFirst: 0x10}
	for first, want := range map[uint64]bool{0: false, 0x10: false, 0x18: false, 0x1c: false, 0x20: true, 0x24: false,
		pageSize - 8: true, pageSize: true, pageSize + 8: false} {
		if layout.plausible(first) != want {
			t.Errorf("%#x is plausible: %t", first, !want)
		}
	}
}
