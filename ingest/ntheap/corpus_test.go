package ntheap_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/ntheap"
	"heapdrift/internal/corpus"
)

type allocation struct {
	Addr, Size, UST uint64
	Frames          []string
	Class           string
}

// corrected is the memory of the invented dump with what its maker did not know: an entry has a bit that says that a
// prefix follows, and the prefix of a virtual block counts itself among the unused bytes.
func corrected(t *testing.T, m ntheap.Memory, blocks []allocation) ntheap.Memory {
	t.Helper()
	p := &patchedMemory{Memory: m}
	for _, a := range blocks {
		at, change := a.Addr-0x30+15, byte(0x40)
		switch a.Class {
		case "lfh":
			continue
		case "virtual":
			at, change = a.Addr-4, 0
		}
		b := make([]byte, 1)
		if _, err := m.ReadMemory(b, at); err != nil {
			t.Fatal(err)
		}
		b[0] ^= change
		if a.Class == "virtual" {
			b[0] += 0x20
		}
		p.patches = append(p.patches, patch{at, b})
	}
	return p
}

// TestStackTraces compares with what the maker of an invented dump of Windows 10 says: every block with its stack.
func TestStackTraces(t *testing.T) {
	memory := readDump(t, "dumps", "synthetic", "win10_x64_ust_synthetic.dmp")
	text, err := os.ReadFile(corpus.Path(t, "dumps", "synthetic", "win10_x64_ust_synthetic.truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var truth struct {
		Heap        string
		Key         string               `json:"lfh_key"`
		Callers     map[string][2]uint64 `json:"by_caller"`
		Allocations []allocation         `json:"allocations"`
	}
	if err := json.Unmarshal(text, &truth); err != nil {
		t.Fatal(err)
	}
	code := func(a uint64) bool { return a>>40 == 0x7f }
	heaps, err := ntheap.Open(t.Context(), ntheap.Process{Memory: corrected(t, memory, truth.Allocations), PEB: 0x2f0000,
		Bits: 64, Version: ntheap.Version{Major: 10, Build: 19045}, Code: code})
	if err != nil || len(heaps.List) != 1 || !heaps.StackTraces || len(heaps.Gaps)+len(heaps.Notes) > 0 {
		t.Fatalf("open: %v, %d heaps, gaps %v, notes %q", err, len(heaps.List), heaps.Gaps, heaps.Notes)
	}
	if key, ok := heaps.LFHKey(); fmt.Sprintf("%#x", key) != truth.Key || !ok {
		t.Errorf("LFH key %#x %v, want %s", key, ok, truth.Key)
	}
	var got []allocation
	callers := map[string][2]uint64{}
	walked, err := heaps.List[0].Walk(t.Context(), func(b ntheap.Block) error {
		a := allocation{Addr: b.Address, Size: b.Size, UST: b.Trace,
			Class: strings.ToLower(strings.Fields(b.Area.String())[0])}
		for _, frame := range heaps.Stack(b.Trace, nil) {
			a.Frames = append(a.Frames, fmt.Sprintf("%#x", frame))
			if _, ok := truth.Callers[a.Frames[len(a.Frames)-1]]; ok {
				u := callers[a.Frames[len(a.Frames)-1]]
				callers[a.Frames[len(a.Frames)-1]] = [2]uint64{u[0] + 1, u[1] + b.Size}
			}
		}
		got = append(got, a)
		return nil
	})
	if err != nil || len(walked.Gaps)+len(walked.Warnings) > 0 || fmt.Sprintf("%#x", heaps.List[0].Handle) != truth.Heap {
		t.Errorf("walk of %#x: %v, gaps %v, warnings %v", heaps.List[0].Handle, err, walked.Gaps, walked.Warnings)
	}
	own := walked.Areas[ntheap.Bookkeeping] // one at the end of each segment; the maker does not count them
	if f := walked.Facts; f.Busy.Count-own.Count != 518 || f.Busy.Bytes-own.Bytes != 3_747_416 || own.Count != 2 ||
		f.Walked != f.Committed {
		t.Errorf("facts %+v", f)
	}
	if fmt.Sprint(callers) != fmt.Sprint(truth.Callers) {
		t.Errorf("by caller %v, want %v", callers, truth.Callers)
	}
	want := map[uint64]string{}
	for _, a := range truth.Allocations {
		want[a.Addr] = fmt.Sprint(a)
	}
	for _, a := range got {
		if want[a.Addr] != fmt.Sprint(a) {
			t.Errorf("block %v, want %v", a, want[a.Addr])
		}
		delete(want, a.Addr)
	}
	for at := range want {
		t.Errorf("no block at %#x", at)
	}
}

// TestWine refuses the heaps of a process that ran under Wine, and says what they are.
func TestWine(t *testing.T) {
	memory := readDump(t, "dumps", "wine", "wine_mkdump_leak2.dmp.zst")
	p := ntheap.Process{Memory: memory, PEB: 0x67ff0000, Bits: 64,
		Version: ntheap.Version{Major: 6, Minor: 1, Build: 7601}}
	for _, r := range memory.ranges {
		p.Candidates = append(p.Candidates, r.start)
	}
	heaps, err := ntheap.Open(t.Context(), p)
	if err != nil || len(heaps.List) != 0 {
		t.Fatalf("%v, %d heaps, notes %q", err, len(heaps.List), heaps.Notes)
	}
	var refused []capture.Address // Wine's own heaps, by what the process has printed
	for _, gap := range heaps.Gaps {
		if gap.What != "heap" || !strings.Contains(gap.Why, "not a Windows NT heap") {
			t.Errorf("gap %+v", gap)
		}
		refused = append(refused, gap.Address)
	}
	if want := []capture.Address{0x240000, 0xb80000, 0xfa0000}; !slices.Equal(refused, want) {
		t.Errorf("refused %v, want %v", refused, want)
	}
}
