package ntheap_test

import (
	"encoding/binary"
	"io"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"heapdrift/internal/corpus"
)

// dumpMemory is the memory in a full minidump, Memory64List alone.
type dumpMemory struct {
	file   []byte
	ranges []struct{ start, size, at uint64 }
}

func readDump(t testing.TB, elements ...string) *dumpMemory {
	t.Helper()
	f, err := os.Open(corpus.Path(t, elements...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(f.Name(), ".zst") {
		z, err := zstd.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		r = z
	}
	file, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	d, le := &dumpMemory{file: file}, binary.LittleEndian
	for entry := file[le.Uint32(file[12:]):][:12*le.Uint32(file[8:])]; len(entry) > 0; entry = entry[12:] {
		if le.Uint32(entry) != 9 {
			continue
		}
		list := file[le.Uint32(entry[8:]):]
		at := le.Uint64(list[8:])
		for i := range le.Uint64(list) {
			start, size := le.Uint64(list[16+16*i:]), le.Uint64(list[24+16*i:])
			d.ranges = append(d.ranges, struct{ start, size, at uint64 }{start, size, at})
			at += size
		}
	}
	return d
}

func (d *dumpMemory) ReadMemory(p []byte, addr uint64) (int, error) {
	n := 0
	for n < len(p) {
		at := addr + uint64(n)
		i := sort.Search(len(d.ranges), func(i int) bool { return d.ranges[i].start+d.ranges[i].size > at })
		if i == len(d.ranges) || d.ranges[i].start > at {
			return n, io.ErrUnexpectedEOF
		}
		r := d.ranges[i]
		n += copy(p[n:], d.file[r.at+at-r.start:][:r.start+r.size-at])
	}
	return n, nil
}
