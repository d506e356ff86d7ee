package dump_test

import (
	"strings"
	"testing"

	"heapdrift/ingest/dump/dumptest"
	"heapdrift/ingest/minidump/minidumptest"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// The search for pointers says how much memory that may hold some is not in the dump, and nothing where all is: memory
// that the program cannot write holds none.
func TestMissingMemoryLimitsTheSearch(t *testing.T) {
	const commit, reserve, private, readWrite, readOnly = 0x1000, 0x2000, 0x20000, 0x04, 0x02
	for name, test := range map[string]struct {
		state, protect uint32
		want           string
	}{
		"written":   {commit, readWrite, "; 4.00 KB of memory that pointers may lie in are not in the dump"},
		"read only": {commit, readOnly, ""},
		"reserved":  {reserve, 0, ""},
	} {
		p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 5, Heaps: 1, Segments: 1, Blocks: 10})
		d := dumptest.Of(p, dumptest.Program{})
		last := d.Regions[len(d.Regions)-1]
		at := last.Base + last.Size
		d.Regions = append(d.Regions, minidumptest.Region{Base: at, Size: 0x1000, AllocationBase: at,
			AllocationProtect: readWrite, State: test.state, Protect: test.protect, Type: private})
		note := readBytes(t, d.Bytes()).Memory.Reach.Note
		if !strings.HasSuffix(note, "as EncodePointer does, are not seen"+test.want) {
			t.Errorf("%s: %q, want %q at its end", name, note, test.want)
		}
	}
}
