package ntheap

import (
	"encoding/binary"
	"testing"
)

// A blockCase is a place in a heap and what is in it.
type blockCase struct {
	name    string
	bits    int
	build   uint32
	stacks  bool // the process keeps them
	place   Area
	size    uint64 // of the place
	flags   uint8
	unused  uint8
	virtual uint16 // Size of the entry of a virtual block
	memory  words  // by offset from the entry
	want    Block  // its address is an offset
	odd     int64
	unread  int64
	gaps    int
}

// caseAt is where the entry lies, and caseTraces where the array of numbered stacks ends.
const caseAt, caseTraces = 0x10000, 0x90000

// prefix64 is a prefix at offset 0x10 that leads to trace 0x7777, with a number of unused bytes.
func prefix64(unused uint64) words {
	return words{0x10: 0x7777, 0x18: 0, 0x20: 0, 0x28: 1 | unused<<32 | 2<<48 | 5<<56}
}

func (m words) with(at, value uint64) words {
	m[at] = value
	return m
}

// TestBlockRules reads blocks of 64-bit and 32-bit heaps from what stands in their entries, before them, in them and
// behind them.
func TestBlockRules(t *testing.T) {
	for _, test := range []blockCase{
		{"plain", 64, 19045, false, Backend, 0x40, 1, 9, 0, words{}, Block{0x10, 0x37, 9, 0, Backend}, 0, 0, 0},
		{"the most that an entry can say", 64, 19045, false, Backend, 0x40, 1, 0x3E, 0, words{},
			Block{0x10, 2, 0x3E, 0, Backend}, 0, 0, 0},
		{"0 bytes", 64, 19045, false, Backend, 0x20, 1, 0x20, 0, words{}, Block{0x10, 0, 0x20, 0, Backend}, 0, 0, 0},
		{"more unused than there is", 64, 19045, false, Backend, 0x20, 1, 0x21, 0, words{},
			Block{0x10, 0x10, 0x10, 0, Backend}, 1, 0, 0},
		{"unused behind it", 64, 19045, false, Backend, 0x100, 1, 0x3F, 0, words{0x100: 0x7FFF_0055, 0xF8: 0x44 << 32},
			Block{0x10, 0xAB, 0x55, 0, Backend}, 0, 0, 0},
		{"unused behind it, all of it", 64, 19045, false, Backend, 0x100, 1, 0x3F, 0, words{0x100: 0x100},
			Block{0x10, 0, 0x100, 0, Backend}, 0, 0, 0},
		{"unused behind it, too many", 64, 19045, false, Backend, 0x100, 1, 0x3F, 0, words{0x100: 0x101},
			Block{0x10, 0xF0, 0x10, 0, Backend}, 1, 0, 0},
		{"unused behind it, not there", 64, 19045, false, Backend, 0x100, 1, 0x3F, 0, words{},
			Block{0x10, 0xC1, 0x3F, 0, Backend}, 0, 1, 0},
		{"unused at its end", 32, 19045, false, Backend, 0x100, 1, 0x3F, 0, words{0xF8: 0x44_0055 << 32, 0x100: 0x44},
			Block{8, 0xAB, 0x55, 0, Backend}, 0, 0, 0},
		{"unused at its end, LFH", 32, 9600, false, LFH, 0x100, 0, 0xBF, 0, words{0xF8: 0x60 << 32, 0x100: 0x44},
			Block{8, 0xA0, 0x60, 0, LFH}, 0, 0, 0},
		{"prefix", 64, 19045, true, Backend, 0x100, 1, 0x42, 0, prefix64(0x48),
			Block{0x30, 0xB8, 0x48, 0x7777, Backend}, 0, 0, 0},
		{"prefix, LFH", 64, 19045, true, LFH, 0x100, 0, 0xC2, 0, prefix64(0x48),
			Block{0x30, 0xB8, 0x48, 0x7777, LFH}, 0, 0, 0},
		{"prefix, and stacks are said to be off", 64, 19045, false, Backend, 0x100, 1, 0x42, 0, prefix64(0x48),
			Block{0x30, 0xB8, 0x48, 0x7777, Backend}, 0, 0, 0},
		{"prefix without a trace", 64, 19045, true, Backend, 0x100, 1, 0x42, 0, prefix64(0x48).with(0x10, noTrace64),
			Block{0x30, 0xB8, 0x48, 0, Backend}, 0, 0, 0},
		{"prefix, 0 bytes", 64, 19045, true, Backend, 0x30, 1, 0x42, 0, prefix64(0x30),
			Block{0x30, 0, 0x30, 0x7777, Backend}, 0, 0, 0},
		{"stale prefix", 64, 19045, true, Backend, 0x100, 1, 9, 0, prefix64(0x48), Block{0x10, 0xF7, 9, 0, Backend}, 0, 0, 0},
		{"stale prefix, LFH", 64, 19045, true, LFH, 0x100, 0, 0x89, 0, prefix64(0x48), Block{0x10, 0xF7, 9, 0, LFH}, 0, 0, 0},
		{"bit without a prefix", 64, 19045, true, Backend, 0x100, 1, 0x42, 0, prefix64(0x48).with(0x28, 0),
			Block{0x10, 0xF0, 0x10, 0, Backend}, 1, 0, 0},
		{"bit without room for a prefix", 64, 19045, true, Backend, 0x20, 1, 0x42, 0, prefix64(8),
			Block{0x10, 0x10, 0x10, 0, Backend}, 1, 0, 0},
		{"prefix that is not there", 64, 19045, true, Backend, 0x100, 1, 0x42, 0, words{}, Block{}, 0, 0, 1},
		{"value", 64, 19045, true, Backend, 0x100, 3, 0x18, 0, words{0xF0: 2},
			Block{0x10, 0xE8, 0x18, 0x8888, Backend}, 0, 0, 0},
		{"value, and no stacks", 64, 19045, false, Backend, 0x100, 3, 0x18, 0, words{0xF0: 2},
			Block{0x10, 0xE8, 0x18, 0, Backend}, 0, 0, 0},
		{"value, and a number of none", 64, 19045, true, Backend, 0x100, 3, 0x18, 0, words{0xF0: 0},
			Block{0x10, 0xE8, 0x18, 0, Backend}, 0, 0, 0},
		{"value, 32 bits", 32, 19045, true, Backend, 0x100, 3, 0x10, 0, words{0xF8: 4},
			Block{8, 0xF0, 0x10, 0x8888, Backend}, 0, 0, 0},
		{"value that is not there", 64, 19045, true, Backend, 0x100, 3, 0x18, 0, words{},
			Block{0x10, 0xE8, 0x18, 0, Backend}, 0, 1, 0},
		{"XP", 32, 2600, true, Backend, 0x100, 3, 0x10, 0, words{0xF8: 4}, Block{8, 0xF0, 0x10, 0x8888, Backend}, 0, 0, 0},
		{"XP, unused at its end", 32, 2600, false, Backend, 0x400, 1, 0xFF, 0, words{0x3F8: 0x123 << 32},
			Block{8, 0x2DD, 0x123, 0, Backend}, 0, 0, 0},
		{"XP, LFH, of which ntdll takes a byte", 32, 2600, false, LFH, 0x400, 1, 0xFF, 0, words{0x3F8: 0x1FF << 32},
			Block{8, 0x301, 0xFF, 0, LFH}, 0, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) { checkBlock(t, &test) })
	}
}

// TestVirtualBlockRules reads virtual blocks, whose entry has the number of unused bytes, and no bit for a prefix.
func TestVirtualBlockRules(t *testing.T) {
	const commit, beforeEntry = 0x8_0000, 1<<64 - 0x20 // the number is behind the link
	for _, test := range []blockCase{
		{"plain", 64, 19045, false, Virtual, commit, 1, 4, 0x123, words{},
			Block{0x40, commit - 0x123, 0x123, 0, Virtual}, 0, 0, 0},
		{"prefix", 64, 19045, true, Virtual, commit, 1, 4, 0x123, prefix64(0x143),
			Block{0x60, commit - 0x123, 0x123, 0x7777, Virtual}, 0, 0, 0},
		{"stale prefix", 64, 19045, true, Virtual, commit, 1, 4, 0x123, prefix64(0x123),
			Block{0x40, commit - 0x123, 0x123, 0, Virtual}, 0, 0, 0},
		{"value", 64, 19045, true, Virtual, commit, 3, 4, 0x123, words{beforeEntry: 2},
			Block{0x40, commit - 0x123, 0x123, 0x8888, Virtual}, 0, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) { checkBlock(t, &test) })
	}
}

// checkBlock walks one block. With 64 bits number 2 leads to trace 0x8888, with 32 bits number 4 does.
func checkBlock(t *testing.T, test *blockCase) {
	t.Helper()
	m := words{caseTraces - 16: 0x8888}
	at := uint64(caseAt)
	for offset, v := range test.memory {
		if test.place == Virtual {
			offset += 0x30 // the entry follows a link and two sizes
		}
		m[at+offset] = v
	}
	layout, missing := newNTLayout(choices(&Process{Bits: test.bits}, test.build)[0], test.bits == 64)
	if missing != "" {
		t.Fatal(missing)
	}
	var got []Block
	w := &walk{
		ctx: t.Context(), heaps: &SideHeaps{StackTraces: test.stacks, indexEnd: caseTraces, stacks: newTraces(test.bits == 64)},
		heap: &Heap{}, out: &WalkResult{},
		near: newWindow(m, test.bits == 64, randomWindow), seq: newWindow(m, test.bits == 64, sequentialWindow),
		visit: func(b Block) error { b.Address -= at; got = append(got, b); return nil },
	}
	n := &ntWalk{walk: w, ntHeap: &ntHeap{layout: layout}}
	e := entry{size: test.virtual, flags: test.flags, unused: test.unused}
	var err error
	switch {
	case test.place == LFH && !layout.old:
		err = (&lfhWalk{ntWalk: n}).lfhBlock(at, test.size, test.unused)
	case test.place == Virtual:
		m[at+0x20], m[at+0x28] = test.size, test.size
		m[at+0x38] = binary.LittleEndian.Uint64([]byte{byte(e.size), byte(e.size >> 8), e.flags, 0, 0, 0, 0, e.unused})
		err = n.virtualBlock(at)
	default:
		err = n.block(at, test.size, e, test.place)
	}
	if err != nil || n.odd.n != test.odd || n.unread.n != test.unread || len(n.out.Gaps) != test.gaps {
		t.Errorf("%v, %d odd, %d not read, gaps %v", err, n.odd.n, n.unread.n, n.out.Gaps)
	}
	if len(got)+test.gaps != 1 || test.gaps == 0 && got[0] != test.want {
		t.Errorf("%+v, want %+v", got, test.want)
	}
}
