package dump_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/dump"
	"heapdrift/ingest/ntheap"
	"heapdrift/internal/corpus"
)

// read reads a dump of the corpus.
func read(t testing.TB, name string) *capture.Capture {
	t.Helper()
	data := load(t, name)
	c, err := dump.Read(t.Context(), bytes.NewReader(data), int64(len(data)), dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func load(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(corpus.Path(t, "dumps/"+name))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".zst") {
		z, err := zstd.NewReader(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		if data, err = z.DecodeAll(data, nil); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

func use(c *capture.Capture, name capture.UseName) capture.UseTotal {
	for _, u := range c.Memory.Space.Uses {
		if u.Name == name {
			return u
		}
	}
	return capture.UseTotal{}
}

func codes(c *capture.Capture) string {
	var list []string
	for _, w := range c.Warnings {
		list = append(list, string(w.Code))
	}
	return strings.Join(list, " ")
}

// A 32-bit process on 64-bit Windows 7: both of its sides have heaps.
func TestDumpOfAWOW64Process(t *testing.T) {
	c := read(t, "llvm/fizzbuzz_wow64.dmp.zst")
	if c.Process.Name != "fizzbuzz.exe" || c.Process.Bits != 32 || len(c.Modules) != 16 {
		t.Errorf("%+v, %d modules", c.Process, len(c.Modules))
	}
	var heaps strings.Builder
	for _, h := range c.Memory.Heaps {
		fmt.Fprintf(&heaps, "%v %s %d bit: committed %#x walked %#x busy %d/%d bad %d %s\n", h.Handle, h.Kind, h.Bits,
			h.Committed, h.Walked, h.Busy.Count-h.LFH.Count-h.Blocks.Count,
			h.Busy.Bytes-h.LFH.Bytes-h.Blocks.Bytes, h.BadEntries, h.Name)
	}
	want := `0x700000 NT heap 32 bit: committed 0x14000 walked 0x14000 busy 155/65376 bad 0 default process heap
0x460000 NT heap 32 bit: committed 0x5000 walked 0x5000 busy 9/10879 bad 0 ` + `
0x500000 NT heap 64 bit: committed 0x8000 walked 0x8000 busy 25/20058 bad 0 default process heap
0x10000 NT heap 64 bit: committed 0x1000 walked 0x1000 busy 1/61 bad 0 ` + `
0x20000 NT heap 64 bit: committed 0x10000 walked 0x10000 busy 1/61 bad 0 ` + `
`
	if heaps.String() != want {
		t.Errorf("got\n%swant\n%s", &heaps, want)
	}
	var committed, private int64
	for _, u := range c.Memory.Space.Uses {
		committed, private = committed+u.Committed, private+u.Private
	}
	// Two heaps lie in mapped sections, so heaps hold more than their private memory.
	if u := use(c, capture.UseImage); private != 1_073_152 || committed != 1_073_152+737_280+7_471_104 ||
		u.Committed != 7_471_104 || use(c, capture.UseMapped).Committed != 606_208 {
		t.Errorf("%d bytes are committed, %d of them private; images %+v", committed, private, u)
	}
	if u := use(c, capture.UseStack); u.Regions == 0 || u.Reserved < u.Committed {
		t.Errorf("stacks %+v", u)
	}
	if codes(c) != "no-stacks" || len(c.Memory.Gaps) != 0 {
		t.Errorf("%s, gaps %+v", codes(c), c.Memory.Gaps)
	}
	if r := c.Memory.Reach; r == nil || r.Blocks.Count == 0 || r.Unreachable.Count == r.Blocks.Count ||
		r.Unreachable.Count > r.Blocks.Count/2 {
		t.Errorf("%+v: a process that does not leak holds nearly all of its blocks", r)
	}
}

// A dump that is cut before the environment blocks still shows the heaps that lie before the cut.
func TestDumpThatIsCutShort(t *testing.T) {
	data := load(t, "llvm/fizzbuzz_wow64.dmp.zst")
	data = data[:len(data)*95/100]
	c, err := dump.Read(t.Context(), bytes.NewReader(data), int64(len(data)), dump.Options{})
	if err != nil || len(c.Heaps) == 0 || c.Shape != capture.ShapeSnapshot || !c.Snapshots[0].LowerBound ||
		!strings.Contains(codes(c), "truncated") || !strings.Contains(codes(c), "partial-heap") {
		t.Errorf("%v, heaps %+v, %s", err, c.Heaps, codes(c))
	}
}

// Heaps are found in a dump without threads, such as one of a cloned process.
func TestDumpWithoutThreads(t *testing.T) {
	data := load(t, "llvm/fizzbuzz_wow64.dmp.zst")
	at := binary.LittleEndian.Uint32(data[12:])
	for i := range binary.LittleEndian.Uint32(data[8:]) {
		const threadList = 3
		if entry := data[at+12*i:]; binary.LittleEndian.Uint32(entry) == threadList {
			binary.LittleEndian.PutUint32(entry, 0)
		}
	}
	c, err := dump.Read(t.Context(), bytes.NewReader(data), int64(len(data)), dump.Options{})
	if err != nil || len(c.Heaps) != 5 || c.Heaps[0].Handle != 0x700000 {
		t.Errorf("%v, heaps %+v", err, c.Heaps)
	}
}

// Windows 7 has both of its ntdlls below 4 GB.
func TestStructuresAreAskedForBySide(t *testing.T) {
	data := load(t, "llvm/fizzbuzz_wow64.dmp.zst")
	var asked []string
	_, err := dump.Read(t.Context(), bytes.NewReader(data), int64(len(data)),
		dump.Options{Types: func(_ context.Context, pdb, _ string) ntheap.Types {
			asked = append(asked, pdb)
			return nil
		}})
	if err != nil || !slices.Equal(asked, []string{"wntdll.pdb", "ntdll.pdb"}) {
		t.Errorf("%v %v", asked, err)
	}
}

// Blocks with stacks become sites, as in any snapshot.
func TestDumpWithStacks(t *testing.T) {
	const name = "synthetic/win10_x64_ust_synthetic"
	text, err := os.ReadFile(corpus.Path(t, "dumps/"+name+".truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var truth struct {
		Blocks      int
		Bytes       int64
		Allocations []struct {
			Addr, Size uint64
			Frames     []capture.Address
			Class      string
		}
	}
	if err := json.Unmarshal(text, &truth); err != nil {
		t.Fatal(err)
	}
	data := load(t, name+".dmp")
	for _, a := range truth.Allocations { // what the maker of the dump did not know, as ntdll writes it
		switch a.Class {
		case "backend": // a bit of UnusedBytes says that a prefix follows
			data[offsetIn(t, data, a.Addr-0x30+15)] ^= 0x40
		case "virtual": // UnusedBytesLength counts the prefix
			data[offsetIn(t, data, a.Addr-4)] += 0x20
		}
	}
	c := readBytes(t, data)
	type fact struct {
		size  uint64
		stack string
	}
	got := map[uint64]fact{}
	for b := range c.Blocks.All() {
		got[b.Address] = fact{b.Size, stackOf(c, c.Sites[b.Site].Stack)}
	}
	for _, a := range truth.Allocations {
		if want := (fact{a.Size, fmt.Sprint(a.Frames)}); got[a.Addr] != want {
			t.Errorf("%#x: %+v, want %+v", a.Addr, got[a.Addr], want)
		}
	}
	var sum capture.Usage
	for i := range c.Sites {
		if c.Sites[i].Kind == capture.KindHeap {
			sum = sum.Add(c.Sites[i].Usage[0])
		}
	}
	if len(got) != truth.Blocks || int(sum.Count) != truth.Blocks || sum.Bytes != truth.Bytes {
		t.Errorf("%d blocks, sites hold %+v, want %d blocks of %d bytes", len(got), sum, truth.Blocks, truth.Bytes)
	}
	if codes(c) != "" {
		t.Errorf("warnings %s", codes(c))
	}
	leakTrack := false
	for _, n := range c.Memory.Notes {
		leakTrack = leakTrack || n.Topic == capture.TopicLeakTrack && strings.Contains(n.Text, "not public") && n.Advice != ""
	}
	if !leakTrack {
		t.Errorf("LeakTrack is loaded, and %+v", c.Memory.Notes)
	}
}

// offsetIn is the offset in a dump of the byte at an address that the Memory64List covers.
func offsetIn(t *testing.T, data []byte, address uint64) uint64 {
	t.Helper()
	const memory64List = 9
	le := binary.LittleEndian
	for entry := range slices.Chunk(data[le.Uint32(data[12:]):][:12*le.Uint32(data[8:])], 12) {
		if le.Uint32(entry) != memory64List {
			continue
		}
		list := data[le.Uint32(entry[8:]):]
		at := le.Uint64(list[8:])
		for i := range le.Uint64(list) {
			start, size := le.Uint64(list[16+16*i:]), le.Uint64(list[24+16*i:])
			if address-start < size {
				return at + address - start
			}
			at += size
		}
	}
	t.Fatalf("the dump has nothing at %#x", address)
	return 0
}

func stackOf(c *capture.Capture, id capture.StackID) string {
	var frames []capture.Address
	for _, a := range addressesOf(c, id) {
		frames = append(frames, capture.Address(a))
	}
	return fmt.Sprint(frames)
}

func addressesOf(c *capture.Capture, id capture.StackID) (list []uint64) {
	for _, f := range c.Stacks.Stack(id) {
		list = append(list, c.Stacks.Frame(f).Address)
	}
	return list
}

// Heaps of Wine are not heaps of Windows: a gap says so, and everything else in the dump is shown.
func TestDumpOfWine(t *testing.T) {
	c := read(t, "wine/wine_mkdump_leak2.dmp.zst")
	if c.Process.Name != "leak2.exe" || c.Shape != capture.ShapeFacts || len(c.Memory.Heaps) != 0 ||
		len(c.Memory.Gaps) == 0 || !strings.Contains(c.Memory.Gaps[0].Why, "not a Windows NT heap") {
		t.Errorf("%+v: heaps %+v, gaps %+v", c.Process, c.Memory.Heaps, c.Memory.Gaps)
	}
	if len(c.Memory.Threads) != 3 || len(c.Memory.Space.Uses) < 5 || len(c.Memory.Handles) == 0 ||
		use(c, capture.UsePrivate).Committed == 0 {
		t.Errorf("threads %+v, uses %+v, handles %+v", c.Memory.Threads, c.Memory.Space.Uses, c.Memory.Handles)
	}
	comment := false
	for _, n := range c.Memory.Notes {
		comment = comment || n.Topic == capture.TopicComment
	}
	if !comment {
		t.Errorf("the comment of the dump is not in %+v", c.Memory.Notes)
	}
}

// A dump that is cut anywhere gives an error or a capture that says that it is truncated.
func TestCutDumps(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	for _, name := range []string{"synthetic/win10_x64_ust_synthetic.dmp", "llvm/fizzbuzz_wow64.dmp.zst"} {
		data := load(t, name)
		for at := 0; at < len(data); at += max(1, len(data)/150) {
			c, err := dump.Read(t.Context(), bytes.NewReader(data[:at]), int64(at), dump.Options{})
			if err == nil && !strings.Contains(codes(c), "truncated") {
				t.Errorf("%s cut at %d of %d: warnings %q", name, at, len(data), codes(c))
			}
		}
	}
}
