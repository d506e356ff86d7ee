package allocations

import (
	"math"
	"slices"
	"sync"
	"testing"
)

// Rows of a row group that is kept in memory equal the rows that a scan decodes, however much memory may be kept.
func TestKeptColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	most := extremes(300)
	for i := range most {
		most[i].Size = min(most[i].Size, math.MaxUint32)
	}
	most[0].Size = math.MaxUint32
	_, table := tableOf(t, spoolOf(t, slices.Concat(rowsOf(t, trace{groupRows, 300, 2}), most)), &Meta{})
	last := int64(len(most))
	want := rowsOf(t, table.ForWindows())
	for _, test := range []struct {
		name  string
		bytes int64
		kept  []int // row groups
	}{
		{"no room", keptRow*last - 1, nil},
		{"room for the last group", keptRow * last, []int{1}},
		{"room for all but a byte", keptRow*(groupRows+last) - 1, []int{0}},
		{"room for all", keptRow * (groupRows + last), []int{0, 1}},
	} {
		table.KeepColumns(0)
		table.KeepColumns(test.bytes)
		for range 2 {
			if !slices.Equal(rowsOf(t, table.ForWindows()), want) {
				t.Fatalf("%s: other rows", test.name)
			}
			table.KeepColumns(test.bytes) // what is kept already takes its part of it
		}
		for group := range table.groups {
			if kept := table.kept.get(group) != nil; kept != slices.Contains(test.kept, group) {
				t.Errorf("%s: group %d is kept: %v", test.name, group, kept)
			}
		}
		if full := rowsOf(t, table); full[0].Address == 0 || len(full) != len(want) {
			t.Errorf("%s: a whole scan takes what was kept in brief", test.name)
		}
	}
	table.KeepColumns(0)
	if table.kept.get(0) != nil {
		t.Error("columns are kept that were let go")
	}
}

// A group with a block of 4 GiB is decoded each time.
func TestKeptColumnsOfLargeBlocks(t *testing.T) {
	rows := extremes(300)
	rows[0].Size = math.MaxUint32 + 1
	_, table := tableOf(t, spoolOf(t, rows), &Meta{})
	want := rowsOf(t, table.ForWindows())
	table.KeepColumns(1 << 20)
	for range 2 {
		if !slices.Equal(rowsOf(t, table.ForWindows()), want) {
			t.Fatal("other rows")
		}
	}
	if table.kept.get(0) != nil {
		t.Error("the group is kept")
	}
}

// Concurrent scans, and changes of the memory limit between them, do not disturb each other.
func TestKeptColumnsAtOnce(t *testing.T) {
	_, table := tableOf(t, spoolOf(t, rowsOf(t, trace{groupRows + 1000, 300, 2})), &Meta{})
	want := rowsOf(t, table.ForWindows())
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for k := range 4 {
				table.KeepColumns(int64((i + k) % 3 * keptRow * groupRows))
				if !slices.Equal(rowsOf(t, table.ForWindows()), want) {
					t.Error("other rows")
				}
			}
		})
	}
	all.Wait()
}
