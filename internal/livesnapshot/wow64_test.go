package livesnapshot

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/dump"
	"heapdrift/internal/corpus"
)

// A 32-bit process on 64-bit Windows has the modules of both loaders and the heaps of both sides.
func TestWOW64Process(t *testing.T) {
	data := readDump(t, corpus.Path(t, "dumps", "llvm", "fizzbuzz_wow64.dmp.zst"))
	want, err := dump.Read(t.Context(), bytes.NewReader(data), int64(len(data)), dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	target := serveDump(t, data)
	target.known.WOW64PEB = wow64PEB(t, target)
	_, got := taken(t, target)
	names := map[string]int{}
	for _, m := range got.Modules {
		names[strings.ToLower(m.FileName())]++
	}
	if names["ntdll.dll"] != 2 || names["wow64.dll"] != 1 || got.Modules[0].FileName() != want.Process.Name ||
		got.Process.Bits != 32 {
		t.Errorf("%+v %v", got.Process, names)
	}
	for _, m := range want.Modules {
		i := slices.IndexFunc(got.Modules, func(other capture.Module) bool { return other.Base == m.Base })
		if i < 0 {
			t.Errorf("%s at %#x is missing", m.Path, m.Base)
			continue
		}
		// The writer of the dump, a 64-bit program, asked the 64-bit file of this name for its PDB; memory has the other.
		const misread = "api-ms-win-core-synch-l1-2-0.dll"
		g := got.Modules[i]
		if g.Size != m.Size || !strings.EqualFold(g.FileName(), m.FileName()) ||
			g.DebugID != "" && g.DebugID != m.DebugID && !strings.EqualFold(g.FileName(), misread) {
			t.Errorf("module %+v, want %+v", g, m)
		}
	}
	sameBlocks(t, got, want)
}

// wow64PEB is what Windows answers to ProcessWow64Information: the PEB that the 32-bit TEB names. Behind the 64-bit
// TEB lies the 32-bit one.
func wow64PEB(t *testing.T, target *dumpTarget) uint64 {
	t.Helper()
	var b [4]byte
	if _, err := target.dump.Memory().ReadMemory(b[:], target.threads[0].TEB+0x2000+0x30); err != nil {
		t.Fatal(err)
	}
	return uint64(le.Uint32(b[:]))
}
