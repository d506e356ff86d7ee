package minidump_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"heapdrift/ingest/minidump"
	"heapdrift/ingest/minidump/minidumptest"
)

func TestReadMemory(t *testing.T) {
	d := open(t, minidumptest.Dump{Memory: []minidumptest.Memory{
		{Address: 0x3000, Bytes: []byte("third")},
		{Address: 0x1000, Bytes: []byte("first")},
		{Address: 0x1005, Bytes: []byte("second")},
		{Address: 0xFFFFFFFFFFFFFFFC, Bytes: []byte("last")},
	}}.Bytes())
	for _, c := range []struct {
		at, missing uint64 // missing 0: nothing
		n           int
		want        string
	}{
		{0x1000, 0, 5, "first"},
		{0x1002, 0, 6, "rstsec"},
		{0x1000, 0, 11, "firstsecond"},
		{0x1004, 0x100B, 20, "tsecond"},
		{0x0FFF, 0x0FFF, 4, ""},
		{0x100B, 0x100B, 1, ""},
		{0x3001, 0x3005, 5, "hird"},
		{0x5000, 0x5000, 0, ""},
		{0xFFFFFFFFFFFFFFFD, 0, 3, "ast"},
	} {
		p := make([]byte, c.n)
		n, err := d.Memory().ReadMemory(p, c.at)
		var missing *minidump.MissingError
		if c.missing != 0 && c.n > 0 {
			if !errors.As(err, &missing) || missing.Address != c.missing {
				t.Errorf("%#x+%d: %v", c.at, c.n, err)
			}
		} else if err != nil {
			t.Errorf("%#x+%d: %v", c.at, c.n, err)
		}
		if string(p[:n]) != c.want {
			t.Errorf("%#x+%d: got %q", c.at, c.n, p[:n])
		}
	}
	var missing *minidump.MissingError
	if n, err := d.Memory().ReadMemory(make([]byte, 8), 0xFFFFFFFFFFFFFFFE); n != 2 ||
		!errors.As(err, &missing) || missing.Address != 0 {
		t.Errorf("beyond the last address: %d, %v", n, err)
	}
}

// For any ranges of a dump in any order, the byte at an address is that of a range that covers it. Reads of all lengths
// agree, and a read ends at the first missing address.
func TestMemoryLaw(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		const base, span = 0x10000, 3000
		var listed []minidumptest.Memory
		has := map[uint64][]byte{} // what each address may be
		for range 1 + r.IntN(12) {
			m := minidumptest.Memory{Address: base + uint64(r.IntN(span)), Bytes: bytesOf(r.IntN(256), 1+r.IntN(900))}
			listed = append(listed, m)
			for i, v := range m.Bytes {
				has[m.Address+uint64(i)] = append(has[m.Address+uint64(i)], v)
			}
		}
		d := open(t, minidumptest.Dump{Memory: listed, Small: seed%2 == 0}.Bytes())
		m := d.Memory()
		end, total := uint64(0), 0
		for _, r := range m.Ranges() {
			if r.Address < end || r.Size == 0 {
				t.Fatalf("seed %d: range %#x+%#x after %#x", seed, r.Address, r.Size, end)
			}
			end, total = r.Address+r.Size, total+int(r.Size)
		}
		if total != len(has) {
			t.Fatalf("seed %d: %d bytes of %d", seed, total, len(has))
		}
		one := make([]byte, 1)
		space := map[uint64]byte{}
		for a := uint64(base); a < base+span+1000; a++ {
			n, err := m.ReadMemory(one, a)
			if (n == 1) != (len(has[a]) > 0) || (err == nil) != (n == 1) || n == 1 && !slices.Contains(has[a], one[0]) {
				t.Fatalf("seed %d: %#x: %d, %v, %#x of %#x", seed, a, n, err, one, has[a])
			}
			if n == 1 {
				space[a] = one[0]
			}
		}
		for range 200 {
			at, p := base+uint64(r.IntN(span+500))-200, make([]byte, 1+r.IntN(1500))
			n, err := m.ReadMemory(p, at)
			for i := range n {
				if v, ok := space[at+uint64(i)]; !ok || v != p[i] {
					t.Fatalf("seed %d: %#x+%d differs at %d", seed, at, len(p), i)
				}
			}
			var missing *minidump.MissingError
			if _, more := space[at+uint64(n)]; n < len(p) &&
				(more || !errors.As(err, &missing) || missing.Address != at+uint64(n)) || n == len(p) && err != nil {
				t.Fatalf("seed %d: %#x+%d: %d, %v", seed, at, len(p), n, err)
			}
		}
	}
}

// Of ranges that overlap, the first in the list counts, and the part of a later range beyond it is still there.
func TestFirstRangeWins(t *testing.T) {
	d := open(t, minidumptest.Dump{Memory: []minidumptest.Memory{
		{Address: 0x1000, Bytes: []byte("AAAA")}, {Address: 0x1000, Bytes: []byte("BBBBBB")},
		{Address: 0x1001, Bytes: []byte("CC")},
	}}.Bytes())
	p := make([]byte, 6)
	if _, err := d.Memory().ReadMemory(p, 0x1000); err != nil || string(p) != "AAAABB" {
		t.Errorf("%q, %v", p, err)
	}
	if damage := d.Damage(); len(damage) != 1 || damage[0].Code != minidump.CodeOverlap || damage[0].Count != 6 {
		t.Errorf("damage %v", damage)
	}
}

func TestReadMemoryAllocatesNothing(t *testing.T) {
	d := open(t, everything().Bytes())
	small, large := make([]byte, 16), make([]byte, 0x380)
	allocs := testing.AllocsPerRun(100, func() {
		for _, p := range [][]byte{small, large} {
			if _, err := d.Memory().ReadMemory(p, 0x8F010); err != nil {
				t.Error(err)
			}
		}
	})
	if allocs > 0 && !underRace {
		t.Errorf("%v allocations for two reads", allocs)
	}
}

func TestReadMemoryFromSeveralGoroutines(t *testing.T) {
	const size = 8 << 20 // more than the pages that are kept
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(i * 2654435761 >> 13)
	}
	d := open(t, minidumptest.Dump{Memory: []minidumptest.Memory{{Address: 0x100000, Bytes: content}}}.Bytes())
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(uint64(worker), 1))
			p := make([]byte, 700)
			for range 3000 {
				at, n := r.IntN(size-len(p)), 1+r.IntN(len(p))
				if _, err := d.Memory().ReadMemory(p[:n], 0x100000+uint64(at)); err != nil ||
					!bytes.Equal(p[:n], content[at:at+n]) {
					t.Errorf("%d+%d: %v", at, n, err)
					return
				}
			}
		})
	}
	group.Wait()
}

// A dump that is cut keeps the beginning of the range that the cut divides, and says which memory is missing.
func TestCutMemory(t *testing.T) {
	b := minidumptest.Dump{Memory: []minidumptest.Memory{
		{Address: 0x1000, Bytes: bytesOf(1, 100)}, {Address: 0x2000, Bytes: bytesOf(2, 100)},
		{Address: 0x3000, Bytes: bytesOf(3, 60)}, {Address: 0x3000 + 60, Bytes: bytesOf(3, 40)},
	}}.Bytes()
	d := open(t, b[:len(b)-130])
	m := d.Memory()
	if m.MissingBytes() != 130 || len(m.Ranges()) != 2 || m.Ranges()[1].Size != 70 {
		t.Errorf("missing %d of %+v", m.MissingBytes(), m.Ranges())
	}
	lost := m.MissingRanges()
	if len(lost) != 2 || lost[0].Address != 0x2000+70 || lost[0].Size != 30 ||
		lost[1].Address != 0x3000 || lost[1].Size != 100 {
		t.Errorf("missing %+v", lost)
	}
	if damage := d.Damage(); len(damage) != 1 || damage[0].Code != minidump.CodeTruncated ||
		damage[0].Count != 3 || damage[0].Entry != 1 {
		t.Errorf("damage %v", damage)
	}
}

// Of ranges that the file does not have, so many are told one by one; the sum counts all.
func TestManyMissingRanges(t *testing.T) {
	const most = 1 << 16
	for _, n := range []int{most, most + 1} {
		list := binary.LittleEndian.AppendUint32(nil, uint32(n))
		for i := range n { // 8 bytes each, apart, beyond the end of any file
			list = binary.LittleEndian.AppendUint64(list, uint64(i)<<12)
			list = binary.LittleEndian.AppendUint32(list, 8)
			list = binary.LittleEndian.AppendUint32(list, 1<<31)
		}
		d := open(t, minidumptest.Dump{Extra: []minidumptest.Stream{{Type: 5, Data: list}}}.Bytes())
		if got := len(d.Memory().MissingRanges()); got != most {
			t.Errorf("%d ranges are missing, told are %d, want %d", n, got, most)
		}
		if got := d.Memory().MissingBytes(); got != int64(8*n) {
			t.Errorf("%d bytes are missing, want %d", got, 8*n)
		}
	}
}
