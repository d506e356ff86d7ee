package query

import (
	"cmp"
	"maps"
	"slices"

	"heapdrift/internal/analysis"
)

// A Group is the sites of a selection that have something in common, such as a heap.
type Group struct {
	Name  string `json:"name"` // "" where the evidence does not tell
	Sites int    `json:"sites"`
	Numbers
}

// groups adds up sites by a name, most of a metric first.
func (r *Result) groups(by Metric, nameOf func(i int) string) []Group {
	at := map[string]*Group{}
	for i := range r.Sites {
		name := nameOf(i)
		g := at[name]
		if g == nil {
			g = &Group{Name: name}
			at[name] = g
		}
		g.Sites++
		g.add(&r.Sites[i].Amounts)
	}
	list := make([]Group, 0, len(at))
	for g := range maps.Values(at) {
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b Group) int {
		return cmp.Or(compareAmounts(by.of(&b.Numbers), by.of(&a.Numbers)), compareAmounts(b.Held, a.Held), cmp.Compare(a.Name, b.Name))
	})
	return list
}

func compareAmounts(a, b analysis.Amount) int {
	return cmp.Or(cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Count, b.Count))
}

// Modules are the modules of the frames to blame.
func (r *Result) Modules(by Metric) []Group {
	return r.groups(by, func(i int) string { return r.index.blamed[r.Sites[i].Ordinal].module })
}

// Heaps are the heaps by their handles; virtual memory has none.
func (r *Result) Heaps(by Metric) []Group {
	return r.groups(by, func(i int) string { return r.site(i).Heap })
}

// A Row is a signature with its numbers in a selection: all its sites together.
type Row struct {
	Signature string         `json:"signature"`
	Kind      string         `json:"kind"`
	Title     string         `json:"title"`
	Class     analysis.Class `json:"class"`
	Score     *float64       `json:"score,omitempty"` // of the whole run
	Certain   bool           `json:"certain"`         // of the whole run
	Function  string         `json:"function"`        // to blame, with its module
	Place     string         `json:"place"`           // its file and line
	Owner     string         `json:"owner,omitempty"`
	Sites     int            `json:"sites"`
	Numbers
	// Parts are its sites by heap, where it has several: the same stack may leak in one heap and come and go in another.
	Parts []Part `json:"parts,omitempty"`
	// Series is bytes held at each snapshot of the report, of the whole run.
	Series []int64 `json:"series,omitempty"`

	first int   // place in the report of the first of its sites
	place int32 // of the signature in the report's findings, −1 for nowhere: behind all others
}

// A Part is what a signature has in one heap.
type Part struct {
	Heap  string         `json:"heap"`
	Class analysis.Class `json:"class"`
	Numbers
}

// Ranked are the signatures of a selection, most of a metric first. By growth they come as the report has them, or, of a part of the time,
// those that leak or grow before the others.
func (r *Result) Ranked(by Metric) []Row {
	at := make([]int32, len(r.index.places)) // by number of a signature, one more than its place in list
	var list []Row
	for i := range r.Sites {
		s := &r.Sites[i]
		n := &at[r.index.numbers[s.Ordinal]]
		if *n == 0 {
			list = append(list, r.row(s.Ordinal))
			*n = int32(len(list))
		}
		row := &list[*n-1]
		row.Sites++
		row.Class = s.Class
		row.add(&s.Amounts)
		row.part(r.site(i).Heap, s)
	}
	for i := range list {
		if row := &list[i]; len(row.Parts) == 1 {
			row.Parts = nil
		}
	}
	whole := r.Selection.isWhole()
	slices.SortFunc(list, func(a, b Row) int {
		if by.Name == Metrics[0].Name && whole { // as the report has them
			return cmp.Or(cmp.Compare(uint32(a.place), uint32(b.place)), cmp.Compare(a.first, b.first))
		}
		if by.Name == Metrics[0].Name && a.Class.IsSuspect() != b.Class.IsSuspect() {
			return cmp.Compare(b.Class.Gravity(), a.Class.Gravity())
		}
		return cmp.Or(compareAmounts(by.of(&b.Numbers), by.of(&a.Numbers)), compareAmounts(b.Held, a.Held), cmp.Compare(a.first, b.first))
	})
	return list
}

// WithSeries fills in the series of rows, a page of those that Ranked gave.
func (r *Result) WithSeries(rows []Row) {
	at := map[int32]*Row{}
	for i := range rows {
		at[r.index.numbers[rows[i].first]] = &rows[i]
	}
	for i := range r.Sites {
		row := at[r.index.numbers[r.Sites[i].Ordinal]]
		if row == nil {
			continue
		}
		for k, point := range r.site(i).Series {
			if k == len(row.Series) {
				row.Series = append(row.Series, 0)
			}
			row.Series[k] += point.Bytes
		}
	}
}

// place is where the report has a signature, the gravest first; −1 for nowhere.
func (x *Index) place(signature string) int32 {
	if i, ok := x.findings[signature]; ok {
		return i
	}
	return -1
}

// row is a signature without numbers, by the first of its sites.
func (r *Result) row(ordinal int) Row {
	site, b := &r.index.report.Sites[ordinal], &r.index.blamed[ordinal]
	row := Row{Signature: site.Signature, Kind: site.Kind, Function: b.name, Place: b.place, Title: b.name, Score: site.Score, first: ordinal, place: r.index.places[r.index.numbers[ordinal]]}
	if row.place >= 0 {
		f := &r.index.report.Findings[row.place]
		row.Title, row.Score, row.Certain, row.Owner = f.Title, f.Score, f.Certain, f.Owner
		if f.Blame != nil {
			row.Function, row.Place = nameOf(f.Blame), placeOf(f.Blame)
		}
	}
	return row
}

func (r *Row) part(heap string, s *Site) {
	at := slices.IndexFunc(r.Parts, func(p Part) bool { return p.Heap == heap })
	if at < 0 {
		at = len(r.Parts)
		r.Parts = append(r.Parts, Part{Heap: heap, Class: s.own})
	}
	p := &r.Parts[at]
	p.add(&s.Amounts)
	if s.own.Gravity() > p.Class.Gravity() {
		p.Class = s.own
	}
}
