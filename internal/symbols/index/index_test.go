package index_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"heapdrift/internal/symbols/index"
)

func Example() {
	b := index.NewBuilder("0123456789ABCDEF0123456789ABCDEF1")
	_ = b.AddRange(0x1000, 0x1010, index.Location{Function: "main", File: "main.cpp", Line: 12})
	_ = b.AddRange(0x1010, 0x1018, index.Location{Function: "main", Displacement: 0x10, File: "main.cpp", Line: 13,
		Inlines: []index.Inline{{Function: "Cache::Grow", File: "cache.h", Line: 40}}})
	b.AddType(0x1017, "Entry")
	var file bytes.Buffer
	_ = b.Write(&file)

	x, err := index.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		panic(err)
	}
	var at index.Location
	x.Lookup(0x1016, &at) // the call is one byte before the return address at least
	fmt.Printf("%s+0x%x (%s, %d)\n", at.Function, at.Displacement+1, at.File, at.Line)
	for _, i := range at.Inlines {
		fmt.Printf("  %s (%s, %d)\n", i.Function, i.File, i.Line)
	}
	fmt.Println(" ", x.Type(0x1017))
	// Output:
	// main+0x17 (main.cpp, 13)
	//   Cache::Grow (cache.h, 40)
	//   Entry
}

// A stretch is a segment as the builder is given it.
type stretch struct {
	start, end uint32
	at         index.Location
}

// invent makes segments with gaps, shared texts and chains of inlined calls.
func invent(seed uint64, n int) []stretch {
	r := rand.New(rand.NewPCG(seed, 1))
	list := make([]stretch, n)
	rva := uint32(0x1000)
	for i := range list {
		if r.IntN(4) == 0 {
			rva += uint32(r.IntN(0x3000))
		}
		s := stretch{start: rva, end: rva + 1 + uint32(r.IntN(40))}
		s.at = index.Location{Function: fmt.Sprintf("f%d", r.IntN(n)), Displacement: uint32(r.IntN(100)),
			Line: uint32(r.IntN(50)), Approx: r.IntN(9) == 0, Inlines: []index.Inline{}}
		if r.IntN(3) > 0 {
			s.at.File = fmt.Sprintf("c:\\src\\%d.cpp", r.IntN(5))
		}
		for range r.IntN(4) {
			s.at.Inlines = append(s.at.Inlines,
				index.Inline{Function: fmt.Sprintf("i%d", r.IntN(9)), File: "i.h", Line: uint32(r.IntN(9))})
		}
		rva = s.end
		list[i] = s
	}
	return list
}

func build(t testing.TB, list []stretch, more func(*index.Builder)) []byte {
	t.Helper()
	b := index.NewBuilder("ABC1")
	for _, s := range list {
		if err := b.AddRange(s.start, s.end, s.at); err != nil {
			t.Fatal(err)
		}
	}
	if more != nil {
		more(b)
	}
	var out bytes.Buffer
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(t testing.TB, data []byte) *index.Index {
	t.Helper()
	x, err := index.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Every address of every segment is found as it was given, and none outside.
func TestLookup(t *testing.T) {
	for seed := range uint64(20) {
		list := invent(seed, 400)
		x := read(t, build(t, list, nil))
		if x.DebugID() != "ABC1" {
			t.Fatal(x.DebugID())
		}
		got := index.Location{Inlines: []index.Inline{}}
		end := uint32(0)
		for _, s := range list {
			for rva := end; rva < s.start; rva += 1 + (s.start-end)/7 {
				if x.Lookup(rva, &got) {
					t.Fatalf("0x%x lies between segments, found %+v", rva, got)
				}
			}
			for rva := s.start; rva < s.end; rva++ {
				want := s.at
				want.Displacement += rva - s.start
				if !x.Lookup(rva, &got) || !reflect.DeepEqual(got, want) {
					t.Fatalf("0x%x: %+v, want %+v", rva, got, want)
				}
			}
			end = s.end
		}
		for _, rva := range []uint32{end, end + 1, end + 0x10000, 1<<32 - 1} {
			if x.Lookup(rva, &got) {
				t.Errorf("0x%x lies behind all segments, found %+v", rva, got)
			}
		}
	}
}

func TestOMAP(t *testing.T) {
	x := read(t, build(t,
		[]stretch{{0x1000, 0x1100, index.Location{Function: "f"}}, {0x2000, 0x2100, index.Location{Function: "g"}}},
		func(b *index.Builder) {
			b.AddOMAP(0x5000, 0x2000)
			b.AddOMAP(0x5080, 0)
			b.AddOMAP(0x5100, 0x1010)
		}))
	for rva, want := range map[uint32]string{0x4fff: "", 0x5000: "g+0", 0x507f: "g+127", 0x5080: "", 0x50ff: "",
		0x5100: "f+16", 0x51ef: "f+255", 0x51f0: "", 0x1000: ""} {
		var l index.Location
		got := ""
		if x.Lookup(rva, &l) {
			got = fmt.Sprintf("%s+%d", l.Function, l.Displacement)
		}
		if got != want {
			t.Errorf("0x%x: %q, want %q", rva, got, want)
		}
	}
}

func TestTypes(t *testing.T) {
	x := read(t, build(t, nil, func(b *index.Builder) {
		b.AddType(0x30, "C")
		b.AddType(0x10, "A")
		b.AddType(0x20, "B")
		b.AddType(0x20, "B2")
	}))
	for ret, want := range map[uint32]string{0: "", 0x10: "A", 0x11: "", 0x20: "B", 0x30: "C", 0x31: ""} {
		if got := x.Type(ret); got != want {
			t.Errorf("0x%x: %q, want %q", ret, got, want)
		}
	}
}

func TestSegmentsOutOfOrder(t *testing.T) {
	b := index.NewBuilder("")
	if err := b.AddRange(0x1000, 0x1010, index.Location{Function: "f"}); err != nil {
		t.Fatal(err)
	}
	for _, s := range [][2]uint32{{0x1008, 0x1020}, {0x10, 0x20}, {0x2000, 0x2000}, {0x2001, 0x2000}} {
		if b.AddRange(s[0], s[1], index.Location{Function: "g"}) == nil {
			t.Errorf("segment 0x%x–0x%x was taken", s[0], s[1])
		}
	}
}

// An index that is cut, extended or changed anywhere is refused.
func TestDamaged(t *testing.T) {
	whole := build(t, invent(1, 30), func(b *index.Builder) { b.AddType(1, "T"); b.AddOMAP(0x1000, 0x1000) })
	for n := range whole {
		if _, err := index.Read(bytes.NewReader(whole[:n]), int64(n)); !errors.Is(err, index.ErrIndex) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
		bad := bytes.Clone(whole)
		bad[n] ^= 0x40
		if _, err := index.Read(bytes.NewReader(bad), int64(len(bad))); !errors.Is(err, index.ErrIndex) {
			t.Fatalf("byte %d changed: %v", n, err)
		}
	}
	if _, err := index.Read(bytes.NewReader(whole), 1<<32); !errors.Is(err, index.ErrIndex) {
		t.Errorf("of a size that is not there: %v", err)
	}
	if _, err := index.Read(bytes.NewReader(append(whole, 0)), int64(len(whole)+1)); !errors.Is(err, index.ErrIndex) {
		t.Errorf("one byte more: %v", err)
	}
}

// An index with a matching checksum may hold nonsense, but look-ups stay inside its bytes.
func FuzzLookup(f *testing.F) {
	f.Add(build(f, invent(3, 20), func(b *index.Builder) { b.AddType(5, "T"); b.AddOMAP(0, 0x1000) }), uint32(0x1010))
	f.Fuzz(func(_ *testing.T, data []byte, rva uint32) {
		x, err := index.Open(data)
		if err != nil {
			return
		}
		var l index.Location
		for _, rva := range []uint32{rva, 0, 1<<32 - 1} {
			x.Lookup(rva, &l)
			x.Type(rva)
		}
	})
}

func BenchmarkLookup(b *testing.B) {
	list := invent(7, 200_000)
	x := read(b, build(b, list, nil))
	last := list[len(list)-1].end
	r := rand.New(rand.NewPCG(1, 2))
	rvas := make([]uint32, 1<<16)
	for i := range rvas {
		rvas[i] = r.Uint32N(last)
	}
	var l index.Location
	x.Lookup(rvas[0], &l)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		x.Lookup(rvas[n%len(rvas)], &l)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "look-ups/s")
}
