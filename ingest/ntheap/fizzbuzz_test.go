package ntheap_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/ntheap"
	"heapdrift/internal/corpus"
)

// TestFizzbuzz walks the heaps of both sides of a real process (Windows 7, WOW64) and prints them as the walk of
// another program has printed them.
func TestFizzbuzz(t *testing.T) {
	memory := readDump(t, "dumps", "llvm", "fizzbuzz_wow64.dmp.zst")
	want, err := os.ReadFile(corpus.Path(t, "dumps", "llvm", "fizzbuzz_wow64.heaps.expected.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, side := range []ntheap.Process{{PEB: 0x7efdf000, Bits: 64}, {PEB: 0x7efde000, Bits: 32}} {
		side.Memory, side.Version = memory, ntheap.Version{Major: 6, Minor: 1, Build: 7601}
		heaps, err := ntheap.Open(t.Context(), side)
		if err != nil || len(heaps.Gaps) > 0 || len(heaps.Notes) > 0 {
			t.Fatalf("open: %v, gaps %v, notes %q", err, heaps.Gaps, heaps.Notes)
		}
		fmt.Fprintf(&got, "PEB%d %x NtGlobalFlag %#x heaps %d\n", side.Bits, side.PEB, heaps.Flags, len(heaps.List))
		for _, heap := range heaps.List {
			printHeap(t, &got, side, heap)
		}
	}
	if want := expectedLines(string(want)); got.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
	}
}

// expectedLines brings the other program's dictionaries into one order. The lines of subsegments are kept for their
// heap.
func expectedLines(text string) string {
	backend := regexp.MustCompile(`'(\w+)': (\d+)`)
	var out strings.Builder
	for line := range strings.Lines(text) {
		if before, after, ok := strings.Cut(line, "backend {"); ok {
			dictionary, rest, _ := strings.Cut(after, "} ")
			v := map[string]string{"internal": "0", "internal_bytes": "0"}
			for _, m := range backend.FindAllStringSubmatch(dictionary, -1) {
				v[m[1]] = m[2]
			}
			line = fmt.Sprintf("%sbackend n %s busy %s %s free %s %s internal %s %s %s", before, v["n"], v["busy"],
				v["busy_bytes"], v["free"], v["free_bytes"], v["internal"], v["internal_bytes"], rest)
		}
		out.WriteString(line)
	}
	return out.String()
}

// printHeap prints a heap as the other program does. It reads facts that a walk does not report, such as addresses of
// structures, by their offsets in Windows 7.
func printHeap(t *testing.T, out *strings.Builder, side ntheap.Process, heap *ntheap.Heap) {
	t.Helper()
	at := map[int]struct {
		encode, frontType, front, largest, virtual,
		first uint64
	}{64: {0x7c, 0x182, 0x178, 0x198, 0x1a0, 0x40}, 32: {0x4c, 0xda, 0xd4, 0xe4, 0xe8, 0x24}}[side.Bits]
	read := func(offset uint64, n int) (v uint64) {
		b := make([]byte, n)
		if _, err := side.Memory.ReadMemory(b, heap.Handle+offset); err != nil {
			t.Fatal(err)
		}
		for i := range b {
			v |= uint64(b[i]) << (8 * i)
		}
		return v
	}
	sizes := map[uint64]int64{}
	var lfh []uint64
	walked, err := heap.Walk(t.Context(), func(b ntheap.Block) error {
		if b.Area != ntheap.Virtual {
			sizes[b.Size]++
		}
		if b.Area == ntheap.LFH {
			lfh = append(lfh, b.Address)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// The other program does not tell the heap's own blocks from other blocks.
	own := walked.Areas[ntheap.Bookkeeping]
	if f := walked.Facts; f.Blocks.Count > 0 {
		if f.Blocks.Bytes != 867_624 || read(at.virtual, side.Bits/8) != 868_352 || walked.Areas[ntheap.Virtual].Count > 0 {
			t.Errorf("virtual blocks %+v", f.Blocks)
		}
		own.Count, own.Bytes = own.Count-f.Blocks.Count, own.Bytes-f.Blocks.Bytes
	}
	small := ownSizes(read, heap.Handle, side.Bits, walked.Segments[0])
	for _, size := range small {
		sizes[size]++
	}
	if own.Count != int64(len(small)) || small[len(small)-1] != map[int]uint64{64: 61, 32: 29}[side.Bits] {
		t.Errorf("heap %#x: own blocks %v, want %v", heap.Handle, own, small)
	}
	f, pointer := walked.Facts, side.Bits/8
	if len(walked.Gaps) > 0 || len(walked.Warnings) > 0 || f.BadEntries > 0 || f.Walked != f.Committed {
		t.Errorf("heap %#x: walked %#x of %#x committed, %d bad, gaps %v, warnings %v", heap.Handle, f.Walked, f.Committed,
			f.BadEntries, walked.Gaps, walked.Warnings)
	}
	fmt.Fprintf(out, " heap %x flags %#x encmask %#x FrontEndType %d FrontEnd %x | counters reserved %#x committed %#x largeUCR %#x virt %#x segs %d ucrs %d\n",
		heap.Handle, f.Flags, read(at.encode, 4), read(at.frontType, 1), read(at.front, pointer), f.Reserved, f.Committed,
		read(at.largest, pointer), read(at.virtual, pointer), f.Segments, f.UncommittedRanges)
	if f.FrontEnd == "LFH" {
		printSubsegments(t, out, read, heap.Handle, lfh)
	}
	for _, s := range walked.Segments {
		var holes []string
		for _, o := range s.Holes {
			holes = append(holes, fmt.Sprintf("('%#x', '%#x')", o.Address, o.Size))
		}
		fmt.Fprintf(out, "   segment %x pages %#x first %x last %x ucr [%s]\n", s.Address, s.Size/4096,
			read(s.Address-heap.Handle+at.first, pointer), s.Address+s.Size, strings.Join(holes, ", "))
	}
	p := walked.Areas
	fmt.Fprintf(out, "   backend n %d busy %d %d free %d %d internal %d %d lfh_busy %d lfh_bytes %d virtual_blocks %d\n",
		p[ntheap.Backend].Count+own.Count+f.Free.Count+walked.Internal.Count, p[ntheap.Backend].Count+own.Count,
		p[ntheap.Backend].Bytes+own.Bytes, f.Free.Count, f.Free.Bytes,
		walked.Internal.Count, walked.Internal.Bytes, p[ntheap.LFH].Count, p[ntheap.LFH].Bytes, f.Blocks.Count)
	order := slices.SortedFunc(maps.Keys(sizes), func(a, b uint64) int {
		return cmp.Or(cmp.Compare(int64(b)*sizes[b], int64(a)*sizes[a]), cmp.Compare(b, a))
	})
	var top []string
	for _, size := range order[:min(8, len(order))] {
		top = append(top, fmt.Sprintf("(%d, %d, %d)", size, sizes[size], int64(size)*sizes[size]))
	}
	fmt.Fprintf(out, "   top sizes by total: [%s]\n", strings.Join(top, ", "))
}

// printSubsegments spells the subsegments of the one heap that has some, in the order of their zone, which is a block
// of the heap.
func printSubsegments(t *testing.T, out *strings.Builder, read func(offset uint64, n int) uint64,
	heap uint64, lfh []uint64) {
	t.Helper()
	const zone, first, size = 0x70c0b8, 0x10, 0x20
	for at := zone + uint64(first) - heap; at < read(zone-heap+8, 4)-heap; at += size {
		container, units, count := read(at+4, 4), read(at+0x10, 2), read(at+0x14, 2)
		if container == 0 || units == 0 {
			continue
		}
		busy := 0
		for _, address := range lfh {
			if from := container + 0x10 + 8; address >= from && address < from+count*units*8 {
				busy++
			}
		}
		fmt.Fprintf(out, "   lfh subsegment %x userblocks %x sig %x blocksize %#x count %d busy %d\n", heap+at, container,
			read(container-heap+0xc, 4), units*8, count, busy)
	}
}

// ownSizes are the sizes of busy blocks with fewer unused bytes than a program's can have.
func ownSizes(read func(offset uint64, n int) uint64, heap uint64, bits int, s ntheap.Segment) (sizes []uint64) {
	first, key, granule := uint64(0x24), uint64(0x50), uint64(8)
	if bits == 64 {
		first, key, granule = 0x40, 0x88, 16
	}
	for at := read(first, bits/8) - heap; at+heap < s.Holes[0].Address; {
		v := read(at+granule-8, 8) ^ read(key, 8)
		size := v & 0xFFFF * granule
		if unused := v >> 56; v>>16&1 != 0 && unused < 8 {
			sizes = append(sizes, size-unused)
		}
		at += size
	}
	return sizes
}
