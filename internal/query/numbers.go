package query

import (
	"slices"

	"heapdrift/internal/analysis"
)

// Numbers are the sums over some sites in a selection. Where the process ended in the window, Held and Growth are as of
// the instant before: what is freed because the process ends was held as long as it worked.
type Numbers struct {
	Held   analysis.Amount  `json:"held"`
	Growth *analysis.Amount `json:"growth,omitempty"` // nil where there is nothing to compare with
	// Allocated, Freed and Transient are inside the window; nil unless of a trace. Transient is what was allocated and
	// freed again.
	Allocated *analysis.Amount `json:"allocated,omitempty"`
	Freed     *analysis.Amount `json:"freed,omitempty"`
	Transient *analysis.Amount `json:"transient,omitempty"`
	// Ended says that some of it was held when the process ended in the window.
	Ended bool `json:"ended,omitempty"`
}

// add counts a site in.
func (n *Numbers) add(a *analysis.Amounts) {
	held, ended := a.HeldBeforeExit()
	n.Held, n.Ended = n.Held.Plus(held), n.Ended || ended
	if a.Growth != nil {
		addTo(&n.Growth, a.GrowthBeforeExit())
	}
	if l := a.Lifetimes; l != nil {
		addTo(&n.Allocated, l.Allocated)
		addTo(&n.Freed, l.Freed)
		addTo(&n.Transient, l.AIFI)
	}
}

func addTo(sum **analysis.Amount, a analysis.Amount) {
	if *sum == nil {
		*sum = new(analysis.Amount)
	}
	**sum = (*sum).Plus(a)
}

// A Metric is a number that sites are sorted by, and that gives trees their widths.
type Metric struct {
	Name   string // "growth", "held"
	of     func(*Numbers) analysis.Amount
	ofSite func(*analysis.Amounts) analysis.Amount
}

// Of returns the metric of some numbers; zero where the evidence does not tell it.
func (m Metric) Of(n *Numbers) analysis.Amount { return m.of(n) }

// Metrics are all metrics, the default first.
var Metrics = []Metric{
	{"growth", func(n *Numbers) analysis.Amount { return valueOf(n.Growth) }, growthOf},
	{"held", func(n *Numbers) analysis.Amount { return n.Held }, heldOf},
	{"allocated", func(n *Numbers) analysis.Amount { return valueOf(n.Allocated) },
		func(a *analysis.Amounts) analysis.Amount { return lifetimesOf(a).Allocated }},
	{"transient", func(n *Numbers) analysis.Amount { return valueOf(n.Transient) },
		func(a *analysis.Amounts) analysis.Amount { return lifetimesOf(a).AIFI }},
}

// growthOf and heldOf are as of the instant before the process ended.
func growthOf(a *analysis.Amounts) analysis.Amount {
	if a.Growth == nil {
		return analysis.Amount{}
	}
	return a.GrowthBeforeExit()
}

func heldOf(a *analysis.Amounts) analysis.Amount {
	held, _ := a.HeldBeforeExit()
	return held
}

// lifetimesOf are those of amounts, zero where there are none.
func lifetimesOf(a *analysis.Amounts) *analysis.Lifetimes {
	if a.Lifetimes == nil {
		return &noLifetimes
	}
	return a.Lifetimes
}

var noLifetimes analysis.Lifetimes

func valueOf(a *analysis.Amount) analysis.Amount {
	if a == nil {
		return analysis.Amount{}
	}
	return *a
}

// Metric returns the metric with a name; "" is growth, or what is held where the evidence shows no growth. Its error is
// an *analysis.Error.
func (x *Index) Metric(name string) (Metric, error) {
	compares := x.compares
	switch {
	case name == "" && !compares:
		name = "held"
	case name == "":
		name = "growth"
	case name == "growth" && !compares:
		return Metric{}, badSelection("metric: one instant shows no growth; ask for metric=held")
	case (name == "allocated" || name == "transient") && x.report.Trace == nil:
		return Metric{}, badSelection("metric: snapshots do not tell what was %s; ask for metric=held or growth", name)
	}
	i := slices.IndexFunc(Metrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return Metric{}, badSelection("metric: %q is none of growth, held, allocated and transient", name)
	}
	return Metrics[i], nil
}

// Totals are the sums over a selection.
type Totals struct {
	Numbers
	Sites      int              `json:"sites"`               // how many
	Signatures int              `json:"signatures"`          // how many
	Window     *analysis.Window `json:"window,omitempty"`    // of a trace; nil for snapshots
	Snapshots  *Snapshots       `json:"snapshots,omitempty"` // the selected part of a series; nil for all of it
	Classes    []ClassGroup     `json:"classes"`             // most bytes held first
	Judged     string           `json:"judged"`              // as Result.JudgedScope
}

// A ClassGroup sums the sites of one class; Signatures is how many signatures they have.
type ClassGroup struct {
	Group
	Signatures int `json:"signatures"`
}

// Totals adds up the selection.
func (r *Result) Totals() *Totals {
	t := &Totals{Sites: len(r.Sites), Window: r.Window, Snapshots: r.Snapshots, Classes: r.classes(),
		Judged: r.JudgedScope()}
	for i := range r.Sites {
		t.add(&r.Sites[i].Amounts)
	}
	for i := range t.Classes { // all sites of a signature are of one class
		t.Signatures += t.Classes[i].Signatures
	}
	return t
}

// classes are the classes of the selection, most bytes held first.
func (r *Result) classes() []ClassGroup {
	var list []ClassGroup
	seen := make([]bool, len(r.index.places))
	for i := range r.Sites {
		s := &r.Sites[i]
		at := slices.IndexFunc(list, func(g ClassGroup) bool { return g.Name == string(s.Class) }) // of a handful
		if at < 0 {
			at = len(list)
			list = append(list, ClassGroup{Group: Group{Name: string(s.Class)}})
		}
		g := &list[at]
		g.Sites++
		g.add(&s.Amounts)
		if n := r.index.numbers[s.Ordinal]; !seen[n] {
			seen[n] = true
			g.Signatures++
		}
	}
	slices.SortFunc(list, func(a, b ClassGroup) int { return compareGroups(&a.Group, &b.Group, Metrics[1]) })
	return list
}

// site is what the report says of a site of the result.
func (r *Result) site(i int) *analysis.Site { return &r.index.report.Sites[r.Sites[i].Ordinal] }
