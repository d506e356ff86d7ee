package ui_test

import (
	"testing"

	"heapdrift/web/pages/ui"
)

func TestExtent(t *testing.T) {
	for _, test := range []struct {
		before, shown, total int
		want                 string
	}{
		{0, 0, 0, "0 builds"}, {0, 1, 1, "1 build"}, {0, 40, 40, "40 builds"}, {0, 40, 41, "1–40 of 41 builds"},
		{40, 1, 41, "41–41 of 41 builds"}, {1000, 40, 1234, "1,001–1,040 of 1,234 builds"},
	} {
		if got := ui.RowsShown(test.before, test.shown, test.total, "build"); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
