package sevenzip_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	oracle "github.com/bodgit/sevenzip"

	"heapdrift/ingest/sevenzip"
)

// contents are the files of an archive as "name=bytes" in their order, up to the first error.
func contents(data []byte) (list []string, err error) {
	a, err := sevenzip.Open(bytes.NewReader(data), int64(len(data)), 1000)
	if err != nil {
		return nil, err
	}
	for i, f := range a.Files {
		if f.IsDir {
			continue
		}
		r, err := a.Content(i)
		if err != nil {
			return list, err
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return list, fmt.Errorf("%s: %w", f.Name, err)
		}
		if uint64(len(text)) != f.Size() {
			return list, fmt.Errorf("%s: %d bytes of %d", f.Name, len(text), f.Size())
		}
		list = append(list, f.Name+"="+string(text))
	}
	return list, nil
}

// expected are the same by another implementation.
func expected(data []byte) (list []string, err error) {
	z, err := oracle.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return list, err
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return list, err
		}
		if f.CRC32 != 0 && f.CRC32 != crc32.ChecksumIEEE(text) {
			return list, fmt.Errorf("%s: checksum", f.Name)
		}
		list = append(list, f.Name+"="+string(text))
	}
	return list, nil
}

func compare(t *testing.T, data []byte) {
	t.Helper()
	want, err := expected(data)
	if err != nil {
		t.Fatal("the other implementation: ", err)
	}
	got, err := contents(data)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("file %d: %.60q… of %d bytes, want %.60q… of %d", i, got[i], len(got[i]), want[i], len(want[i]))
			}
		}
		t.Fatalf("%d files, want %d", len(got), len(want))
	}
}

// Archives that 7-Zip has written, one for each method, give what another implementation reads in them.
func TestOtherImplementation(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/bodgit/sevenzip").Output()
	if err != nil {
		t.Skip("go list does not find the module of the other implementation: ", err)
	}
	for _, name := range []string{"arm", "arm64", "bcj", "bcj2", "bzip2", "copy", "deflate", "delta", "empty", "empty2",
		"file_and_empty", "lzma", "lzma2", "ppc", "ppmd", "sparc", "t0", "t1"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "testdata", name+".7z"))
			if err != nil {
				t.Skip(err)
			}
			compare(t, data)
		})
	}
}

// A chain is a 7z of one file, in one folder of coders.
type chain struct {
	coders string   // of the folder, with their number
	pairs  string   // input, output; and the inputs of the packed streams
	sizes  []uint64 // of what comes out of each coder
	packed [][]byte
}

func number(v uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{0xFF}, v) }

func (c chain) archive() []byte {
	h := append([]byte{0x01, 0x04, 0x06, 0, byte(len(c.packed)), 0x09}, nil...)
	var body []byte
	for _, p := range c.packed {
		h, body = append(h, number(uint64(len(p)))...), append(body, p...)
	}
	h = append(h, 0x00, 0x07, 0x0B, 1, 0)
	h = append(h, c.coders+c.pairs+"\x0C"...)
	for _, size := range c.sizes {
		h = append(h, number(size)...)
	}
	h = append(h, 0x00, 0x00, 0x05, 1, 0x11, 5, 0, 'f', 0, 0, 0, 0x00, 0x00)
	start := binary.LittleEndian.AppendUint64(nil, uint64(len(body)))
	start = binary.LittleEndian.AppendUint64(start, uint64(len(h)))
	start = binary.LittleEndian.AppendUint32(start, crc32.ChecksumIEEE(h))
	all := binary.LittleEndian.AppendUint32([]byte(sevenzip.Signature+"\x00\x04"), crc32.ChecksumIEEE(start))
	return append(append(append(all, start...), body...), h...)
}

// program are bytes among which those of branches are frequent.
func program(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	frequent := []byte{0xE8, 0xE9, 0x0F, 0x80, 0x84, 0x00, 0xFF, 0xEB, 0x48, 0x01, 0x40, 0x7F, 0xC0, 0x94, 0x97, 0x90, 0xB0}
	for i := range b {
		if b[i] = byte(random.Uint32()); random.IntN(3) > 0 {
			b[i] = frequent[random.IntN(len(frequent))]
		}
	}
	return b
}

// Filters convert as another implementation does, over the ends of their buffers and of the program.
func TestFilters(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, coder := range map[string]string{
		"x86": "\x01\x04\x03\x03\x01\x03", "PPC": "\x01\x04\x03\x03\x02\x05", "ARM": "\x01\x04\x03\x03\x05\x01",
		"SPARC": "\x01\x04\x03\x03\x08\x05", "ARM64": "\x01\x01\x0a", "delta 1": "\x01\x21\x03\x01\x00",
		"delta 7": "\x01\x21\x03\x01\x06", "delta 255": "\x01\x21\x03\x01\xFE",
		"copy, then x86": "\x02\x04\x03\x03\x01\x03\x01\x00", "x86, then copy": "\x02\x01\x00\x04\x03\x03\x01\x03",
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 3, 4, 5, 6, 9, 1000, 32<<10 - 1, 32 << 10, 32<<10 + 3, 100_001} {
				b := program(random, n)
				c := chain{coders: coder, sizes: []uint64{uint64(n)}, packed: [][]byte{b}}
				switch coder[0] {
				case 2:
					c.sizes = append(c.sizes, uint64(n))
					if c.pairs = "\x01\x00"; strings.HasSuffix(coder, "\x00") {
						c.pairs = "\x00\x01"
					}
				}
				if c.pairs == "\x00\x01" { // the other implementation wants a coder behind those that feed it
					got, err := contents(c.archive())
					c.coders, c.pairs = "\x02\x01\x00\x04\x03\x03\x01\x03", "\x01\x00"
					want, wantErr := expected(c.archive())
					if !slices.Equal(got, want) || err != nil || wantErr != nil {
						t.Errorf("%d bytes differ: %v, %v", n, err, wantErr)
					}
					continue
				}
				compare(t, c.archive())
			}
		})
	}
}

// The furthest distance is one that the other implementation cannot read.
func TestDelta256(t *testing.T) {
	b := make([]byte, 600)
	for i := range b {
		b[i] = byte(i >> 8) // rows of 256 zeros, ones and twos
	}
	got, err := contents(chain{coders: "\x01\x21\x03\x01\xFF", sizes: []uint64{600}, packed: [][]byte{b}}.archive())
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []byte(got[0][2:]) {
		if want := [3]byte{0, 1, 3}[i>>8]; c != want {
			t.Fatalf("byte %d is %d, want %d", i, c, want)
		}
	}
}

// Programs of four streams come together as another implementation has them, whatever the streams hold.
func TestBCJ2(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const coders = "\x01\x14\x03\x03\x01\x1b\x04\x01"
	for _, n := range []int{1, 10, 1000, 70_000} {
		main, calls, jumps, bits := program(random, n), make([]byte, 4*n), make([]byte, 4*n), make([]byte, n+5)
		for _, b := range [][]byte{calls, jumps, bits[1:]} {
			for i := range b {
				b[i] = byte(random.Uint32())
			}
		}
		c := chain{coders: coders, pairs: "\x00\x01\x02\x03", sizes: []uint64{uint64(n)}, packed: [][]byte{main, calls, jumps, bits}}
		compare(t, c.archive())
	}
}

// A header that contradicts itself is refused.
func TestClaims(t *testing.T) {
	ok := chain{coders: "\x02\x01\x00\x01\x00", pairs: "\x01\x00", sizes: []uint64{3, 3}, packed: [][]byte{[]byte("abc")}}
	if got, err := contents(ok.archive()); err != nil || got[0] != "f=abc" {
		t.Fatal(got, err)
	}
	const bcj2 = "\x01\x14\x03\x03\x01\x1b\x04\x01"
	four := [][]byte{nil, nil, nil, nil}
	for name, c := range map[string]chain{
		"a coder that feeds itself":   {ok.coders, "\x00\x00", ok.sizes, ok.packed},
		"coders that feed each other": {"\x03\x01\x00\x01\x00\x01\x00", "\x01\x02\x02\x01", []uint64{3, 3, 3}, ok.packed},
		"an input out of range":       {ok.coders, "\x02\x00", ok.sizes, ok.packed},
		"an output out of range":      {ok.coders, "\x00\x02", ok.sizes, ok.packed},
		"an input fed twice":          {bcj2, "\x00\x01\x02\x02", []uint64{0}, four},
		"an output bound twice":       {"\x03\x01\x00\x01\x00\x01\x00", "\x00\x01\x02\x01", []uint64{3, 3, 3}, ok.packed},
		"too few packed streams":      {bcj2, "\x00\x01\x02\x03", []uint64{0}, four[:3]},
		"too few inputs":              {"\x01\x14\x03\x03\x01\x1b\x03\x01", "\x00\x01\x02", []uint64{0}, four[:3]},
		"two outputs":                 {"\x01\x11\x00\x01\x02", "", []uint64{3, 3}, ok.packed},
		"more than fits an int":       {"\x01\x01\x00", "", []uint64{1<<62 + 1}, ok.packed},
		"no coder":                    {"\x00", "", nil, ok.packed},
		"more than is packed":         {"\x01\x01\x00", "", []uint64{4}, ok.packed},
	} {
		if got, err := contents(c.archive()); err == nil {
			t.Errorf("%s: read as %q", name, got)
		}
	}
}

// Archives that are packed twice are refused: each method would multiply what a byte takes to unpack.
func TestPackedTwice(t *testing.T) {
	inner, twice := []byte("\x01\x00\x02abc\x00"), "the archive is packed twice"
	for name, test := range map[string]struct {
		c    chain
		says string
	}{
		"Deflate in LZMA2": {chain{coders: "\x02\x03\x04\x01\x08\x21\x21\x01\x10", pairs: "\x00\x01", sizes: []uint64{3, 3}, packed: [][]byte{inner}}, twice},
		"LZMA2 in LZMA2":   {chain{coders: "\x02\x21\x21\x01\x10\x21\x21\x01\x10", pairs: "\x00\x01", sizes: []uint64{3, 3}, packed: [][]byte{inner}}, twice},
		"a filter between": {chain{coders: "\x03\x21\x21\x01\x10\x21\x03\x01\x00\x21\x21\x01\x10", pairs: "\x00\x01\x01\x02", sizes: []uint64{3, 3, 3}, packed: [][]byte{inner}}, twice},
		"a filter alone":   {chain{coders: "\x02\x21\x03\x01\x00\x21\x21\x01\x10", pairs: "\x00\x01", sizes: []uint64{3, 3}, packed: [][]byte{inner}}, ""},
	} {
		_, err := contents(test.c.archive())
		if says := fmt.Sprint(err); test.says == "" && err != nil || !strings.Contains(says, test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
