package minidump_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"heapdrift/ingest/minidump"
	"heapdrift/ingest/minidump/minidumptest"
)

// sparse opens a dump whose zeros are holes in the file.
func sparse(t testing.TB, dump minidumptest.Dump) (*minidump.Dump, int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "large.dmp")
	size, err := dump.Create(path)
	if err != nil {
		t.Skipf("no room for a sparse file: %v", err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if info, err := f.Stat(); err != nil || info.Size() != size {
		t.Fatalf("%v, the file has %d bytes and not %d", err, info.Size(), size)
	}
	d, err := minidump.Open(t.Context(), f, size)
	if err != nil {
		t.Fatal(err)
	}
	return d, size
}

// Memory may lie beyond offsets of 32 bits, as in most large dumps: because it begins there, or because the sizes of
// ranges lead there.
func TestBeyond4GB(t *testing.T) {
	const gigabyte = 1 << 30
	for _, at := range []int64{0, 5 * gigabyte} {
		d, size := sparse(t, minidumptest.Dump{
			MemoryAt: at,
			Modules:  []minidumptest.Module{{Path: "a.exe", Base: 0x7FF600000000}},
			Memory: []minidumptest.Memory{
				{Address: 0x10000, Bytes: []byte("before")},
				{Address: 0x100000000, Size: 3 * gigabyte},
				{Address: 0x300000000, Size: 3 * gigabyte},
				{Address: 0x7FF600000000, Bytes: minidumptest.Image{PDB: "a.pdb", Bits: 64, GUID: someGUID, Age: 3}.Bytes()},
				{Address: 0x7FF700000000, Size: 6, From: bytes.NewReader([]byte("behind"))},
				{Address: 0x7FF800000000, Size: 1 << 20},
			},
		})
		if size < 6*gigabyte+at || len(d.Damage()) > 0 || d.Memory().MissingBytes() != 0 {
			t.Errorf("%d bytes, damage %v", size, d.Damage())
		}
		for _, c := range []struct {
			at   uint64
			want string
		}{{0x10000, "before"}, {0x7FF700000000, "behind"}, {0x300000000 + 3*gigabyte - 6, "\x00\x00\x00\x00\x00\x00"},
			{0x7FF800000000 + 1<<20 - 6, "\x00\x00\x00\x00\x00\x00"}} {
			p := make([]byte, 6)
			if _, err := d.Memory().ReadMemory(p, c.at); err != nil || string(p) != c.want {
				t.Errorf("%#x: %q, %v", c.at, p, err)
			}
		}
		if m, err := d.Modules(); err != nil || m[0].DebugID != someDebugID+"3" {
			t.Errorf("%v, %+v", err, m)
		}
	}
}

// Reading a dump of a large process takes memory for its lists, not for the memory it contains.
func TestLargeProcessCostsLittle(t *testing.T) {
	if underRace {
		t.Skip("the race detector is on")
	}
	dump := minidumptest.Dump{}
	for i := range 100_000 {
		at := 0x10000 + uint64(i)*0x20000
		dump.Memory = append(dump.Memory, minidumptest.Memory{Address: at, Size: 0x8000})
		dump.Regions = append(dump.Regions,
			minidumptest.Region{Base: at, Size: 0x8000, AllocationBase: at, State: 0x1000, Protect: 4, Type: 0x20000},
			minidumptest.Region{Base: at + 0x8000, Size: 0x18000, AllocationBase: at, State: 0x2000, Type: 0x20000})
	}
	for i := range 50_000 {
		dump.Handles = append(dump.Handles,
			minidumptest.Handle{Handle: uint64(4 * i), Type: "Event", Name: fmt.Sprintf(`\BaseNamedObjects\event-%d`, i)})
	}
	d, size := sparse(t, dump)
	dump = minidumptest.Dump{}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	handles := 0
	if err := d.EachHandle(func(h minidump.Handle) bool { handles++; return h.Type == "Event" }); err != nil {
		t.Error(err)
	}
	regions, err := d.Regions()
	if err != nil {
		t.Error(err)
	}
	p, read := make([]byte, 1<<16), int64(0)
	ranges := d.Memory().Ranges()
	for i := 0; i < len(ranges); i += 100 {
		r := ranges[i]
		n, err := d.Memory().ReadMemory(p[:r.Size], r.Address)
		if err != nil {
			t.Fatal(err)
		}
		read += int64(n)
	}
	runtime.ReadMemStats(&after)
	if cost := after.TotalAlloc - before.TotalAlloc; cost > 40<<20 {
		t.Errorf("%d bytes were allocated for a dump of %d", cost, size)
	}
	if len(ranges) != 100_000 || read != 1000*0x8000 || len(regions) != 200_000 || handles != 50_000 {
		t.Errorf("%d bytes, %d regions, %d handles", read, len(regions), handles)
	}
}
