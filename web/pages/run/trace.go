package run

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

// A traceView is what only the page of a trace shows.
type traceView struct {
	listing listing
	report  *analysis.Report
	chart   timeChart
	presets []preset
	jumps   []jumpLinks
	// windowed is the numbers of the window; nil where it is the whole trace, or problem says why there are none.
	windowed *analysis.WindowNumbers
	problem  *windowProblem
}

// trace makes the view of a trace's report in the window that the listing chooses. Where that window has no numbers, it
// sets the listing's window to the whole trace.
func (r *reader) trace(ctx context.Context, run store.Run, report *analysis.Report, l *listing) (*traceView, error) {
	v := &traceView{report: report, presets: presets(report), jumps: jumpsOf(report)}
	if l.window.scanned {
		var err error
		if v.windowed, v.problem, err = r.inWindow(ctx, run, l.window); err != nil {
			return nil, err
		}
		if v.problem != nil {
			if !l.window.named { // nobody has asked for it
				v.problem = nil
			}
			l.window = classified(wholeOf(report.Trace), report)
		}
	}
	v.listing = *l
	return v, nil
}

// draw makes the chart, which a part of the page does not need. bands are what of a kind of memory the chart tells
// apart.
func (v *traceView) draw(bands func(kind string) []band) {
	v.chart = newTimeChart(v.report, v.listing.window, v.listing.heap, bands)
}

// totals are those of the window.
func (v *traceView) totals() analysis.Totals {
	if v.windowed != nil {
		return v.windowed.Totals
	}
	if v.listing.window.part {
		return v.report.Totals.UpToExit()
	}
	return v.report.Totals
}

// A heapRow is a heap with its numbers in the window.
type heapRow struct {
	handle string
	analysis.Amounts
	path string // over the whole trace
}

// heapRows are the heaps with their numbers in the window: most growth first, by growth before the exit and by what
// they hold where that is equal.
func (v *traceView) heapRows() []heapRow {
	whole, list := wholeOf(v.report.Trace), make([]heapRow, len(v.report.Heaps))
	inside := map[string]analysis.Amounts{}
	if v.windowed != nil {
		for _, h := range v.windowed.Heaps {
			inside[h.Handle] = h.Amounts
		}
	}
	for i, h := range v.report.Heaps {
		list[i] = heapRow{h.Handle, h.Amounts, smallPath(lineOf(h), whole)}
		if v.windowed != nil {
			list[i].Amounts = inside[h.Handle]
		} else if v.listing.window.part {
			list[i].Amounts = h.UpToExit()
		}
	}
	slices.SortStableFunc(list, func(a, b heapRow) int {
		return cmp.Or(cmp.Compare(growthBytes(b.Amounts), growthBytes(a.Amounts)),
			cmp.Compare(b.GrowthBeforeExit().Bytes, a.GrowthBeforeExit().Bytes),
			cmp.Compare(b.Outstanding.Bytes, a.Outstanding.Bytes))
	})
	return list
}

// heapsInOrder says how many heaps there are, and in which order the table has them.
func (v *traceView) heapsInOrder() string {
	n := strconv.Itoa(len(v.report.Heaps))
	if len(v.report.Heaps) > 1 {
		n += ", most growth first"
	}
	return n
}

// shortHandle is the end of a heap's handle, by which the heaps of a process differ.
func shortHandle(handle string) string {
	const shown = 8
	if len(handle) <= shown+2 {
		return handle
	}
	return "…" + handle[len(handle)-shown:]
}

// exited is when the process ended, where that is inside the window.
func (v *traceView) exited() (at int64, ok bool) {
	t := v.report.Trace
	if t.ExitedNS == nil || *t.ExitedNS < v.listing.window.From || *t.ExitedNS > v.listing.window.To {
		return 0, false
	}
	return *t.ExitedNS, true
}

// limits are the warnings by which the numbers may be wrong, notes the rest.
func (v *traceView) limits() (limits, notes []analysis.Warning) {
	for _, w := range v.report.Warnings {
		if w.Code.Lossy() {
			limits = append(limits, w)
		} else {
			notes = append(notes, w)
		}
	}
	return limits, notes
}

// losesFrees reports whether a warning says that frees may be missing.
func losesFrees(w analysis.Warning) bool {
	return w.Code != capture.NoStacks && w.Code != capture.StackMissing && w.Code != capture.StackKeyLost
}

// traceParts answers htmx with all that depends on the window.
func (r *reader) traceParts(ctx context.Context, c echo.Context, run store.Run, report *analysis.Report,
	l listing) (answer, error) {
	v, err := r.trace(ctx, run, report, &l)
	if err != nil {
		return answer{}, err
	}
	card, err := r.card(ctx, run, report, l, v)
	if err != nil {
		return answer{}, err
	}
	v.listing = card.listing
	c.Response().Header().Set("HX-Push-Url", string(card.url())) // without the empty fields of the form
	return answer{page: windowAnew(*v, *card)}, nil
}

// started is when the trace began, in words.
func started(t *analysis.Trace) string {
	at, err := time.Parse(time.RFC3339, t.Start)
	if err != nil {
		return t.Start
	}
	return at.UTC().Format("2 Jan 2006 15:04:05 UTC")
}

// covers says which time the trace has recorded.
func covers(t *analysis.Trace) string {
	return strings.TrimSuffix(clock(t.FromNS), " s") + " – " + clock(t.ToNS)
}
