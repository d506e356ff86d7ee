package footprint_test

import (
	"math"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/footprint"
)

func TestFreeOfAHeap(t *testing.T) {
	free := func(bytes int64) capture.Usage { return capture.Usage{Count: 3, Bytes: bytes} }
	for name, test := range map[string]struct {
		in        capture.HeapFacts
		ok        bool
		free      int64
		share     float64
		scattered float64 // below 0: not told
	}{
		"walked": {capture.HeapFacts{Committed: 1000, Walked: 1000, Free: free(400),
			LargestFree: 100}, true, 400, .4, .75},
		"with the low-fragmentation heap": {capture.HeapFacts{Committed: 1000, Walked: 1000, Free: free(400),
			FreeLFH: free(100), LargestFree: 250}, true, 500, .5, .5},
		"all of it in one block": {capture.HeapFacts{Committed: 1000, Walked: 1000, Free: free(400),
			LargestFree: 400}, true, 400, .4, 0},
		"full":                  {capture.HeapFacts{Committed: 1000, Walked: 1000}, true, 0, 0, -1},
		"as !heap -s prints it": {capture.HeapFacts{Committed: 1000, Free: free(400)}, true, 400, .4, -1},
		"nobody looked":         {capture.HeapFacts{Committed: 1000}, false, 0, 0, -1},
		"nothing is committed":  {capture.HeapFacts{Walked: 1000, Free: free(400)}, false, 0, 0, -1},
		"a size that cannot be": {capture.HeapFacts{Committed: 1000, Free: free(400), Doubtful: true},
			false, 0, 0, -1},
		"more is free than is committed": {capture.HeapFacts{Committed: 1000, Walked: 1000, Free: free(1400),
			LargestFree: 1200}, true, 1000, 1, 0},
		"less than nothing is free": {capture.HeapFacts{Committed: 1000, Walked: 1000, Free: free(-1)},
			false, 0, 0, -1},
		"more is free than numbers can tell": {capture.HeapFacts{Committed: 1000, Walked: 1000, Free: free(math.MaxInt64),
			FreeLFH: free(math.MaxInt64)}, false, 0, 0, -1},
	} {
		r, ok := footprint.HeapFreeOf(&test.in)
		scattered, told := r.ScatteredShare()
		if !told {
			scattered = -1
		}
		if ok != test.ok || r.Free != test.free || ok && r.FreeShare() != test.share || scattered != test.scattered {
			t.Errorf("%s: %+v, %t, scattered %g", name, r, ok, scattered)
		}
	}
}

func TestDescribeHeapFree(t *testing.T) {
	one := capture.HeapFacts{Handle: 0x1000, Committed: 100 << 20, Walked: 1,
		Free: capture.Usage{Count: 9, Bytes: 40 << 20}, LargestFree: 1 << 20}
	two := capture.HeapFacts{Handle: 0x2000, Committed: 300 << 20, Walked: 1,
		Free: capture.Usage{Count: 9, Bytes: 60 << 20}, LargestFree: 8 << 20}
	full := capture.HeapFacts{Handle: 0x3000, Committed: 1 << 20, Walked: 1}
	bare := capture.HeapFacts{Handle: 0x4000, Committed: 1 << 20}
	for _, test := range []struct {
		in   []capture.HeapFacts
		want string
	}{
		{nil, ""}, {[]capture.HeapFacts{bare}, ""},
		{[]capture.HeapFacts{full}, "1 heap commits 1.00 MB; 0 B of that are free (0.0 %)."},
		{[]capture.HeapFacts{one},
			"1 heap commits 100 MB; 40.0 MB of that are free (40.0 %). Largest free block: 1.00 MB."},
		{[]capture.HeapFacts{one, bare, two},
			"2 heaps commit 400 MB; 100 MB of that are free (25.0 %). Largest free block: 8.00 MB. Most free: heap 0x2000 (60.0 MB). Unknown for 1 other heap."},
	} {
		if got := footprint.DescribeHeapFree(test.in); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
