package query

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
)

// An Index answers selections of the report of one run. It is safe for concurrent use; nobody may change the report any
// more.
type Index struct {
	report   *analysis.Report
	findings map[string]int32 // by signature, where in report.Findings
	names    []string         // of frames, by number
	lower    []string         // of frames, what text is looked for in
	blamed   []blamed         // by site
	compares bool             // there is growth to show
	numbers  []int32          // by site, that of its signature
	places   []int32          // by number of a signature, where in report.Findings; −1 for nowhere
	modules  naming           // of the frames to blame
	heaps    naming           // by their handles
	// functions numbers the names of frames, when somebody asks first.
	functions func() *naming
}

// A blamed is the frame to blame of a site, as far as questions need it.
type blamed struct{ module, name, place string }

// A Table is the allocation table of a trace. Every Row.Site in it is below Sites.
type Table struct {
	allocations.Scanner
	Sites int
	Meta  func() (*allocations.Meta, error) // what its numbers stand for; nil where unknown
}

// New makes an Index of a report.
func New(r *analysis.Report) *Index {
	x := &Index{report: r, findings: make(map[string]int32, len(r.Findings)), blamed: make([]blamed, len(r.Sites))}
	for i := range r.Findings {
		x.findings[r.Findings[i].Signature] = int32(i)
	}
	n := r.Stacks.FrameCount()
	x.names, x.lower = make([]string, n), make([]string, n)
	for i := range n {
		f := r.Stacks.Frame(uint32(i))
		x.names[i] = f.Name()
		x.lower[i] = strings.ToLower(strings.Join(append(f.SearchTexts(), x.names[i]), "\n"))
	}
	numbered := map[string]int32{}
	x.numbers = make([]int32, len(r.Sites))
	for i := range r.Sites {
		n, ok := numbered[r.Sites[i].Signature]
		if !ok {
			n = int32(len(x.places))
			numbered[r.Sites[i].Signature] = n
			x.places = append(x.places, x.place(r.Sites[i].Signature))
		}
		x.numbers[i] = n
	}
	for i := range r.Sites {
		x.compares = x.compares || r.Sites[i].Growth != nil
		if b := r.Sites[i].Blame; b != nil {
			x.blamed[i] = blamed{b.Module, nameOf(b), placeOf(b)}
		}
	}
	x.modules = newNaming(len(r.Sites), func(i int) string { return x.blamed[i].module })
	x.functions = sync.OnceValue(func() *naming { return functionsOf(x.names) })
	x.heaps = newNaming(len(r.Sites), func(i int) string { return r.Sites[i].Heap })
	return x
}

func nameOf(b *analysis.Blame) string {
	return (&analysis.Frame{Module: b.Module, Function: b.Function, Offset: b.Offset}).Name()
}

func placeOf(b *analysis.Blame) string {
	return (&analysis.Frame{File: b.File, Line: b.Line}).FileLine()
}

// Report is the report that New got. It must not be changed.
func (x *Index) Report() *analysis.Report { return x.report }

// A Site is a site of the report with its numbers in a selection.
type Site struct {
	Ordinal int // index in Report.Sites
	analysis.Amounts
	Class analysis.Class // that of its signature, so that no two views contradict each other
	own   analysis.Class // what its own growth looks like
}

// A Result has the sites in a selection, in the order of the report.
type Result struct {
	Selection Selection
	Window    *analysis.Window // of a trace; nil for snapshots
	Snapshots *Snapshots       // the selected part of a series; nil for all of it
	Sites     []Site

	index    *Index
	table    *Table                  // of traces whose table is at hand
	windowed *analysis.WindowNumbers // what the sites were judged by where the selection is judged by itself
	// beforeExit says that the selection is of the time before the process ended, and that the report tells its numbers.
	beforeExit bool
}

// Ask answers a selection. table is that of the run's trace, nil where there is none or where it is not at hand. Its
// error is an *analysis.Error where the evidence cannot answer.
func (x *Index) Ask(ctx context.Context, s Selection, table *Table) (*Result, error) {
	r := &Result{Selection: s, index: x, table: table, beforeExit: x.isBeforeExit(&s)}
	if err := r.check(); err != nil {
		return nil, err
	}
	if s.ofRows() && !r.beforeExit {
		windowed, err := x.windowed(ctx, &s, table)
		if err != nil {
			return nil, err
		}
		r.take(windowed)
		return r, nil
	}
	r.Window, r.Snapshots = x.report.Window, s.snapshots(x.report)
	if r.beforeExit {
		w := s.window(x.report.Trace)
		r.Window = &analysis.Window{FromNS: w.From, ToNS: w.To, DurationNS: w.To - w.From}
	}
	accepts := x.matcher(&s)
	if s == (Selection{}) {
		r.Sites = make([]Site, 0, len(x.report.Sites))
	}
	for i := range x.report.Sites {
		site, amounts := &x.report.Sites[i], x.report.Sites[i].Amounts
		if r.Snapshots != nil {
			var held bool
			if amounts, held = r.Snapshots.amounts(site); !held {
				continue
			}
		}
		if !accepts(i) {
			continue
		}
		if r.beforeExit {
			amounts = amounts.UpToExit()
		}
		r.Sites = append(r.Sites, x.site(i, amounts))
	}
	r.keep(s.Class)
	return r, nil
}

// site is a site with its class in the report.
func (x *Index) site(ordinal int, a analysis.Amounts) Site {
	own := x.report.Sites[ordinal].Verdict
	if at := x.places[x.numbers[ordinal]]; at >= 0 {
		return Site{ordinal, a, x.report.Findings[at].Verdict, own}
	}
	return Site{ordinal, a, own, own}
}

// AskIn is Ask where the numbers of the window are computed already, for a selection that needs no single allocations.
func (x *Index) AskIn(s Selection, windowed *analysis.WindowNumbers, table *Table) *Result {
	r := &Result{Selection: s, index: x, table: table}
	r.take(windowed)
	return r
}

// FirstSite is the first site of a signature in the selection, in the order of the report; false where the selection
// has none.
func (r *Result) FirstSite(signature string) (Site, bool) {
	for i := range r.Sites {
		if r.site(i).Signature == signature {
			return r.Sites[i], true
		}
	}
	return Site{}, false
}

// take selects from the numbers of a window. There is no verdict on the whole signature in it: the gravest of its sites
// counts.
func (r *Result) take(windowed *analysis.WindowNumbers) {
	r.Window = &windowed.Window
	accepts := r.index.matcher(&r.Selection)
	if r.index.isJudged(&r.Selection) {
		for i := range windowed.Sites {
			if a := &windowed.Sites[i].Amounts; hasAny(a) && accepts(i) {
				r.Sites = append(r.Sites, r.index.site(i, *a))
			}
		}
		r.keep(r.Selection.Class)
		return
	}
	r.windowed = windowed
	gravest := make([]analysis.Class, len(r.index.places))
	for i := range windowed.Sites {
		w := &windowed.Sites[i]
		if !hasAny(&w.Amounts) || !accepts(i) {
			continue
		}
		r.Sites = append(r.Sites, Site{i, w.Amounts, w.Verdict, w.Verdict})
		if n := r.index.numbers[i]; w.Verdict.Gravity() > gravest[n].Gravity() {
			gravest[n] = w.Verdict
		}
	}
	for i := range r.Sites {
		r.Sites[i].Class = gravest[r.index.numbers[r.Sites[i].Ordinal]]
	}
	r.keep(r.Selection.Class)
}

// keep leaves the sites of a class; "" is all.
func (r *Result) keep(class string) {
	if class != "" {
		r.Sites = slices.DeleteFunc(r.Sites, func(s Site) bool { return string(s.Class) != class })
	}
}

// isBeforeExit reports whether a selection is of the time before the process ended, whose numbers the report tells
// without a look at single allocations.
func (x *Index) isBeforeExit(s *Selection) bool {
	if x.report.Trace == nil || !s.ofRows() || s.OfAllocations() || !x.report.Totals.KnowBeforeExit() {
		return false
	}
	before, ends := x.report.Trace.WindowBeforeExit()
	return ends && s.window(x.report.Trace) == before
}

// check says why the selection cannot be answered.
func (r *Result) check() error {
	x, s := r.index, &r.Selection
	if n := uint64(len(x.report.Snapshots)); s.Snapshots != (Range{}) {
		switch {
		case x.report.Trace != nil:
			return badSelection("since and until are numbers of snapshots, and a trace has none; select its window by from and to")
		case max(s.Snapshots.From, s.Snapshots.To) > n:
			return badSelection("snapshot %d is not there: the run has %d", max(s.Snapshots.From, s.Snapshots.To), n)
		}
	}
	switch {
	case !s.ofRows():
		return nil
	case x.report.Trace == nil:
		return &analysis.Error{Code: analysis.CodeNotATrace,
			Message: "snapshots do not tell when, by which thread and in which size single blocks were allocated; only a trace is selected from by window, thread, size or age"}
	case r.table == nil && !r.beforeExit:
		return analysis.ErrTableMissing
	}
	if s.From != nil && s.To != nil && *s.From > *s.To {
		return &analysis.Error{Code: analysis.CodeBadWindow,
			Message: fmt.Sprintf("the window ends at %s s, before it begins at %s s", inSeconds(*s.To), inSeconds(*s.From))}
	}
	return nil
}

// windowed asks the allocation table.
func (x *Index) windowed(ctx context.Context, s *Selection, table *Table) (*analysis.WindowNumbers, error) {
	sites := x.report.TraceSites()
	sites.TableSiteCount = max(sites.TableSiteCount, table.Sites)
	w := s.window(x.report.Trace)
	return sites.InWindow(ctx, s.rows(table.Scanner, w), w, false)
}

// hasAny reports whether a site has allocated, freed or held anything in a window.
func hasAny(a *analysis.Amounts) bool {
	l := a.Lifetimes
	return l != nil && (l.AIFO != analysis.Amount{} || l.AIFI != analysis.Amount{} || l.AOFI != analysis.Amount{} ||
		l.AOFO != analysis.Amount{} || l.UnknownFrees != 0)
}

// matcher says which sites a selection takes by what the report says of them, but for their class.
func (x *Index) matcher(s *Selection) func(ordinal int) bool {
	function, text := x.framesNamed(s.Function), x.framesWith(s.Text)
	id := strings.ToUpper(strings.TrimPrefix(strings.ToLower(s.Text), "backtrace"))
	return func(ordinal int) bool {
		site := &x.report.Sites[ordinal]
		switch {
		case s.Kind != "" && site.Kind != s.Kind,
			s.Kind == "" && site.Kind == capture.KindHeapVirtual.String(),
			s.Heap != "" && site.Heap != s.Heap,
			s.Signature != "" && site.Signature != s.Signature,
			s.Module != "" && !strings.EqualFold(x.blamed[ordinal].module, s.Module),
			function != nil && !x.runsThrough(site, function):
			return false
		case text == nil, site.Signature == s.Text, slices.Contains(site.Traces, id),
			strings.Contains(site.Heap, strings.ToLower(s.Text)):
			return true
		}
		return x.runsThrough(site, text)
	}
}

// runsThrough reports whether a stack of a site has one of some frames.
func (x *Index) runsThrough(site *analysis.Site, frames []bool) bool {
	has := func(ref analysis.StackRef) bool {
		return slices.ContainsFunc(x.report.Stacks.FrameNumbers(ref), func(n uint32) bool { return frames[n] })
	}
	return has(site.Stack) || slices.ContainsFunc(site.AliasStacks, has)
}

// framesNamed are the frames of a function, by number; nil for none asked for.
func (x *Index) framesNamed(function string) []bool {
	if function == "" {
		return nil
	}
	return x.frames(func(n int) bool { return x.names[n] == function })
}

// framesWith are the frames that have a text; nil for none asked for.
func (x *Index) framesWith(text string) []bool {
	if text == "" {
		return nil
	}
	text = strings.ToLower(text)
	return x.frames(func(n int) bool { return strings.Contains(x.lower[n], text) })
}

func (x *Index) frames(is func(n int) bool) []bool {
	list := make([]bool, len(x.names))
	for n := range list {
		list[n] = is(n)
	}
	return list
}

// SelectedReport makes a report of the selection's sites alone, for exports: their numbers are those of the selection.
// What the report says of the whole process, such as its verdict and its snapshots, stays.
func (r *Result) SelectedReport() *analysis.Report {
	narrow := *r.index.report
	narrow.Sites = make([]analysis.Site, len(r.Sites))
	told := map[string]bool{}
	for i := range r.Sites {
		s := &r.Sites[i]
		narrow.Sites[i] = r.index.report.Sites[s.Ordinal]
		narrow.Sites[i].Amounts, narrow.Sites[i].Verdict = s.Amounts, s.Class
		if r.windowed != nil {
			narrow.Sites[i].Score = r.windowed.Sites[s.Ordinal].Score
		}
		told[narrow.Sites[i].Signature] = true
	}
	narrow.Findings = slices.DeleteFunc(slices.Clone(narrow.Findings),
		func(f analysis.Finding) bool { return !told[f.Signature] })
	narrow.Window = r.Window
	if len(narrow.Sites) < len(r.index.report.Sites) { // what it does not list may be there
		narrow.Verdict.Suffices = new(false)
	}
	return &narrow
}
