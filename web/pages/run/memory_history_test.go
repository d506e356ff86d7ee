package run

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/footprint"
)

func instant(minutes, total int64, parts ...footprint.Part) footprint.Instant {
	at := footprint.Instant{File: "a.dmp", AtNS: minutes * 60e9, Parts: parts}
	if total != 0 {
		at.Total = &total
	}
	return at
}

func TestHistoryChart(t *testing.T) {
	heap := func(n int64) footprint.Part { return footprint.Part{Use: capture.UseHeap, Bytes: n} }
	teb := footprint.Part{Use: capture.UseTEB, Bytes: 5}
	explained := instant(60, 100, heap(60), teb)
	explained.Unexplained = new(int64(35))
	over := instant(60, 100, heap(120))
	over.Unexplained = new(int64(-20))
	blocks := instant(30, 0)
	blocks.Blocks = new(int64(40))
	other := instant(30, 80, heap(80))
	other.OtherLife = true
	hostile := instant(60, math.MaxInt64, heap(math.MaxInt64), teb)
	hostile.Blocks = new(int64(math.MinInt64))
	for name, test := range map[string]struct {
		timed    bool
		in       []footprint.Instant
		layers   string // from the top, with how many shapes each has
		marks    int
		diamonds int
		times    string // first label below the axis
	}{
		"two instants": {true, []footprint.Instant{instant(0, 50, heap(50)), explained},
			"Unexplained 1, Heaps 1, PEB, TEBs, system 1", 2, 0, "0 min"},
		"without times": {false, []footprint.Instant{instant(0, 50, heap(50)), explained},
			"Unexplained 1, Heaps 1, PEB, TEBs, system 1", 2, 0, "point 1"},
		"all at the same time": {true, []footprint.Instant{instant(0, 50, heap(50)), instant(0, 60, heap(60))},
			"Heaps 1", 2, 0, "point 1"},
		"the parts are more": {true, []footprint.Instant{instant(0, 50, heap(50)), over},
			"Heaps 1", 2, 0, "0 min"},
		"blocks between": {true, []footprint.Instant{instant(0, 50, heap(50)), blocks, explained},
			"Unexplained 1, Heaps 1, PEB, TEBs, system 1", 2, 1, "0 min"},
		"one that tells the use": {true, []footprint.Instant{blocks, explained},
			"Unexplained 1, Heaps 1, PEB, TEBs, system 1", 1, 1, "0 min"},
		"nothing is drawn from life to life": {true, []footprint.Instant{other, instant(40, 50, heap(50)), explained},
			"Unexplained 1, Heaps 2, PEB, TEBs, system 1", 3, 0, "0 min"},
		"the total without parts": {true, []footprint.Instant{instant(0, 50), instant(60, 60)}, "", 2,
			0, "0 min"},
		"figures as large as numbers can tell": {true, []footprint.Instant{instant(0, 50, heap(50)), hostile},
			"Heaps 1, PEB, TEBs, system 1", 2, 1, "0 min"},
	} {
		d := newHistoryChart(&footprint.MemoryHistory{Measure: footprint.MeasurePrivate, Timed: test.timed, Instants: test.in})
		var layers []string
		for _, l := range d.layers {
			layers = append(layers, fmt.Sprintf("%s %d", useTitle(l.use), len(l.paths)))
			for _, path := range l.paths {
				if strings.Contains(path, "NaN") || strings.Contains(path, "Inf") {
					t.Errorf("%s: %s", name, path)
				}
			}
		}
		if got := strings.Join(layers, ", "); got != test.layers || len(d.marks) != test.marks ||
			len(d.diamonds) != test.diamonds || d.times[0].text != test.times {
			t.Errorf("%s: %q, %d marks, %d diamonds, %+v", name, got, len(d.marks), len(d.diamonds), d.times)
		}
		for _, m := range d.marks {
			if m.y < 0 || m.y > plotHeight || m.x < 0 || m.x > plotWidth {
				t.Errorf("%s: a mark outside of the plot: %+v", name, m)
			}
		}
	}
}

// An instant with the total alone says nothing about uses: neither that they had nothing, nor that they grew from
// nothing.
func TestHistoryOfTotalsAlone(t *testing.T) {
	heap := func(n int64) footprint.Part { return footprint.Part{Use: capture.UseHeap, Bytes: n} }
	c := &footprint.MemoryHistory{Measure: footprint.MeasurePrivate, Timed: true,
		Instants: []footprint.Instant{instant(0, 50, heap(40)), instant(30, 60), instant(60, 70, heap(60))}}
	d := newHistoryChart(c)
	if points := strings.Count(d.layers[0].paths[0], "L") + 1; len(d.layers[0].paths) != 1 || points != 4 ||
		strings.Count(d.totals[0], "L") != 2 || len(d.marks) != 3 {
		t.Errorf("heaps %q, totals %q, %d marks", d.layers[0].paths, d.totals, len(d.marks))
	}
	told := func(n *int64) string {
		if n == nil {
			return "–"
		}
		return fmt.Sprint(*n)
	}
	all, alone := &c.Instants[0], &c.Instants[1]
	all.Unexplained = new(int64(10))
	growth := instant(30, 10, heap(20))
	growth.Unexplained = new(int64(7))
	for got, want := range map[string]string{
		told(useBytes(all, capture.UseHeap)) + " " + told(useBytes(all, capture.UseImage)) + " " +
			told(useBytes(all, unexplained)): "40 0 10",
		told(useBytes(alone, capture.UseHeap)) + " " +
			told(useBytes(alone, unexplained)): "– –",
		told(useBytes(&growth, capture.UseHeap)) + " " +
			told(useBytes(&growth, unexplained)): "20 7",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A line of blocks joins only instants that can be compared: not one life of the process with another, nor all blocks
// with those of a trace, which counts only allocations made while it was recorded.
func TestHistoryJoinsBlocksThatCompare(t *testing.T) {
	held := func(minutes, bytes int64, file string, sinceStart bool) footprint.Instant {
		at := instant(minutes, 0)
		at.File, at.Blocks, at.SinceStart = file, &bytes, sinceStart
		return at
	}
	other := held(0, 500, "a.log", false)
	other.OtherLife = true
	other2 := other
	other2.AtNS = 60e9
	for name, test := range map[string]struct {
		in    []footprint.Instant
		lines int // with two points or more
	}{
		"one":     {[]footprint.Instant{held(0, 10, "a.log", false), instant(60, 50)}, 0},
		"logs":    {[]footprint.Instant{held(0, 10, "a.log", false), held(60, 20, "b.log", false)}, 1},
		"a trace": {[]footprint.Instant{held(0, 0, "a.etl", true), held(60, 20, "a.etl", true)}, 1},
		"two traces": {[]footprint.Instant{held(0, 0, "a.etl", true), held(10, 20, "a.etl", true),
			held(20, 0, "b.etl", true), held(60, 20, "b.etl", true)}, 2},
		"a trace between logs": {[]footprint.Instant{held(0, 500, "a.log", false), held(10, 0, "a.etl", true),
			held(20, 30, "a.etl", true), held(60, 500, "b.log", false)}, 2},
		"a log and a trace": {[]footprint.Instant{held(0, 500, "a.log", false), held(60, 3, "a.etl", true)}, 0},
		"another life": {[]footprint.Instant{other, other2, held(2, 10, "b.log", false),
			held(60, 20, "c.log", false)}, 2},
		"one of another life": {[]footprint.Instant{other, held(60, 20, "c.log", false)}, 0},
	} {
		d := newHistoryChart(&footprint.MemoryHistory{Measure: footprint.MeasurePrivate, Timed: true, Instants: test.in})
		if len(d.blocks) != test.lines {
			t.Errorf("%s: lines %q, want %d", name, d.blocks, test.lines)
		}
	}
}

// Without times the chart and the table use the same name for an instant, whether it has the total or blocks alone.
func TestInstantsWithoutTimes(t *testing.T) {
	blocks := instant(0, 0)
	blocks.Blocks = new(int64(40))
	dated := instant(0, 60)
	dated.TakenAt = "2026-03-06T12:00:00"
	c := &footprint.MemoryHistory{Measure: footprint.MeasurePrivate, Instants: []footprint.Instant{blocks, instant(0, 50), dated}}
	d := newHistoryChart(c)
	var labels []string
	for _, l := range d.times {
		labels = append(labels, l.text)
	}
	if got := strings.Join(labels, ", "); got != "point 1, point 2, point 3" {
		t.Error(got)
	}
	if from, to, _, by, _ := c.Growth(); from != nil {
		if got := growthTitle(c, from, to,
			by); got != "private bytes by the system's count, point 2 – point 3, 6 Mar 2026 12:00" {
			t.Error(got)
		}
	} else {
		t.Error("no growth")
	}
	if x, _ := historyPositions(c); d.times[1].x != x[1] || d.marks[0].x != x[1] {
		t.Errorf("point 2 is at %v, its mark at %v, its label at %v", x[1], d.marks[0].x, d.times[1].x)
	}
	if got := fmt.Sprint(instantTime(c, 0), "; ", instantTime(c, 2)); got != "point 1; point 3, 6 Mar 2026 12:00" {
		t.Error(got)
	}
	c.Timed, c.Instants[2].AtNS = true, 60e9
	if got := fmt.Sprint(instantTime(c, 0), "; ", instantTime(c, 2)); got != "; 6 Mar 2026 12:00" {
		t.Error(got)
	}
}

func TestTitleOfAnInstant(t *testing.T) {
	at := instant(0, 100<<20, footprint.Part{Use: capture.UseHeap, Bytes: 60 << 20})
	at.TakenAt, at.Unexplained, at.Blocks = "2026-03-06T12:00:00", new(int64(40<<20)), new(int64(50<<20))
	c := &footprint.MemoryHistory{Measure: footprint.MeasurePrivate, Instants: []footprint.Instant{at, instant(60, 0)}}
	if got := instantTitle(c,
		0); got != "point 1, 6 Mar 2026 12:00: private bytes 100 MB, Heaps 60.0 MB, Unexplained 40.0 MB, heap blocks 50.0 MB (a.dmp)" {
		t.Error(got)
	}
	if got := measureTitle(c); got != "Private bytes" {
		t.Error(got)
	}
}

// A forecast that ends within a week is a warning.
func TestSignOfAnOutlook(t *testing.T) {
	const week = 7 * 24 * 3600e9
	for ns, want := range map[int64]string{0: "warn", week - 1: "warn", week: "info", week + 1: "info"} {
		if got := outlookSign(&footprint.Outlook{LeftNS: &ns}); got != want {
			t.Errorf("%d ns: %s, want %s", ns, got, want)
		}
	}
	if got := outlookSign(&footprint.Outlook{Why: "no growth was measured"}); got != "info" {
		t.Error(got)
	}
}

// Evidence that does not list the regions does not tell what each use has; unknown is not the same as nothing.
func TestToldOfUse(t *testing.T) {
	explained, bare, blocks := instant(0, 100, footprint.Part{Use: capture.UseHeap, Bytes: 60}),
		instant(0, 100), instant(0, 0)
	explained.Unexplained = new(int64(40))
	for name, test := range map[string]struct {
		at         footprint.Instant
		told, rest bool
	}{"regions and the system's count": {explained, true, true},
		"regions": {instant(0, 50, explained.Parts...), true, false}, "the system's count": {bare, false, false},
		"blocks": {blocks, false, false}} {
		heap, stack, rest := useBytes(&test.at, capture.UseHeap), useBytes(&test.at, capture.UseStack),
			useBytes(&test.at, unexplained)
		if (heap != nil) != test.told || (stack != nil) != test.told || (rest != nil) != test.rest ||
			heap != nil && *heap != 60 || stack != nil && *stack != 0 {
			t.Errorf("%s: %v, %v, %v", name, heap, stack, rest)
		}
	}
}
