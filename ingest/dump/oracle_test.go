package dump_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/dump"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/corpus"
)

// An oracle is what a program had asked ntdll for when its memory was written to a dump.
type oracle struct {
	GFlags uint32     `json:"gflags"`
	Heaps  []string   `json:"heaps"`
	Stacks [][]string `json:"stacks"` // return addresses in the program's own images
	Blocks [][5]any   `json:"blocks"` // address, size, site, heap, stack
	Own    [][4]any   `json:"own"`    // address, size, flags, heap: what ntdll's own walk lists beside them
}

// An oracleBlock is a busy block.
type oracleBlock struct {
	size  uint64
	heap  uint64
	stack string
}

func (b oracleBlock) String() string {
	return fmt.Sprintf("%d bytes of heap %#x, stack %s", b.size, b.heap, b.stack)
}

func readOracle(t *testing.T, path string) *oracle {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var o oracle
	if err := json.NewDecoder(z).Decode(&o); err != nil {
		t.Fatal(err)
	}
	return &o
}

func hex(t *testing.T, text any) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(fmt.Sprint(text), 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// blocks returns the program's blocks by address, and those of ntdll itself, which have no stack to compare.
func (o *oracle) blocks(t *testing.T) (all map[uint64]oracleBlock, own map[uint64]oracleBlock) {
	t.Helper()
	all, own = map[uint64]oracleBlock{}, map[uint64]oracleBlock{}
	for _, b := range o.Blocks {
		stack := ""
		if o.GFlags&0x1000 != 0 {
			stack = strings.Join(o.Stacks[int(b[4].(float64))], " ")
		}
		all[hex(t, b[0])] = oracleBlock{uint64(b[1].(float64)), hex(t, o.Heaps[int(b[3].(float64))]), stack}
	}
	for _, b := range o.Own {
		own[hex(t, b[0])] = oracleBlock{uint64(b[1].(float64)), hex(t, o.Heaps[int(b[3].(float64))]), ""}
	}
	return all, own
}

// programs are the images of the programs that the oracle ran.
var programs = []string{"work.exe", "work32.exe", "workp.exe", "plugin.dll"}

// The capture holds every block that the program had and every block that ntdll's own walk lists, each with its
// address, size, heap and stack, and no other block. Dumps of segment heaps are also read cut, which the capture says,
// and with flipped bits; HEAPDRIFT_DAMAGE is the number of such rounds.
func TestOracleDumps(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus.Path(t, "oracle"), "*.dmp.zst"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no dumps: %v", err)
	}
	places := make(chan place, len(files))
	segmentHeaps := uint64(0)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".dmp.zst")
		damaged, seed := strings.Contains(name, "seg"), segmentHeaps
		if damaged {
			segmentHeaps++
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := readOracle(t, strings.TrimSuffix(file, ".dmp.zst")+".json.gz")
			var at place
			select {
			case at = <-places:
			default:
			}
			data := at.unpack(t, file)
			defer func() { places <- at }()
			c, err := dump.Read(t.Context(), bytes.NewReader(data), int64(len(data)), dump.Options{})
			if err != nil {
				t.Fatal(err)
			}
			compareOracle(t, o, c)
			if damaged {
				readDamaged(t, data, seed)
			}
		})
	}
	if segmentHeaps == 0 {
		t.Error("no dump is damaged")
	}
}

// A place is memory that a dump is unpacked in, and after it another: under the race detector fresh memory costs more
// than reading.
type place struct {
	frame, dump []byte
}

// unpack returns a dump of the corpus without its compression.
func (p *place) unpack(t *testing.T, file string) []byte {
	t.Helper()
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	p.frame = spelledOut(packed, p.frame[:0])
	if p.dump, err = z.DecodeAll(p.frame, p.dump[:0]); err != nil {
		t.Fatal(err)
	}
	return p.dump
}

// spelledOut appends to b a frame of zstd with its runs of one byte spelled out (blocks of type 1 become blocks of type 0,
// RFC 8878, 3.1.1.2). The decoder writes a run byte by byte, and the race detector looks at each: of dumps, which are
// zeros for the most part, that takes longer than all else.
func spelledOut(frame, b []byte) []byte {
	const magic, descriptor = 4, 1
	d := frame[magic]
	at := magic + descriptor + []int{0, 1, 2, 4}[d&3] + []int{0, 2, 4, 8}[d>>6]
	if single := d>>5&1 == 1; !single || d>>6 == 0 { // a window, or a size of one byte
		at++
	}
	b = append(b, frame[:at]...)
	for last := false; !last; {
		header := uint32(frame[at]) | uint32(frame[at+1])<<8 | uint32(frame[at+2])<<16
		size := int(header >> 3)
		last = header&1 == 1
		at += 3
		if header>>1&3 == 1 {
			raw := header &^ 6
			b = append(b, byte(raw), byte(raw>>8), byte(raw>>16))
			b = append(b, bytes.Repeat(frame[at:at+1], size)...)
			at++
		} else {
			b = append(b, frame[at-3:at+size]...)
			at += size
		}
	}
	return append(b, frame[at:]...)
}

// readDamaged reads a dump that is cut, which the capture says, and one with flipped bits, which gives a capture that
// can be stored or an error with a code.
func readDamaged(t *testing.T, data []byte, seed uint64) {
	t.Helper()
	times, _ := strconv.Atoi(os.Getenv("HEAPDRIFT_DAMAGE"))
	r := rand.New(rand.NewPCG(seed, 14))
	for range max(1, times) {
		cut := data[:1+r.IntN(len(data)-1)]
		if c, err := dump.Read(t.Context(), bytes.NewReader(cut), int64(len(cut)), dump.Options{}); err == nil &&
			!strings.Contains(codes(c), string(capture.Truncated)) {
			t.Errorf("cut at %d of %d, and not a word of it: %s", len(cut), len(data), codes(c))
		}
		type flip struct {
			at  int
			bit byte
		}
		flips := make([]flip, 1+r.IntN(200))
		for i := range flips {
			flips[i] = flip{r.IntN(len(data)), 1 << r.IntN(8)}
			data[flips[i].at] ^= flips[i].bit
		}
		var refused *evidence.Error
		if c, err := dump.Read(t.Context(), bytes.NewReader(data), int64(len(data)), dump.Options{}); err != nil &&
			!errors.As(err, &refused) {
			t.Errorf("flips %v: %v", flips, err)
		} else if err == nil {
			var artifact bytes.Buffer
			if err := c.Write(&artifact); err != nil {
				t.Fatal(err)
			}
			if _, err := capture.Read(&artifact); err != nil {
				t.Errorf("flips %v: %v", flips, err)
			}
		}
		for _, f := range flips { // whatever their order
			data[f.at] ^= f.bit
		}
	}
}

func compareOracle(t *testing.T, o *oracle, c *capture.Capture) {
	t.Helper()
	want, own := o.blocks(t)
	modules := capture.NewModuleMap(c.Modules)
	chain := func(s capture.StackID) string {
		var list []string
		for _, f := range c.Stacks.Stack(s) {
			a := c.Stacks.Frame(f).Address
			if m := modules.Find(a); m >= 0 && slices.Contains(programs, c.Modules[m].FileName()) {
				list = append(list, fmt.Sprintf("%#x", a))
			}
		}
		return strings.Join(list, " ")
	}
	var faults []string
	heaps := map[uint64]bool{}
	for _, b := range want {
		heaps[b.heap] = true
	}
	for b := range c.Blocks.All() {
		site := &c.Sites[b.Site]
		got := oracleBlock{b.Size, c.Heaps[site.Heap].Handle, ""}
		if w, ok := want[b.Address]; ok {
			if o.GFlags&0x1000 != 0 {
				got.stack = chain(site.Stack)
			}
			if got != w {
				faults = append(faults, fmt.Sprintf("%#x: %v, want %v", b.Address, got, w))
			}
			delete(want, b.Address)
			continue
		}
		if w, ok := own[b.Address]; ok {
			if got != w {
				faults = append(faults, fmt.Sprintf("%#x of ntdll: %v, want %v", b.Address, got, w))
			}
			delete(own, b.Address)
			continue
		}
		if heaps[got.heap] && o.Own != nil {
			faults = append(faults, fmt.Sprintf("%#x: %v, want none", b.Address, got))
		}
	}
	for _, at := range slices.Sorted(maps.Keys(want)) {
		faults = append(faults, fmt.Sprintf("%#x: missing, want %v", at, want[at]))
	}
	for _, at := range slices.Sorted(maps.Keys(own)) {
		faults = append(faults, fmt.Sprintf("%#x of ntdll: missing, want %v", at, own[at]))
	}
	for _, w := range c.Warnings {
		switch w.Code {
		case capture.Inconsistent, capture.Malformed, capture.PartialHeap, capture.NoStacks:
			if w.Code == capture.NoStacks && o.GFlags&0x1000 == 0 {
				continue
			}
			faults = append(faults, fmt.Sprintf("%s: %s", w.Code, w.Message))
		}
	}
	for i, f := range faults {
		if i == 12 {
			t.Errorf("%d more", len(faults)-i)
			break
		}
		t.Error(f)
	}
}
