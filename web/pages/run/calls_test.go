package run

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
)

// The page lists 200 functions and says how many there are.
func TestFunctionsShown(t *testing.T) {
	for n, says := range map[int]string{0: "0 functions. ", 1: "1 function. ", 199: "199 functions. ",
		200: "200 functions. ", 201: "The first 200 of 201 functions by held (all in this view’s CSV). "} {
		c := &viewCard{listing: listing{view: viewCalls}, by: query.Metrics[1], groups: make([]query.Group, n)}
		if got := c.callsExtent(); !strings.HasPrefix(got, says) || len(c.shownGroups()) != min(n, 200) {
			t.Errorf("of %d: %d, %q", n, len(c.shownGroups()), got)
		}
	}
	c := &viewCard{listing: listing{view: viewModules}, groups: make([]query.Group, 201)}
	if n := len(c.shownGroups()); n != 201 {
		t.Errorf("%d modules of 201", n)
	}
}

// A share is a part of the memory of the function: where that is nothing, or shrank, there is no share.
func TestShareOfCalls(t *testing.T) {
	grew := func(bytes int64) query.Numbers { return query.Numbers{Growth: &analysis.Amount{Bytes: bytes}} }
	for _, test := range []struct {
		part, all int64
		want      string
	}{{0, 8, "0 true"}, {1, 8, "125 true"}, {8, 8, "1000 true"}, {9, 8, "0 false"}, {-1, 8, "0 false"},
		{0, 0, "0 false"}, {1, -8, "0 false"}} {
		c := &viewCard{by: query.Metrics[0], around: &query.Butterfly{Function: query.Group{Numbers: grew(test.all)}}}
		part := grew(test.part)
		if got := fmt.Sprint(c.shareOfCalls(&part)); got != test.want {
			t.Errorf("%d of %d: %s, want %s", test.part, test.all, got, test.want)
		}
	}
}

// A step that takes a while says from when to when.
func TestTimeOfJump(t *testing.T) {
	for _, test := range []struct {
		jump analysis.Jump
		want string
	}{
		{analysis.Jump{FromNS: 2e9, ToNS: 2e9}, "at 2.0 s"}, {analysis.Jump{FromNS: 2e9, ToNS: 2e9 + 4e7}, "at 2.0 s"},
		{analysis.Jump{FromNS: 5e8, ToNS: 1e9}, "from 0.500 s to 1.0 s"},
		{analysis.Jump{FromNS: 5e8, ToNS: 1e9, Spike: true}, "at 0.500 s"},
	} {
		if got := timeOfJump(test.jump); got != test.want {
			t.Errorf("%+v: %q, want %q", test.jump, got, test.want)
		}
	}
}

// The jumps that rise most are named, in the order of time.
func TestJumpsShown(t *testing.T) {
	for _, n := range []int{9, 10, 11} {
		line := analysis.Timeline{AtNS: []int64{0}, LastBytes: []int64{1000}, MaxBytes: []int64{1000}}
		for i := range n {
			line.AtNS, line.LastBytes, line.MaxBytes = append(line.AtNS, int64(i+1)*1e9), append(line.LastBytes, 1000),
				append(line.MaxBytes, 2000-int64(i))
		}
		links := jumpsOf(&analysis.Report{Trace: &analysis.Trace{ToNS: 60e9, HeapTimeline: line}})
		if len(links) != 1 || len(links[0].list) != min(n, 10) || links[0].more != max(0, n-10) ||
			!strings.HasPrefix(links[0].list[0].text, "1.0 s") {
			t.Errorf("of %d: %+v", n, links)
		}
	}
}
