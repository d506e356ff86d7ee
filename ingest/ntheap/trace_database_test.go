package ntheap_test

import (
	"encoding/binary"
	"testing"

	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// TestTraceDatabase finds the stack trace database by its own header. Without the database, or if the header is wrong,
// blocks have the right sizes and no stacks.
func TestTraceDatabase(t *testing.T) {
	const base, array, size = 0x48, 0x64, 0x8000
	for _, v := range []*ntheaptest.WindowsVersion{ntheaptest.XPx86, ntheaptest.Win7x86, ntheaptest.Win10x86} {
		made := ntheaptest.Make(ntheaptest.Recipe{Windows: v, Seed: 5, Stacks: true, Blocks: 100})
		database := made.TraceDatabase
		word := func(at, value uint64) patch { return patch{at, binary.LittleEndian.AppendUint32(nil, uint32(value))} }
		end := uint64(binary.LittleEndian.Uint32(readAt(t, made, database+array, 4)))
		if end != database+size {
			t.Fatalf("the database of %s ends at %#x", v.Name, end)
		}
		for _, test := range []struct {
			name    string
			patches []patch
			found   bool
		}{
			{"as it is", nil, true},
			{"it begins elsewhere", []patch{word(database+base, database+4)}, false},
			{"it ends before it begins", []patch{word(database+array, database-4)}, false},
			{"it ends where it begins", []patch{word(database+array, database)}, false},
			{"it ends nowhere", []patch{word(database+array, 0)}, false},
			{"it ends in what is not there", []patch{word(database+array, 0xFFFFFFF0)}, false},
			{"its first stack lies before it", []patch{word(end-4, database-4)}, false},
			{"its first stack lies at its end", []patch{word(end-4, end)}, false},
			{"its first stack is the last that can be", []patch{word(end-4, end-4)}, true},
		} {
			p := process(made)
			p.Memory = &patchedMemory{made.Memory, test.patches}
			compareNumbered(t, v.Name+", "+test.name, made, p, test.found)
		}
		p := process(made)
		p.Candidates = nil
		compareNumbered(t, v.Name+", no reservations are known", made, p, false)
	}
}

// compareNumbered compares blocks but for stacks, and counts stacks that blocks have by number: with the database at
// least half of them must be right, without it none is there.
func compareNumbered(t *testing.T, name string, made *ntheaptest.Process, p ntheap.Process, found bool) {
	t.Helper()
	truth := map[uint64]ntheaptest.Block{}
	for _, b := range made.Blocks {
		truth[b.Address] = b
	}
	o := read(t, p)
	numbered, right := 0, 0
	for _, b := range o.blocks {
		want := truth[b.Address]
		if b.Size != want.Size {
			t.Errorf("%s: block %x, want %x", name, b, want)
		}
		prefix := readAt(t, made, b.Address-2, 2)
		if want.Stack == nil || !made.Windows.Old() && prefix[0] == 2 && prefix[1] == 5 {
			continue
		}
		numbered++
		if len(b.Stack) == len(want.Stack) && b.Stack[0] == want.Stack[0] {
			right++
		} else if len(b.Stack) > 0 {
			t.Errorf("%s: block %x, want %x", name, b, want)
		}
	}
	if len(o.blocks) != len(made.Blocks) || numbered == 0 || found && 2*right < numbered || !found && right > 0 {
		t.Errorf("%s: %d of %d blocks, %d of %d stacks", name, len(o.blocks), len(made.Blocks), right, numbered)
	}
}

func readAt(t *testing.T, made *ntheaptest.Process, at uint64, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	if _, err := made.Memory.ReadMemory(b, at); err != nil {
		t.Fatal(err)
	}
	return b
}
