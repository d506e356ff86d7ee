package minidump_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"heapdrift/ingest/minidump"
	"heapdrift/ingest/minidump/minidumptest"
)

// A dump that is cut at any byte is refused, or reads as what lies before the cut: lists are the beginnings of the
// whole lists, memory before the cut is the same, and missing memory is counted to the byte. A cut is never silent.
func TestCutAtEveryByte(t *testing.T) {
	whole := everything().Bytes()
	w := open(t, whole)
	modules, _ := w.Modules()
	threads, _ := w.Threads()
	handles, _ := w.Handles()
	memory, listed := sizes(w.Memory().Ranges()), int64(0)
	for _, s := range w.Streams() {
		if s.Type == minidump.StreamMemory64List {
			listed = s.Offset + s.Size
		}
	}
	for n := range whole {
		if n > 0x1700 && n < len(whole)-0x100 && n%61 != 0 {
			continue // amid the bytes of memory every cut is like the next
		}
		d, err := minidump.Open(t.Context(), bytes.NewReader(whole[:n]), int64(n))
		if err != nil {
			if c := code(err); c != minidump.CodeNotMinidump && c != minidump.CodeBadHeader {
				t.Fatalf("%d bytes: %v", n, err)
			}
			continue
		}
		said := len(d.Damage()) > 0
		gotModules, err := d.Modules()
		said = said || err != nil
		for i, m := range gotModules {
			if m.Base != modules[i].Base || m.Size != modules[i].Size ||
				m.Path != "" && !strings.HasPrefix(modules[i].Path, m.Path) || m.DebugID != "" && m.DebugID != modules[i].DebugID {
				t.Fatalf("%d bytes: module %+v", n, m)
			}
		}
		gotThreads, err := d.Threads()
		said = said || err != nil
		for i, m := range gotThreads {
			if m.ID != threads[i].ID || m.TEB != threads[i].TEB {
				t.Fatalf("%d bytes: thread %+v", n, m)
			}
		}
		gotHandles, err := d.Handles()
		said = said || err != nil
		for i, m := range gotHandles {
			if m.Handle != handles[i].Handle || m.HandleCount != handles[i].HandleCount {
				t.Fatalf("%d bytes: handle %+v", n, m)
			}
		}
		if !said && n < len(whole) {
			t.Fatalf("%d bytes: nothing is said", n)
		}
		if held := sizes(d.Memory().Ranges()); int64(n) >= listed && held+d.Memory().MissingBytes() != memory {
			t.Fatalf("%d bytes: %d are there and %d missing, of %d", n, held, d.Memory().MissingBytes(), memory)
		}
		for _, r := range d.Memory().Ranges() {
			got, want := make([]byte, r.Size), make([]byte, r.Size)
			if _, err := d.Memory().ReadMemory(got, r.Address); err != nil {
				t.Fatalf("%d bytes: %v", n, err)
			}
			if _, err := w.Memory().ReadMemory(want, r.Address); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes: other memory at %#x", n, r.Address)
			}
		}
	}
}

func sizes(ranges []minidump.Range) (sum int64) {
	for _, r := range ranges {
		sum += int64(r.Size)
	}
	return sum
}

// Reading ends whatever bits are wrong, and ranges of memory are in order and inside the file.
func TestBitFlips(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	whole := everything().Bytes()
	for at := range 0x1580 {
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at * 5 % 8)
		survive(t, b)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		b := bytes.Clone(whole)
		for range 1 + r.IntN(40) {
			b[r.IntN(0x1580)] = byte(r.Uint32())
		}
		survive(t, b)
	}
}

// survive reads all there is of a file and checks what is always true.
func survive(t testing.TB, b []byte) {
	t.Helper()
	d, err := minidump.Open(t.Context(), bytes.NewReader(b), int64(len(b)))
	if err != nil {
		if d != nil || code(err) == "" {
			t.Fatalf("a refusal without a code: %v", err)
		}
		return
	}
	render(d)
	if regions, _ := d.Regions(); len(regions) > 0 {
		for i := range regions[1:] {
			if regions[i+1].Base <= regions[i].Base+(regions[i].Size-1) {
				t.Fatalf("regions overlap: %+v, %+v", regions[i], regions[i+1])
			}
		}
	}
	last, p := uint64(0), make([]byte, 100)
	for i, r := range d.Memory().Ranges() {
		if r.Size == 0 || r.Size > uint64(len(b)) || i > 0 && r.Address <= last {
			t.Fatalf("range %+v after %#x", r, last)
		}
		last = r.Address + (r.Size - 1)
		for _, at := range []uint64{r.Address, last} {
			if n, _ := d.Memory().ReadMemory(p, at); n == 0 {
				t.Fatalf("%#x of %+v cannot be read", at, r)
			}
		}
	}
}

// Counts and sizes that a file only claims cost no memory: each of these files has a few kilobytes.
func TestClaimsCostNothing(t *testing.T) {
	le := binary.LittleEndian
	list := func(words ...uint32) []byte {
		var b []byte
		for _, w := range words {
			b = le.AppendUint32(b, w)
		}
		return append(b, make([]byte, 200)...)
	}
	const many = 1_000_000_000
	for name, s := range map[string]minidumptest.Stream{
		"modules":      {Type: 4, Data: list(many)},
		"threads":      {Type: 3, Data: list(many)},
		"more threads": {Type: 8, Data: list(many)},
		"thread names": {Type: 24, Data: list(many)},
		"thread infos": {Type: 17, Data: list(12, 64, many)},
		"memory":       {Type: 5, Data: list(many)},
		"64-bit memory": {Type: 9,
			Data: list(math.MaxUint32, math.MaxUint32, 0, 0, 0x1000, 0, math.MaxUint32, math.MaxUint32)},
		"far memory":      {Type: 9, Data: list(3, 0, math.MaxUint32, math.MaxUint32, 0x1000, 0, 0x1000, 0)},
		"handles":         {Type: 12, Data: list(16, 32, many)},
		"long handles":    {Type: 12, Data: list(16, math.MaxUint32, 2)},
		"short handles":   {Type: 12, Data: list(16, 0, 2)},
		"far handles":     {Type: 12, Data: list(math.MaxUint32, 40, 2)},
		"unloaded":        {Type: 14, Data: list(12, 24, many)},
		"regions":         {Type: 16, Data: list(16, 48, math.MaxUint32, math.MaxUint32)},
		"exception":       {Type: 6, Data: list(1, 0, 0xC0000005, 0, 0, 0, 0, 0, many)},
		"a short process": {Type: 15, Data: []byte{1, 2, 3}},
		"short counters":  {Type: 22, Data: []byte{2, 0, 1}},
	} {
		b := minidumptest.Dump{Extra: []minidumptest.Stream{s}, Threads: nil}.Bytes()
		if s.Type == 17 || s.Type == 24 {
			b = minidumptest.Dump{Extra: []minidumptest.Stream{s}, Threads: []minidumptest.Thread{{ID: 1}}}.Bytes()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text := render(open(t, b))
		runtime.ReadMemStats(&after)
		if cost := after.TotalAlloc - before.TotalAlloc; cost > 4<<20 {
			t.Errorf("%s: %d bytes were allocated", name, cost)
		}
		if !strings.Contains(text, minidump.CodeTruncated) && !strings.Contains(text, minidump.CodeBadStream) &&
			!strings.Contains(text, minidump.CodeBadEntry) {
			t.Errorf("%s: nothing is said:\n%s", name, text)
		}
	}
}

// The names of all modules together have a limit, even where modules share names or names overlap.
func TestNamesHaveALimit(t *testing.T) {
	const n = 2000
	text := bytes.Repeat([]byte{0xFE, 0xFF, 0, 0}, 0x10000) // wherever a name begins, it has 65534 bytes
	dump := minidumptest.Dump{Modules: make([]minidumptest.Module, n),
		Extra: []minidumptest.Stream{{Type: 0x9999, Data: text}}}
	b := dump.Bytes()
	var at uint32
	for _, s := range open(t, b).Streams() {
		if s.Type == 0x9999 {
			at = uint32(s.Offset)
		}
	}
	for _, s := range open(t, b).Streams() {
		if s.Type == minidump.StreamModuleList {
			for i := range n {
				binary.LittleEndian.PutUint32(b[s.Offset+4+int64(i)*108+20:], at+uint32(4*i))
			}
		}
	}
	modules, err := open(t, b).Modules()
	if p := minidump.Problems(err); len(modules) != n || len(p) != 1 || p[0].Code != minidump.CodeTooMany ||
		p[0].Entry != 511 || p[0].Count != n-511 {
		t.Errorf("%d modules: %v", len(modules), err)
	}
}

// Lists of newer versions have longer headers and entries, and the entries of plain lists may be aligned to 8 bytes.
func TestOtherSizes(t *testing.T) {
	le := binary.LittleEndian
	region := le.AppendUint32(le.AppendUint32(le.AppendUint64(nil, 0), 0), 0)[:0]
	region = le.AppendUint32(region, 24)
	region = le.AppendUint32(region, 56)
	region = le.AppendUint64(region, 2)
	region = le.AppendUint64(region, 0xDEAD) // what the longer header adds
	for i := range uint64(2) {
		region = le.AppendUint64(region, 0x10000*(i+1))
		region = append(region, make([]byte, 16)...)
		region = le.AppendUint64(region, 0x1000)
		region = append(region, make([]byte, 24)...)
	}
	padded := le.AppendUint32(nil, 1)
	padded = append(padded, 0, 0, 0, 0)
	thread := make([]byte, 48)
	le.PutUint32(thread, 77)
	padded = append(padded, thread...)
	d := open(t, minidumptest.Dump{Extra: []minidumptest.Stream{{Type: 16, Data: region},
		{Type: 3, Data: padded}}}.Bytes())
	if regions, err := d.Regions(); err != nil || len(regions) != 2 || regions[1].Base != 0x20000 ||
		regions[1].Size != 0x1000 {
		t.Errorf("%v, regions %+v", err, regions)
	}
	if threads, err := d.Threads(); err != nil || len(threads) != 1 || threads[0].ID != 77 {
		t.Errorf("%v, threads %+v", err, threads)
	}
}

// Regions that overlap others or cannot exist are left out.
func TestBadRegions(t *testing.T) {
	d := open(t, minidumptest.Dump{Regions: []minidumptest.Region{
		{Base: 0x1000, Size: 0x3000}, {Base: 0x2000, Size: 0x1000}, {Base: math.MaxUint64, Size: 2}, {Base: 0x9000},
		{Base: 0x4000, Size: 0x1000},
	}}.Bytes())
	regions, err := d.Regions()
	problems := minidump.Problems(err)
	if len(regions) != 2 || regions[1].Base != 0x4000 || len(problems) != 2 || problems[0].Code != minidump.CodeBadEntry ||
		problems[0].Count != 2 ||
		problems[0].Entry != 2 || problems[1].Code != minidump.CodeOverlap {
		t.Errorf("%v, regions %+v", err, regions)
	}
}

// A module whose name lies outside the file loses its name only, and the error counts such names.
func TestBadNames(t *testing.T) {
	b := everything().Bytes()
	d := open(t, b)
	for _, s := range d.Streams() {
		if s.Type == minidump.StreamModuleList {
			for i := range int64(3) {
				binary.LittleEndian.PutUint32(b[s.Offset+4+108*i+20:], 0xFFFFFFF0)
			}
		}
	}
	modules, err := open(t, b).Modules()
	if p := minidump.Problems(err); len(modules) != 4 || len(p) != 1 || p[0].Code != minidump.CodeBadName ||
		p[0].Count != 3 || p[0].Entry != 0 || p[0].Offset != 0xFFFFFFF0 {
		t.Errorf("%v, modules %+v", err, modules)
	}
	if modules[0].DebugID == "" || modules[3].Path == "" {
		t.Errorf("modules %+v", modules)
	}
}

// Names that are not valid UTF-16 are read as far as they go.
func TestOddNames(t *testing.T) {
	b := minidumptest.Dump{Unloaded: []minidumptest.UnloadedImage{{Name: "abcd"}}}.Bytes()
	at := bytes.Index(b, []byte("a\x00b\x00c\x00d\x00"))
	binary.LittleEndian.PutUint16(b[at+2:], 0xD800)
	binary.LittleEndian.PutUint32(b[at-4:], 7)
	if m, err := open(t, b).Unloaded(); err != nil || m[0].Name != "a\uFFFDc" {
		t.Errorf("%v, %+v", err, m)
	}
}

// Lists longer than the limits are read up to the limits, and a problem says so.
func TestLimits(t *testing.T) {
	const kept = 262144
	d := open(t, minidumptest.Dump{Handles: make([]minidumptest.Handle, kept+5), Unused: 5000}.Bytes())
	handles, err := d.Handles()
	if p := minidump.Problems(err); len(handles) != kept || len(p) != 1 || p[0].Code != minidump.CodeTooMany ||
		p[0].Count != 5 || p[0].Entry != kept {
		t.Errorf("%d handles, %v", len(handles), err)
	}
	all := 0
	if err := d.EachHandle(func(minidump.Handle) bool { all++; return true }); err != nil || all != kept+5 {
		t.Errorf("%d handles, %v", all, err)
	}
	if damage := d.Damage(); len(damage) != 1 || damage[0].Code != minidump.CodeTooMany || damage[0].Entry != 4096 {
		t.Errorf("damage %v", damage)
	}
	all = 0
	if err := d.EachHandle(func(minidump.Handle) bool { all++; return all < 3 }); err != nil || all != 3 {
		t.Errorf("%d handles, %v", all, err)
	}
}

// Comments longer than the limits are read up to the limits, and a problem says so.
func TestLongComments(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	b := minidumptest.Dump{CommentA: long, Comments: []string{long}}.Bytes()
	d := open(t, b)
	if c := d.Comments(); len(c) != 2 || len(c[0]) != 32<<10 || len(c[1]) != 64<<10 {
		t.Errorf("%d comments", len(c))
	}
	if damage := d.Damage(); len(damage) != 2 || damage[0].Code != minidump.CodeTooMany ||
		damage[1].Stream != minidump.StreamCommentA {
		t.Errorf("damage %v", damage)
	}
	cut := open(t, b[:len(b)-99_999])
	if c, damage := cut.Comments(), cut.Damage(); len(c) != 2 || c[1] != "xx" ||
		damage[len(damage)-1].Code != minidump.CodeTruncated {
		t.Errorf("%d comments, damage %v", len(c), damage)
	}
}

// Several kinds of damage to one stream are all reported, each once.
func TestProblems(t *testing.T) {
	b := everything().Bytes()
	for _, s := range open(t, b).Streams() {
		if s.Type == minidump.StreamModuleList {
			binary.LittleEndian.PutUint32(b[s.Offset:], 9)
			binary.LittleEndian.PutUint32(b[s.Offset+4+20:], 0xFFFFFFF0)
		}
	}
	_, err := open(t, b).Modules()
	problems := minidump.Problems(err)
	if len(problems) != 2 || problems[0].Code != minidump.CodeTruncated || problems[0].Count != 5 ||
		problems[1].Code != minidump.CodeBadName {
		t.Errorf("got %v", err)
	}
	var first *minidump.Problem
	if !errors.As(err, &first) || first != problems[0] ||
		!strings.Contains(err.Error(), "; minidump: a name lies outside the file (ModuleList, entry 0, offset 0xfffffff0)") {
		t.Errorf("got %v", err)
	}
	if minidump.Problems(nil) != nil || minidump.Problems(io.EOF) != nil ||
		len(minidump.Problems(fmt.Errorf("while reading: %w", first))) != 1 {
		t.Error("problems of other errors")
	}
}
