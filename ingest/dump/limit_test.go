package dump

import (
	"bytes"
	"math"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/minidump/minidumptest"
)

func TestLimitOfTheAddressSpace(t *testing.T) {
	const (
		free    = 0x10000 // of winnt.h
		reserve = 0x2000
		base    = 0x40_0000 // of the program's image
	)
	region := func(base, size uint64, state uint32) []minidumptest.Region {
		return []minidumptest.Region{{Base: base, Size: size, AllocationBase: base, State: state, Protect: 1,
			Type: map[uint32]uint32{reserve: 0x20000}[state]}}
	}
	plain, aware := &minidumptest.Image{Bits: 32}, &minidumptest.Image{Bits: 32, LargeAddressAware: true}
	for name, test := range map[string]struct {
		arch    string
		wow64   bool
		image   *minidumptest.Image // header of the program; nil where the dump does not have it
		regions []minidumptest.Region
		limit   int64
		free    int64
	}{
		"64 bits":                     {"x64", false, aware, region(0x7FFF_0000_0000, 0x1_0000, free), 0, 0x1_0000},
		"32 bits on 64-bit Windows":   {"x64", true, plain, region(0x7F00_0000, 1<<32, free), 2 * gigabyte, 0x100_0000},
		"large address aware":         {"x64", true, aware, region(0xC000_0000, 1<<32, free), 4 * gigabyte, gigabyte},
		"free beyond what it may use": {"x64", true, plain, region(2*gigabyte, 1<<32, free), 2 * gigabyte, 0},
		"without the header":          {"x64", true, nil, region(0xC000_0000, 1<<32, free), 0, gigabyte},
		"32-bit Windows": {"x86", false, plain, region(0x7F00_0000, 0xFF_0000, free),
			2 * gigabyte, 0xFF_0000},
		"aware, Windows has 2 GB": {"x86", false, aware, region(0x7F00_0000, 0xFF_0000, free),
			2 * gigabyte, 0xFF_0000},
		"aware, Windows started with 3GB": {"x86", false, aware, region(0xB000_0000, 0xFFF_0000, free),
			3 * gigabyte, 0xFFF_0000},
		"without the header, on 32 bits": {"x86", false, nil, region(0xB000_0000, 0xFFF_0000, free),
			3 * gigabyte, 0xFFF_0000},
		"without header and regions": {"x86", false, nil, nil, 0, 0},
		"a header of something else": {"x64", true, &minidumptest.Image{},
			region(0xC000_0000, 0x1_0000, reserve), 0, 0},
		"what Windows keeps from it":        {"x64", true, plain, region(0x7FFF_0000, 1<<46, reserve), 2 * gigabyte, 0},
		"a region longer than all there is": {"x86", false, nil, region(0xB000_0000, 1<<62, reserve), 4 * gigabyte, 0},
		"free for ever":                     {"x64", false, nil, region(0, math.MaxUint64, free), 0, math.MaxInt64},
		"reserved for ever":                 {"x64", false, nil, region(1, math.MaxUint64-1, reserve), 0, 0},
		"above all there is":                {"x64", false, nil, region(1<<63, 1<<62, reserve), 0, 0},
	} {
		d := minidumptest.Dump{System: minidumptest.System{Arch: test.arch},
			Modules: []minidumptest.Module{{Path: `C:\app\app.exe`, Base: base, Size: 0x1_0000}}, Regions: test.regions}
		if test.wow64 {
			d.Modules = append(d.Modules,
				minidumptest.Module{Path: `C:\Windows\System32\wow64.dll`, Base: 0x7FFF_1000_0000, Size: 0x1000})
		}
		if test.image != nil {
			head := test.image.Bytes()
			if test.image.Bits == 0 {
				clear(head)
			}
			d.Memory = append(d.Memory, minidumptest.Memory{Address: base, Bytes: head})
		}
		data := d.Bytes()
		opened, err := minidump.Open(t.Context(), bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		p, err := openProcess(t.Context(), dumpFile{opened})
		if err != nil {
			t.Fatal(err)
		}
		s := p.spaceOf(nil, nil)
		left, reserved := int64(0), int64(0)
		for _, u := range s.Uses {
			if u.Reserved < 0 || u.Committed < 0 || u.Largest < 0 {
				t.Errorf("%s: %+v", name, u)
			}
			if u.Name == capture.UseFree {
				left = u.Reserved
			} else {
				reserved += u.Reserved
			}
		}
		if s.Limit != test.limit || left != test.free {
			t.Errorf("%s: limit %#x, %#x bytes are free; want %#x and %#x", name, s.Limit, left, test.limit, test.free)
		}
		if end := max(test.limit, 4*gigabyte); p.bits() == 32 && reserved > end {
			t.Errorf("%s: a 32-bit program has reserved %#x bytes", name, reserved)
		}
	}
}
