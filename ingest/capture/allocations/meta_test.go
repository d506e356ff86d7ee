package allocations

import (
	"maps"
	"reflect"
	"testing"
	"time"
)

func TestTableKeepsMeta(t *testing.T) {
	stacks := map[uint32][]uint64{1: {0x7ff8_0000_1234, 1<<64 - 1, 0}, 4_000_000_000: {}, 2: {5}}
	want := &Meta{
		Start: time.Date(2024, 2, 29, 23, 59, 59, 123456700, time.UTC), From: -5, To: Never,
		Processes: []Process{{7, 4711, "näme \"quoted\".exe", BeforeTrace, Never}, {8, 4711, "", -3, 12}},
		Sites:     []Site{{7, 0x1f0_0000_0000, 1, KindHeap}, {7, 0, 0, KindVirtual}, {8, 1<<64 - 1, 2, KindHeapVirtual}},
		Images: []Image{{7, 1 << 63, 1 << 40, `C:\a\b.dll`, "b.pdb", "0123-1", BeforeTrace, Never},
			{8, 1, 2, "", "", "", 3, 4}},
	}
	for _, stacks := range []map[uint32][]uint64{nil, stacks} {
		if stacks != nil {
			want.Stacks = maps.All(stacks)
		}
		_, table := tableOf(t, spoolOf(t, nil), want)
		got, err := table.Meta()
		if err != nil {
			t.Fatal(err)
		}
		if (got.Stacks == nil) != (stacks == nil) {
			t.Errorf("stacks %v where %v were written", got.Stacks, stacks)
		} else if stacks != nil {
			if read := maps.Collect(got.Stacks); !reflect.DeepEqual(read, stacks) {
				t.Errorf("stacks %v, want %v", read, stacks)
			}
		}
		got.Stacks, want.Stacks = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestStacksAreLeftOut(t *testing.T) {
	stacks := maps.All(map[uint32][]uint64{1: {0xabc}, 2: {1, 2}})
	if _, ok := stacksJSON(stacks, 40); !ok {
		t.Error("few stacks are left out")
	}
	if _, ok := stacksJSON(stacks, 20); ok {
		t.Error("many stacks are kept")
	}
}
