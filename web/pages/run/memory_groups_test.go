package run

import (
	"strconv"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// A table of groups has the columns that one of its groups fills, and the largest groups alone.
func TestColumnsOfGroups(t *testing.T) {
	usage := &capture.Usage{Count: 1, Bytes: 8}
	for _, test := range []struct {
		name                    string
		group                   capture.BlockGroup
		shares, grows, searched bool
	}{
		{"plain", capture.BlockGroup{}, false, false, false},
		{"a share", capture.BlockGroup{Heap: 1, Percent: 0.1}, true, false, false},
		{"too much", capture.BlockGroup{Doubtful: true}, true, false, false},
		{"growth", capture.BlockGroup{Growth: usage}, false, true, false},
		{"pointers", capture.BlockGroup{Unreachable: usage}, false, false, true},
	} {
		first := test.group
		first.By = capture.BySize
		for _, groups := range [][]capture.BlockGroup{
			{first}, {first, {By: capture.BySize, Heap: first.Heap}}, {{By: capture.BySize, Heap: first.Heap}, first},
		} {
			m := &analysis.Memory{}
			m.Groups = groups
			tables := groupTables(m)
			if len(tables) != 1 || len(tables[0].rows) != len(groups) {
				t.Fatalf("%s: %+v", test.name, tables)
			}
			if got := tables[0]; got.title != "by size" || got.shares != test.shares || got.grows != test.grows || got.searched != test.searched {
				t.Errorf("%s: shares %t, grows %t, searched %t", test.name, got.shares, got.grows, got.searched)
			}
		}
	}
}

// Sizes are shown over all heaps where the evidence counts them so, else by heap.
func TestGroupsOfAllHeaps(t *testing.T) {
	group := func(by string, heap int, key string) capture.BlockGroup {
		return capture.BlockGroup{By: by, Heap: capture.Address(heap), Key: key}
	}
	for _, test := range []struct {
		groups []capture.BlockGroup
		want   string // heaps of the rows
	}{
		{[]capture.BlockGroup{group(capture.BySize, 1, ""), group(capture.BySize, 2, "")}, "12"},
		{[]capture.BlockGroup{group(capture.BySize, 1, ""), group(capture.BySize, 0, "")}, "0"},
		{[]capture.BlockGroup{group(capture.BySize, 1, ""), group(capture.BySize, 0, "rest")}, "10"},
		{[]capture.BlockGroup{group(capture.ByType, 1, "a"), group(capture.ByType, 0, "a")}, "0"},
		{[]capture.BlockGroup{group(capture.ByType, 1, "a"), group(capture.BySize, 0, "")}, "1|0"},
	} {
		m := &analysis.Memory{}
		m.Groups = test.groups
		got := ""
		for i, table := range groupTables(m) {
			if i > 0 {
				got += "|"
			}
			for _, g := range table.rows {
				got += strconv.Itoa(int(g.Heap))
			}
		}
		if got != test.want {
			t.Errorf("%+v: heaps %s, want %s", test.groups, got, test.want)
		}
	}
	m := &analysis.Memory{}
	m.Groups = make([]capture.BlockGroup, shownGroups+1)
	for i := range m.Groups {
		m.Groups[i].By = capture.ByType
	}
	if tables := groupTables(m); len(tables) != 1 || len(tables[0].rows) != shownGroups {
		t.Errorf("%d tables", len(tables))
	}
}
