package run

import (
	"testing"

	"heapdrift/internal/query"
)

// A class of sizes reads once: both ends in one form, in their own units.
func TestSizeClass(t *testing.T) {
	for _, test := range []struct {
		from, to int64
		want     string
	}{
		{0, 0, "0 B"}, {1, 1, "1 B"}, {2, 3, "2 B to below 4 B"}, {512, 1023, "512 B to below 1 KB"},
		{2048, 4095, "2 KB to below 4 KB"}, {16 << 10, 32<<10 - 1, "16 KB to below 32 KB"},
		{512 << 10, 1<<20 - 1, "512 KB to below 1 MB"}, {1 << 20, 2<<20 - 1, "1 MB to below 2 MB"},
		{256 << 30, 512<<30 - 1, "256 GB to below 512 GB"},
	} {
		if got := sizeClass(query.SizeClass{From: test.from, To: test.to}); got != test.want {
			t.Errorf("%d to %d: %q, want %q", test.from, test.to, got, test.want)
		}
	}
}
