package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

// maxSeconds is the furthest time that a window may be given, in seconds from the trace's start: three years. As
// floating point numbers, times of the first hundred days are exact to the ns, the furthest to 15 ns.
const maxSeconds = 1e8

// A timeWindow is the time that the numbers of a page are of, in ns from the trace's start.
type timeWindow struct {
	capture.Window
	part    bool // less than the whole trace
	named   bool // not the one that a page opens on: an address names it
	scanned bool // its numbers come from the allocation table, not from the report
}

// beforeExit reports whether it is the time up to the end of the process, on which the page of a trace opens that has
// recorded one.
func (w timeWindow) beforeExit() bool { return w.part && !w.named }

// isChosen reports whether it is a part that somebody chose.
func (w timeWindow) isChosen() bool { return w.part && w.named }

// wholeOf is everything that a trace knows.
func wholeOf(t *analysis.Trace) capture.Window {
	whole := (&capture.Trace{From: t.FromNS, To: t.ToNS}).Whole()
	return capture.Window{From: whole.From, To: max(whole.To, whole.From)}
}

// openingOf is the window that the page of a trace opens on: the time before the process ended, else the whole trace.
// What is freed because a process ends hides what it leaked.
func openingOf(r *analysis.Report) timeWindow {
	if before, ends := r.Trace.WindowBeforeExit(); ends {
		return timeWindow{Window: before, part: true, scanned: !r.Totals.KnowBeforeExit()}
	}
	return timeWindow{Window: wholeOf(r.Trace)}
}

// windowOf reads the ends of a window in seconds. Without one it is that on which the page opens; what makes no sense
// counts as not there.
func windowOf(r *analysis.Report, from, to string) timeWindow {
	whole, opening := wholeOf(r.Trace), openingOf(r)
	w := timeWindow{Window: opening.Window}
	end := func(ns int64) int64 { return min(max(unrounded(ns, opening.Window, whole), whole.From), whole.To) }
	if ns, ok := parseSeconds(from); ok {
		w.From = end(ns)
	}
	if ns, ok := parseSeconds(to); ok {
		w.To = end(ns)
	}
	if w.From > w.To {
		w.From, w.To = w.To, w.From
	}
	return classified(w.Window, r)
}

// classified is a window of a trace with what is known of it.
func classified(w capture.Window, r *analysis.Report) timeWindow {
	whole := wholeOf(r.Trace)
	if opening := openingOf(r); w == opening.Window {
		return opening
	}
	return timeWindow{Window: w, part: w != whole, named: true, scanned: w != whole}
}

func parseSeconds(text string) (ns int64, ok bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > maxSeconds {
		return 0, false
	}
	return int64(math.Round(v * 1e9)), true
}

// seconds is a time as an address has it: exact, without a unit.
func seconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', -1, 64) }

// shownSeconds is a time as a field and a sentence have it, without a unit: from a second on rounded to milliseconds,
// which is finer than the steps of the chart.
func shownSeconds(ns int64) string {
	if ns >= 1e9 || ns <= -1e9 {
		ns = int64(math.Round(float64(ns)/1e6)) * 1e6
	}
	return seconds(ns)
}

// unrounded is the end of a window that a field shows as ns; ns itself where no end reads so.
func unrounded(ns int64, windows ...capture.Window) int64 {
	if ns%1e6 != 0 { // nobody has rounded it
		return ns
	}
	for _, w := range windows {
		for _, end := range []int64{w.From, w.To} {
			if shownSeconds(end) == shownSeconds(ns) {
				return end
			}
		}
	}
	return ns
}

// clock is a time as people read it.
func clock(ns int64) string {
	s := float64(ns) / 1e9
	decimals := 1
	switch abs := math.Abs(s); {
	case abs == 0 || abs >= 1:
	case abs < 0.001:
		decimals = 6
	default:
		decimals = 3
	}
	text := strconv.FormatFloat(math.Abs(s), 'f', decimals, 64)
	whole, part, _ := strings.Cut(text, ".")
	n, _ := strconv.ParseInt(whole, 10, 64)
	text = quantity.Count(n) + "." + part
	if s < 0 {
		text = "−" + text
	}
	return text + " s"
}

// A preset is a window that the page offers.
type preset struct {
	text, title string
	window      timeWindow
}

// presets divide the part of the trace in which the process lived.
func presets(r *analysis.Report) []preset {
	whole := wholeOf(r.Trace)
	lived, list := whole, []preset{{"Whole trace", "all recorded time", classified(whole, r)}}
	if t := r.Trace; t.BeganNS != nil {
		lived.From = min(max(*t.BeganNS, whole.From), whole.To)
	}
	if before, ends := r.Trace.WindowBeforeExit(); ends {
		lived.To = before.To
		list = slices.Insert(list, 0,
			preset{"Before exit",
				"until just before the process exited: frees at exit do not count",
				classified(before, r)})
	}
	part := func(text, title string, n, of int64) {
		from := lived.From + int64(float64(lived.To-lived.From)*float64(n)/float64(of))
		if lived.To-lived.From > int64(10*time.Millisecond) {
			step := int64(time.Millisecond) // a short address for a time that nobody needs exact
			from = from / step * step
		}
		if from > lived.From && from < lived.To {
			list = append(list, preset{text, title, classified(capture.Window{From: from, To: lived.To}, r)})
		}
	}
	part("Without start-up", "without the first fifth of the time: programs fill their caches then", 1, 5)
	part("Last half", "the second half of the time", 1, 2)
	part("Last quarter", "the last quarter of the time", 3, 4)
	return list
}

// A windowProblem is why there are no numbers of a window.
type windowProblem struct{ code, message string }

// inWindow asks for the numbers of a window. What can be told to people is told on the page; err is for the rest.
func (r *reader) inWindow(ctx context.Context, run store.Run, w timeWindow) (*analysis.WindowNumbers,
	*windowProblem, error) {
	if r.windows == nil {
		return nil, &windowProblem{"no-windows", "this server does not compute windows"}, nil
	}
	found, err := r.windowed.get(ctx, windowKey{run.ID, run.ReportKey, w.Window},
		func(ctx context.Context) (*analysis.WindowNumbers, error) {
			return r.windows.Window(ctx, r.View, run.ID, w.Window)
		})
	var refused *analysis.Error
	if errors.As(err, &refused) {
		return nil, &windowProblem{refused.Code, refused.Error()}, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("run: window of run %d: %w", run.ID, err)
	}
	return found, nil, nil
}
