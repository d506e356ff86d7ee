package query

import (
	"cmp"
	"context"
	"math/bits"
	"runtime"
	"slices"
	"strconv"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
)

// MaxAllocations is how many single allocations an answer lists at most.
const MaxAllocations = 10_000

// An Allocation is one allocation of a trace, with the columns of Windows Performance Analyzer. Times are ns since the
// trace's start.
type Allocation struct {
	Signature string  `json:"signature"`
	Function  string  `json:"function"` // the blamed function
	Place     string  `json:"place"`    // file and line of the blamed function; "" where unknown
	Kind      string  `json:"kind"`     // of memory: "heap" or "virtual"
	Heap      string  `json:"heap"`     // handle in hex; "" for virtual memory
	Address   string  `json:"address"`
	Thread    *uint32 `json:"thread"`      // id of the thread that allocated; nil where the trace does not tell
	CommitNS  *int64  `json:"commit_ns"`   // Commit Time; nil for before the trace
	FreedNS   *int64  `json:"decommit_ns"` // Decommit Time; nil for never
	// Impacting is WPA's Impacting Size in bytes: Size if it was allocated inside the window and is held at its end,
	// else 0.
	Impacting uint64 `json:"impacting_size"`
	Size      uint64 `json:"size"`  // bytes
	Count     int64  `json:"count"` // 1; 0 for the rest of a commit of which a part ended elsewhere
	End       string `json:"end"`   // how it ended: allocations.End as text
}

// Allocations are the largest allocations of a selection.
type Allocations struct {
	Numbers analysis.Amount `json:"all"` // sum of all, listed or not
	List    []Allocation    `json:"list"`
	LeftOut int64           `json:"left_out"` // how many are not listed
}

// Lifetimes lists the allocations that were made inside the window, at most so many, the largest first.
func (r *Result) Lifetimes(ctx context.Context, most int) (*Allocations, error) {
	return r.allocations(ctx, most, func(row *allocations.Row, w capture.Window) bool {
		return row.AllocTime >= w.From && row.AllocTime <= w.To
	})
}

// Blocks lists the allocations that are held at the window's end, or were when the process ended before, at most so
// many, the largest first.
func (r *Result) Blocks(ctx context.Context, most int) (*Allocations, error) {
	return r.allocations(ctx, most, func(row *allocations.Row, w capture.Window) bool {
		return row.AllocTime <= w.To && (row.FreeTime > w.To || row.End == allocations.EndExit && row.FreeTime >= w.From)
	})
}

// allocations finds the largest allocations by one scan of the table on all cores.
func (r *Result) allocations(ctx context.Context, most int,
	wants func(*allocations.Row, capture.Window) bool) (*Allocations, error) {
	most = min(max(most, 1), MaxAllocations)
	out := &Allocations{List: []Allocation{}}
	var parts []*largest
	w, err := r.scan(ctx, func(w capture.Window, siteOf []int32) allocations.Sink {
		l := &largest{siteOf: siteOf, most: most, wants: func(row *allocations.Row) bool { return wants(row, w) }}
		parts = append(parts, l)
		return l
	})
	if err != nil {
		return nil, err
	}
	var kept []allocations.Row
	rows := int64(0)
	for _, l := range parts {
		out.Numbers, kept, rows = out.Numbers.Plus(l.all), append(kept, l.kept...), rows+l.rows
	}
	slices.SortFunc(kept, compareRows)
	kept = kept[:min(most, len(kept))]
	out.LeftOut = rows - int64(len(kept))
	siteOf := r.siteOf()
	for i := range kept {
		out.List = append(out.List, r.allocation(&kept[i], int(siteOf[kept[i].Site]), w))
	}
	return out, nil
}

func compareRows(a, b allocations.Row) int {
	return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.AllocTime, b.AllocTime), cmp.Compare(a.Address, b.Address),
		cmp.Compare(a.FreeTime, b.FreeTime), cmp.Compare(a.Site, b.Site))
}

func (r *Result) allocation(row *allocations.Row, site int, w capture.Window) Allocation {
	b := &r.index.blamed[r.Sites[site].Ordinal]
	a := Allocation{
		Signature: r.site(site).Signature, Function: b.name, Place: b.place, Kind: row.Kind.String(), Heap: r.site(site).Heap,
		Address: "0x" + strconv.FormatUint(row.Address, 16), Size: row.Size, Count: 1, End: row.End.String(),
	}
	if row.Thread != allocations.NoThread {
		a.Thread = &row.Thread
	}
	if row.Part {
		a.Count = 0
	}
	if row.AllocTime != allocations.BeforeTrace {
		a.CommitNS = new(row.AllocTime)
	}
	if row.FreeTime != allocations.Never {
		a.FreedNS = new(row.FreeTime)
	}
	if row.AllocTime >= w.From && row.FreeTime > w.To {
		a.Impacting = row.Size
	}
	return a
}

// scan passes the rows of the selection to a sink for each core, and returns the window.
func (r *Result) scan(ctx context.Context,
	sink func(w capture.Window, siteOf []int32) allocations.Sink) (capture.Window, error) {
	w, err := r.scannable()
	if err != nil {
		return w, err
	}
	siteOf := r.siteOf()
	sinks := make([]allocations.Sink, runtime.GOMAXPROCS(0))
	for i := range sinks {
		sinks[i] = sink(w, siteOf)
	}
	return w, r.Selection.rows(r.table.Scanner, w).Scan(ctx, w.From, w.To, sinks...)
}

// scannable is the window in which single allocations are told of, or why there are none.
func (r *Result) scannable() (capture.Window, error) {
	x := r.index
	switch {
	case x.report.Trace == nil:
		return capture.Window{},
			&analysis.Error{Code: analysis.CodeNotATrace,
				Message: "snapshots do not tell of single allocations in time; only a trace does"}
	case r.table == nil:
		return capture.Window{}, analysis.ErrTableMissing
	}
	return r.Selection.window(x.report.Trace), nil
}

// siteOf is for each number of the table the place of its site in the result, −1 for none.
func (r *Result) siteOf() []int32 {
	width := r.table.Sites
	for i := range r.Sites {
		for _, n := range r.site(i).TableSites {
			width = max(width, int(n)+1)
		}
	}
	of := make([]int32, width)
	for i := range of {
		of[i] = -1
	}
	for i := range r.Sites {
		for _, n := range r.site(i).TableSites {
			of[n] = int32(i)
		}
	}
	return of
}

// A largest is a Sink that keeps the largest rows: twice as many as are wanted at most, so that it sorts seldom.
type largest struct {
	siteOf []int32
	wants  func(*allocations.Row) bool
	most   int
	kept   []allocations.Row
	floor  uint64 // rows below are not among the largest
	all    analysis.Amount
	rows   int64
}

// AddRows implements allocations.Sink.
func (l *largest) AddRows(rows []allocations.Row) error {
	for i := range rows {
		row := &rows[i]
		if row.UnknownFree || uint64(row.Site) >= uint64(len(l.siteOf)) || l.siteOf[row.Site] < 0 || !l.wants(row) {
			continue
		}
		l.rows++
		l.all.Bytes += int64(row.Size)
		if !row.Part {
			l.all.Count++
		}
		if row.Size < l.floor {
			continue
		}
		if l.kept = append(l.kept, *row); len(l.kept) >= 2*l.most {
			slices.SortFunc(l.kept, compareRows)
			l.kept = l.kept[:l.most]
			l.floor = l.kept[l.most-1].Size
		}
	}
	return nil
}

// A SizeClass counts the blocks of From to To bytes, both included.
type SizeClass struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	analysis.Amount
}

// Sizes group the held blocks by their size.
type Sizes struct {
	// Exact says that each block was measured. Otherwise a block counts with the mean size of its site, as snapshots
	// tell no more.
	Exact   bool        `json:"exact"`
	Classes []SizeClass `json:"classes"` // smallest first, each twice as large as the one before; those without blocks are left out
}

// Sizes groups the blocks held at the end by size.
func (r *Result) Sizes(ctx context.Context) (*Sizes, error) {
	var sum sizeCounts
	exact := r.index.report.Trace != nil && r.table != nil
	if exact {
		var parts []*sizeSink
		_, err := r.scan(ctx, func(w capture.Window, siteOf []int32) allocations.Sink {
			s := &sizeSink{siteOf: siteOf, window: w}
			parts = append(parts, s)
			return s
		})
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			for b := range p.counts {
				sum[b] = sum[b].Plus(p.counts[b])
			}
		}
	} else {
		for i := range r.Sites {
			if held, _ := r.Sites[i].HeldBeforeExit(); held.Count > 0 && held.Bytes >= 0 {
				b := bits.Len64(uint64(held.Bytes / held.Count))
				sum[b] = sum[b].Plus(held)
			}
		}
	}
	out := &Sizes{Exact: exact, Classes: []SizeClass{}}
	for b, a := range sum {
		if a == (analysis.Amount{}) {
			continue
		}
		c := SizeClass{Amount: a}
		if b > 0 {
			c.From, c.To = 1<<(b-1), int64(uint64(1)<<b-1)
		}
		out.Classes = append(out.Classes, c)
	}
	return out, nil
}

// sizeCounts are amounts by the number of bits of a block's size.
type sizeCounts [65]analysis.Amount

type sizeSink struct {
	siteOf []int32
	window capture.Window
	counts sizeCounts
}

// AddRows implements allocations.Sink.
func (s *sizeSink) AddRows(rows []allocations.Row) error {
	for i := range rows {
		row := &rows[i]
		if row.UnknownFree || uint64(row.Site) >= uint64(len(s.siteOf)) || s.siteOf[row.Site] < 0 {
			continue
		}
		if row.AllocTime > s.window.To ||
			row.FreeTime <= s.window.To && (row.End != allocations.EndExit || row.FreeTime < s.window.From) {
			continue
		}
		a := &s.counts[bits.Len64(row.Size)]
		a.Bytes += int64(row.Size)
		if !row.Part {
			a.Count++
		}
	}
	return nil
}
