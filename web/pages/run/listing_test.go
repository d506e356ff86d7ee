package run_test

import (
	"fmt"
	"testing"

	"heapdrift/internal/query"
	"heapdrift/web/pages/run"
)

func TestPager(t *testing.T) {
	for _, test := range []struct {
		page, last int
		want       string
	}{
		{1, 1, "[1]"}, {1, 4, "[1 2 3 4]"}, {1, 9, "[1 2 3 0 9]"}, {3, 5, "[1 2 3 4 5]"},
		{1000, 2000, "[1 0 998 999 1000 1001 1002 0 2000]"}, {2000, 2000, "[1 0 1998 1999 2000]"},
	} {
		if got := fmt.Sprint(run.PageLinks(test.page, test.last)); got != test.want {
			t.Errorf("page %d of %d: %s, want %s", test.page, test.last, got, test.want)
		}
	}
}

// Equal listings have equal addresses.
func TestListingURL(t *testing.T) {
	more := query.Selection{Module: "app", Function: "app!f", Size: query.Range{From: 16}, Snapshots: query.Range{From: 2, To: 5}}
	const want = "/runs/1?fn=app%21f&module=app&since=2&size=16-&until=5"
	for range 20 { // the order of a map differs
		if got := run.ListingURL(more); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}
