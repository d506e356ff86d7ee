package capture

import (
	"slices"
	"testing"
)

// Of many snapshots a few are compared, in even steps, the first and the last among them; of many sites fewer.
func TestComparedSnapshots(t *testing.T) {
	for _, test := range []struct{ captures, sites, want int }{
		{3, 1, 3}, {24, 1, 24}, {25, 1, 24}, {100, 1 << 16, 24}, {100, 1<<16 + 1, 12}, {12, 1<<16 + 1, 12}, {13, 1<<16 + 1, 12}, {5, 1<<16 + 1, 5},
	} {
		list := looked(test.captures, test.sites)
		if len(list) != test.want || list[0] != 0 || list[len(list)-1] != test.captures-1 || !slices.IsSorted(list) ||
			len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("%+v: %v", test, list)
		}
		for i := 1; i < len(list); i++ {
			if even := (test.captures - 1) / (test.want - 1); list[i]-list[i-1] < even || list[i]-list[i-1] > even+1 {
				t.Errorf("%+v: uneven steps: %v", test, list)
				break
			}
		}
	}
}
