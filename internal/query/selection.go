// Package query answers questions about a part of a run: which of its sites, in which window of its trace, which of its
// allocations. A Selection says which part; an Index answers it from the run's report, and, where single allocations
// decide, from the trace's allocation table. All views of an answer, and all exports of them, are of the same
// selection.
package query

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// A Selection is a part of a run. The zero value selects everything but heap-virtual memory, which heaps took from the
// system: those bytes are the heaps' blocks, seen from below, and only Kind "heap-virtual" selects them.
type Selection struct {
	From, To  *int64 // ends of the window, in ns since the trace's start; nil for the trace's own
	Snapshots Range  // the first and the last snapshot of a series, counted from 1; growth is from the one to the other
	Kind      string // of memory: "heap", "virtual" or "heap-virtual"; "" for all
	Class     string // an analysis.Class; "" for all
	Module    string // of the blamed frame
	Heap      string // handle in hex
	Function  string // module!function, anywhere on the stack
	Signature string
	Text      string  // part of a frame's name or file, a heap, an id of the evidence or a signature, in upper or lower case
	Thread    *uint32 // id of the thread that allocated; nil for all
	Size      Range   // of an allocation, in bytes
	Age       Range   // of an allocation at the window's end, or when it was freed, in ns
}

// A Range selects the numbers from From to To, both included. A To of 0 is no upper end: the zero Range selects all.
type Range struct{ From, To uint64 }

func (r Range) has(n uint64) bool { return n >= r.From && (r.To == 0 || n <= r.To) }

// CodeBadSelection is the code of an error that says what is wrong with a selection.
const CodeBadSelection = "bad-selection"

func badSelection(format string, args ...any) error {
	return &analysis.Error{Code: CodeBadSelection, Message: fmt.Sprintf(format, args...)}
}

// texts are the fields of a selection that are texts, by their names in an address.
func (s *Selection) texts() []textField {
	return []textField{{"kind", &s.Kind}, {"class", &s.Class}, {"module", &s.Module}, {"heap", &s.Heap},
		{"fn", &s.Function}, {"signature", &s.Signature}, {"q", &s.Text}}
}

type textField struct {
	name  string
	value *string
}

// Parse reads a selection from the parameters of an address, as Values writes them. Other parameters are ignored. Its
// error is an *analysis.Error that names the parameter.
func Parse(values url.Values) (Selection, error) {
	var s Selection
	for _, f := range s.texts() {
		*f.value = strings.TrimSpace(values.Get(f.name))
	}
	var err error
	for _, f := range []struct {
		name string
		to   **int64
	}{{"from", &s.From}, {"to", &s.To}} {
		if *f.to, err = parseSeconds(f.name, values.Get(f.name)); err != nil {
			return s, err
		}
	}
	if text := values.Get("thread"); text != "" {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return s, badSelection("thread: %q is not the number of a thread", text)
		}
		s.Thread = new(uint32(n))
	}
	if s.Snapshots, err = parseSnapshots(values); err != nil {
		return s, err
	}
	if s.Size, err = parseRange("size", values.Get("size"), 1, "bytes"); err != nil {
		return s, err
	}
	s.Age, err = parseRange("age", values.Get("age"), 1e9, "seconds")
	return s, err
}

// Values writes the selection as parameters of an address. Fields that select nothing are left out.
func (s Selection) Values() url.Values {
	values := url.Values{}
	for _, f := range s.texts() {
		if *f.value != "" {
			values.Set(f.name, *f.value)
		}
	}
	if s.From != nil {
		values.Set("from", inSeconds(*s.From))
	}
	if s.To != nil {
		values.Set("to", inSeconds(*s.To))
	}
	if s.Snapshots.From > 1 {
		values.Set("since", strconv.FormatUint(s.Snapshots.From, 10))
	}
	if s.Snapshots.To > 0 {
		values.Set("until", strconv.FormatUint(s.Snapshots.To, 10))
	}
	if s.Thread != nil {
		values.Set("thread", strconv.FormatUint(uint64(*s.Thread), 10))
	}
	if s.Size != (Range{}) {
		values.Set("size", s.Size.text(func(n uint64) string { return strconv.FormatUint(n, 10) }))
	}
	if s.Age != (Range{}) {
		values.Set("age", s.Age.text(func(n uint64) string { return inSeconds(int64(n)) }))
	}
	return values
}

// OfAllocations reports whether the selection needs single allocations of a trace, and not only a window.
func (s *Selection) OfAllocations() bool {
	return s.Thread != nil || s.Size != (Range{}) || s.Age != (Range{})
}

// ofRows reports whether single allocations decide what is selected, not sites alone.
func (s *Selection) ofRows() bool {
	return s.From != nil || s.To != nil || s.OfAllocations()
}

// window is the time that is selected of a trace.
func (s *Selection) window(t *analysis.Trace) capture.Window {
	all := (&capture.Trace{From: t.FromNS, To: t.ToNS}).Whole()
	w := all
	if s.From != nil {
		w.From = min(max(*s.From, all.From), all.To)
	}
	if s.To != nil {
		w.To = min(max(*s.To, all.From), all.To)
	}
	return w
}

// parseSnapshots reads the numbers of the first and the last snapshot.
func parseSnapshots(values url.Values) (r Range, err error) {
	for _, f := range []struct {
		name string
		to   *uint64
	}{{"since", &r.From}, {"until", &r.To}} {
		text := strings.TrimSpace(values.Get(f.name))
		if text == "" {
			continue
		}
		if *f.to, err = strconv.ParseUint(text, 10, 31); err != nil || *f.to == 0 {
			return r, badSelection("%s: %q is not the number of a snapshot; the first is 1", f.name, text)
		}
	}
	if r.To != 0 && r.From > r.To {
		return r, badSelection("since: snapshot %d comes after snapshot %d, which until names", r.From, r.To)
	}
	if r.From == 1 { // as if it were not there, so that equal selections are equal
		r.From = 0
	}
	return r, nil
}

// farthest is the furthest time that may be given, in seconds: three years.
const farthest = 1e8

func parseSeconds(name, text string) (*int64, error) {
	if text == "" {
		return nil, nil
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(math.Abs(v) <= farthest) {
		return nil, badSelection("%s: %q is not a number of seconds from the trace's start", name, text)
	}
	return new(int64(math.Round(v * 1e9))), nil
}

func inSeconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', -1, 64) }

// parseRange reads "A-B", "A-", "-B" or "A", of which unit is how many of the range's own numbers are one.
func parseRange(name, text string, unit float64, of string) (r Range, err error) {
	if text == "" {
		return r, nil
	}
	low, high, isRange := strings.Cut(text, "-")
	if !isRange {
		high = low
	}
	read := func(text string) uint64 {
		if text == "" {
			return 0
		}
		v, e := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if e != nil || !(v >= 0 && v*unit < 1<<62) {
			err = badSelection("%s: %q is not a range of %s; write 16-64, 64- or -64", name, text, of)
			return 0
		}
		return uint64(math.Round(v * unit))
	}
	r = Range{read(low), read(high)}
	if err == nil && r.To != 0 && r.From > r.To {
		err = badSelection("%s: the range %q ends before it begins", name, text)
	}
	return r, err
}

func (r Range) text(number func(uint64) string) string {
	text := number(r.From) + "-"
	if r.To != 0 {
		text += number(r.To)
	}
	return text
}
