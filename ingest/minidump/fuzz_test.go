package minidump_test

import (
	"testing"

	"heapdrift/ingest/minidump/minidumptest"
)

// FuzzDump reads whatever comes as a dump.
func FuzzDump(f *testing.F) {
	f.Add(everything().Bytes())
	f.Add(minidumptest.Dump{}.Bytes())
	small := everything()
	small.Small, small.System.Arch = true, "x86"
	f.Add(small.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) { survive(t, b) })
}

// FuzzStream reads whatever comes as each of the streams, in a dump that is whole otherwise.
func FuzzStream(f *testing.F) {
	whole := everything().Bytes()
	for _, s := range open(f, whole).Streams() {
		f.Add(uint8(s.Type), whole[s.Offset:s.Offset+s.Size])
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		for _, arch := range []string{"x64", "x86", "arm64"} {
			survive(t, minidumptest.Dump{System: minidumptest.System{Arch: arch},
				Extra: []minidumptest.Stream{{Type: uint32(kind), Data: data}}}.Bytes())
		}
	})
}

// FuzzImage reads whatever comes as an image in memory whose PDB the list of modules does not name.
func FuzzImage(f *testing.F) {
	for _, bits := range []int{32, 64} {
		f.Add(minidumptest.Image{Bits: bits, PDB: "a.pdb", GUID: someGUID, Age: 1}.Bytes(), uint32(0))
	}
	f.Fuzz(func(t *testing.T, image []byte, low uint32) {
		base := 0xFFFFFFFF00000000 + uint64(low) // where adding an offset may wrap
		survive(t, minidumptest.Dump{
			Modules: []minidumptest.Module{{Path: "a.dll", Base: base}},
			Memory:  []minidumptest.Memory{{Address: base, Bytes: image}},
		}.Bytes())
	})
}
