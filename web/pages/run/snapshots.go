package run

import (
	"math"
	"strconv"
	"strings"

	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
)

// A snapshotChoice is which snapshots of a series the views are of: growth is from the first of them to the last.
// Numbers are from 1.
type snapshotChoice struct {
	listing   listing
	snapshots []analysis.Snapshot
	chosen    query.Snapshots
	marks     []mark // where the snapshots are in the chart
}

// chooseSnapshots is the choice that a listing makes; nil where there is nothing to choose: of a trace, and of two
// snapshots or fewer.
func chooseSnapshots(l listing, r *analysis.Report, marks []mark) *snapshotChoice {
	n := len(r.Snapshots)
	if r.Trace != nil || n < 3 || len(marks) != n {
		return nil
	}
	return &snapshotChoice{listing: l, snapshots: r.Snapshots, chosen: l.more.Part(n), marks: marks}
}

// isPart reports whether snapshots are left out.
func (c *snapshotChoice) isPart() bool { return !c.chosen.IsAll(len(c.snapshots)) }

// between is the listing of other snapshots.
func (c *snapshotChoice) between(from, to int) listing {
	l := c.listing.fresh()
	l.more.Snapshots = query.Range{}
	if from > 1 {
		l.more.Snapshots.From = uint64(from)
	}
	if to < len(c.snapshots) {
		l.more.Snapshots.To = uint64(to)
	}
	return l
}

// A snapshotPreset is a choice that the page offers.
type snapshotPreset struct {
	text, title string
	from, to    int
}

// presets are all of the snapshots, those behind the first, in which programs fill their caches, the second half and
// the last step.
func (c *snapshotChoice) presets() []snapshotPreset {
	n := len(c.snapshots)
	list := []snapshotPreset{
		{"All", "all snapshots", 1, n},
		{"Without the first", "from the second snapshot: programs fill their caches before", 2, n},
	}
	if n >= 5 {
		list = append(list, snapshotPreset{"Last half", "the second half of the snapshots", n/2 + 1, n})
	}
	if n > 3 { // of three it is what is behind the first
		list = append(list, snapshotPreset{"Last step", "between the last two snapshots", n - 1, n})
	}
	return list
}

// name is a snapshot in a menu.
func (c *snapshotChoice) name(number int) string {
	text := strconv.Itoa(number)
	if taken := localTime(c.snapshots[number-1].TakenAt); taken != "" {
		text += ", " + taken
	}
	return text
}

// stops are the places of the snapshots along the chart, for the script.
func (c *snapshotChoice) stops() string {
	list := make([]string, len(c.marks))
	for i, m := range c.marks {
		list[i] = stop(m.x)
	}
	return strings.Join(list, " ")
}

// stop is a place as the script knows it, fine enough for two snapshots of a minute in a series of years.
func stop(x float64) string { return strconv.FormatFloat(math.Round(x*1e6)/1e6, 'f', -1, 64) }

// x is where a snapshot is along the chart.
func (c *snapshotChoice) x(number int) float64 { return c.marks[number-1].x }
