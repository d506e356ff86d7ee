package query

import (
	"cmp"
	"slices"

	"heapdrift/internal/analysis"
)

// A Group is the sites of a selection that have something in common, such as a heap.
type Group struct {
	Name  string `json:"name"`  // "" where the evidence does not tell
	Sites int    `json:"sites"` // how many
	Numbers
}

// A naming gives each site of a report, or each frame, the number of a name, so that they are added up by it without a
// look at texts.
type naming struct {
	names []string
	of    []int32 // by site, or by number of frame
}

func newNaming(count int, nameOf func(i int) string) naming {
	n, numbers := naming{of: make([]int32, count)}, map[string]int32{}
	for i := range n.of {
		name := nameOf(i)
		at, ok := numbers[name]
		if !ok {
			at = int32(len(n.names))
			numbers[name], n.names = at, append(n.names, name)
		}
		n.of[i] = at
	}
	return n
}

// groups adds up sites by a name, most of a metric first.
func (r *Result) groups(by Metric, n *naming) []Group {
	all := make([]Group, len(n.names))
	for i := range r.Sites {
		g := &all[n.of[r.Sites[i].Ordinal]]
		g.Sites++
		g.add(&r.Sites[i].Amounts)
	}
	return ranked(all, n.names, by)
}

// ranked gives groups that have sites their names, and puts most of a metric first.
func ranked(all []Group, names []string, by Metric) []Group {
	list := all[:0]
	for i := range all {
		if all[i].Sites > 0 {
			all[i].Name = names[i]
			list = append(list, all[i])
		}
	}
	sortGroups(list, by)
	return list
}

// sortGroups puts most of a metric first.
func sortGroups(list []Group, by Metric) {
	slices.SortFunc(list, func(a, b Group) int { return compareGroups(&a, &b, by) })
}

func compareGroups(a, b *Group, by Metric) int {
	return cmp.Or(compareAmounts(by.of(&b.Numbers), by.of(&a.Numbers)), compareAmounts(b.Held, a.Held),
		cmp.Compare(a.Name, b.Name))
}

func compareAmounts(a, b analysis.Amount) int {
	return cmp.Or(cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Count, b.Count))
}

// Modules groups the sites by the module of their blamed frame.
func (r *Result) Modules(by Metric) []Group {
	return r.groups(by, &r.index.modules)
}

// Heaps groups the sites by the handle of their heap; that of virtual memory is "".
func (r *Result) Heaps(by Metric) []Group {
	return r.groups(by, &r.index.heaps)
}

// A Row is a signature with its numbers in a selection: all its sites together.
type Row struct {
	Signature string         `json:"signature"`
	Kind      string         `json:"kind"` // of memory: "heap", "virtual" or "heap-virtual"
	Title     string         `json:"title"`
	Class     analysis.Class `json:"class"`
	Score     *float64       `json:"score,omitempty"` // probability of a leak; nil where nothing can be said
	Certain   bool           `json:"certain"`         // a leak that may fail a gate
	Function  string         `json:"function"`        // the blamed function, with its module
	Place     string         `json:"place"`           // file and line of the blamed function
	Owner     string         `json:"owner,omitempty"` // by the project's rules; "" for none
	Sites     int            `json:"sites"`           // how many
	Numbers
	// Parts are its sites by heap, where it has several: the same stack may leak in one heap and come and go in another.
	Parts []HeapPart `json:"parts,omitempty"`
	// Series has the bytes held at each snapshot of the report, of the whole run.
	Series []int64 `json:"series,omitempty"`

	number int32 // of the signature
	// judged is the gravest of its sites, which stands for it where the selection is judged by itself.
	judged *analysis.WindowSite
}

// A HeapPart is the part of a signature that is in one heap.
type HeapPart struct {
	Heap  string         `json:"heap"` // handle in hex; "" for virtual memory
	Class analysis.Class `json:"class"`
	Numbers
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
	row := Row{Signature: site.Signature, Kind: site.Kind, Function: b.name, Place: b.place, Title: b.name,
		Score: site.Score, number: r.index.numbers[ordinal]}
	if place := r.index.places[row.number]; place >= 0 {
		f := &r.index.report.Findings[place]
		row.Title, row.Score, row.Certain, row.Owner = f.Title, f.Score, f.Certain, f.Owner
		if f.Blame != nil {
			row.Function, row.Place = nameOf(f.Blame), placeOf(f.Blame)
		}
	}
	return row
}

func (r *Row) part(heap string, s *Site) {
	at := slices.IndexFunc(r.Parts, func(p HeapPart) bool { return p.Heap == heap })
	if at < 0 {
		at = len(r.Parts)
		r.Parts = append(r.Parts, HeapPart{Heap: heap, Class: s.own})
	}
	p := &r.Parts[at]
	p.add(&s.Amounts)
	if s.own.Gravity() > p.Class.Gravity() {
		p.Class = s.own
	}
}
