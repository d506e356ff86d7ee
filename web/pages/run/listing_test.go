package run_test

import (
	"fmt"
	"testing"

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
