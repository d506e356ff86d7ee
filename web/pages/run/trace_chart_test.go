package run

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// The chart draws the five highest heaps, and the chosen one in a colour of its own where it is none of them.
func TestHeapsOfTheChart(t *testing.T) {
	line := func(bytes int64) *analysis.Timeline {
		return &analysis.Timeline{AtNS: []int64{0, 40}, LastBytes: []int64{bytes, bytes}, MaxBytes: []int64{bytes, bytes}}
	}
	r := &analysis.Report{Trace: &analysis.Trace{ToNS: 40, HeapTimeline: *line(99)}}
	for i := range 7 {
		r.Heaps = append(r.Heaps, analysis.Heap{Handle: fmt.Sprint("h", i), Timeline: line(int64(10 * (i + 1)))})
	}
	for chosen, want := range map[string]string{
		"":   "h6 1, h5 2, h4 3, h3 4, h2 5",
		"h2": "h6 1, h5 2, h4 3, h3 4, h2 5",
		"h1": "h6 1, h5 2, h4 3, h3 4, h2 5, h1 6 chosen",
		"h0": "h6 1, h5 2, h4 3, h3 4, h2 5, h0 6 chosen",
		"hx": "h6 1, h5 2, h4 3, h3 4, h2 5",
	} {
		c := newTimeChart(r, timeWindow{}, chosen, func(string) []band { return nil })
		var got []string
		for _, h := range c.lanes[0].heaps {
			text := fmt.Sprint(h.handle, " ", h.slot)
			if h.chosen {
				text += " chosen"
			}
			got = append(got, text)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("of %q: %s, want %s", chosen, strings.Join(got, ", "), want)
		}
	}
}

// A line's numbers are what the page reads below the pointer: place, bytes, and the spike where one is higher.
func TestValuesOfALine(t *testing.T) {
	c := timeChart{span: capture.Window{To: 40}}
	got := c.values(analysis.Timeline{AtNS: []int64{0, 10, 40}, LastBytes: []int64{5, 6, 7}, MaxBytes: []int64{5, 600000, 7}})
	if want := "0,5 250,6,600000 1000,7"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
