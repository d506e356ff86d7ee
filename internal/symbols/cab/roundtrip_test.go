package cab_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/symbols/cab"
	"heapdrift/internal/symbols/cab/cabtest"
)

// content is text, code with calls, and noise in turn.
func content(seed uint64, size int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	var b []byte
	for len(b) < size {
		switch r.IntN(4) {
		case 0:
			b = append(b, strings.Repeat(fmt.Sprintf("?method%d@Class@@QEAAXXZ\x00", r.IntN(50)), 1+r.IntN(30))...)
		case 1:
			for range r.IntN(40) {
				b = append(b, 0x55, 0xE8, byte(r.Uint32()), byte(r.IntN(3)), byte(0-r.IntN(2)), byte(0-r.IntN(2)), 0xC3)
			}
		case 2:
			b = append(b, make([]byte, r.IntN(5000))...)
		default:
			for range r.IntN(3000) {
				b = append(b, byte(r.Uint32()))
			}
		}
	}
	return b[:size]
}

func unpacked(t testing.TB, cabinet []byte) map[string][]byte {
	t.Helper()
	r, err := cab.Open(bytes.NewReader(cabinet), int64(len(cabinet)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, f := range r.Files() {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		if int64(len(b)) != f.Size {
			t.Errorf("%s has %d bytes of %d", f.Name, len(b), f.Size)
		}
		all[f.Name] = b
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	return all
}

// TestRoundTrip writes cabinets in every way and reads them.
func TestRoundTrip(t *testing.T) {
	verbatim, aligned, plain := cabtest.Verbatim, cabtest.Aligned, cabtest.Uncompressed
	for name, c := range map[string]cabtest.Cabinet{
		"stored":           {Method: cabtest.Stored},
		"mszip":            {Method: cabtest.MSZIP},
		"reserved":         {Method: cabtest.MSZIP, Reserved: [3]uint8{20, 4, 3}},
		"no checksums":     {Method: cabtest.MSZIP, NoChecksums: true},
		"verbatim":         {Method: cabtest.LZX},
		"aligned":          {Method: cabtest.LZX, LZX: []cabtest.LZXBlock{{Kind: aligned, Size: 1 << 20}}},
		"uncompressed":     {Method: cabtest.LZX, LZX: []cabtest.LZXBlock{{Kind: plain, Size: 1 << 20}}},
		"uncompressed odd": {Method: cabtest.LZX, LZX: []cabtest.LZXBlock{{Kind: plain, Size: 1001}}},
		"odd to frame's end": {Method: cabtest.LZX,
			LZX: []cabtest.LZXBlock{{Kind: verbatim, Size: 32767}, {Kind: plain, Size: 1}, {Kind: aligned, Size: 100}}},
		"mixed": {Method: cabtest.LZX,
			LZX: []cabtest.LZXBlock{{Kind: aligned, Size: 40001}, {Kind: plain, Size: 50001}, {Kind: verbatim, Size: 7},
				{Kind: plain, Size: 2}, {Kind: verbatim, Size: 70000}}},
		"calls": {Method: cabtest.LZX, Calls: 60_000,
			LZX: []cabtest.LZXBlock{{Kind: verbatim, Size: 90000}, {Kind: plain, Size: 5001}}},
		"all calls": {Method: cabtest.LZX, Calls: 12_000_000},
		"window 16": {Method: cabtest.LZX, Window: 16},
		"window 18": {Method: cabtest.LZX, Window: 18, LZX: []cabtest.LZXBlock{{Kind: aligned, Size: 30000}}},
		"window 21": {Method: cabtest.LZX, Window: 21,
			LZX: []cabtest.LZXBlock{{Kind: aligned, Size: 300000}, {Kind: verbatim, Size: 100}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{0, 11, 32768, 70_001} {
				c.Files = []cabtest.File{{Name: "a.pdb", Content: content(1, size)},
					{Name: `dir\b.dll`, Content: content(2, size/3)}}
				if c.Window > 0 && size > 70_000 {
					// the same again, as far away as the window reaches
					far := make([]byte, 1<<c.Window-3-10_000)
					c.Files = append(c.Files,
						cabtest.File{Name: "far", Content: append(append(content(4, 10_000), far...), content(4, 10_000)...)})
				}
				cabinet, err := c.Bytes()
				if err != nil {
					t.Fatal(err)
				}
				got := unpacked(t, cabinet)
				for _, f := range c.Files {
					if !bytes.Equal(got[f.Name], f.Content) {
						t.Errorf("%s of %d bytes comes out different", f.Name, len(f.Content))
					}
				}
			}
		})
	}
}

func TestDirectory(t *testing.T) {
	when := time.Date(2024, 2, 29, 13, 57, 58, 0, time.UTC)
	cabinet, err := (&cabtest.Cabinet{Files: []cabtest.File{
		{Name: "f\xfcr.pdb", Content: []byte("1"), Modified: when, Attributes: cab.AttributeReadOnly},
		{Name: "für.pdb", Content: []byte("22"), Attributes: cab.AttributeNameUTF8 | cab.AttributeArchive},
	}}).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	r, err := cab.Open(bytes.NewReader(cabinet), int64(len(cabinet)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []cab.File{
		{Name: "für.pdb", Size: 1, Modified: when, Attributes: cab.AttributeReadOnly},
		{Name: "für.pdb", Size: 2, Attributes: cab.AttributeNameUTF8 | cab.AttributeArchive},
	} {
		got := r.Files()[i]
		if got.Name != want.Name || got.Size != want.Size || !got.Modified.Equal(want.Modified) ||
			got.Attributes != want.Attributes {
			t.Errorf("file %d is %+v, want %+v", i, got, want)
		}
	}
}

// TestTwoOpen reads two files of one cabinet in turns.
func TestTwoOpen(t *testing.T) {
	a, b := content(1, 100_000), content(2, 100_000)
	cabinet, err := (&cabtest.Cabinet{Method: cabtest.LZX,
		Files: []cabtest.File{{Name: "a", Content: a}, {Name: "b", Content: b}}}).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	r, err := cab.Open(bytes.NewReader(cabinet), int64(len(cabinet)))
	if err != nil {
		t.Fatal(err)
	}
	var in [2]io.ReadCloser
	var got [2][]byte
	for i := range in {
		if in[i], err = r.Files()[i].Open(); err != nil {
			t.Fatal(err)
		}
	}
	buffer := make([]byte, 777)
	for open := 2; open > 0; {
		open = 0
		for i := range in {
			n, err := in[i].Read(buffer)
			got[i] = append(got[i], buffer[:n]...)
			if err == nil {
				open++
			} else if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
		}
	}
	if !bytes.Equal(got[0], a) || !bytes.Equal(got[1], b) {
		t.Error("the files come out different")
	}
}
