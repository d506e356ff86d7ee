package run

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// shownChoices is how many entries a menu of modules or heaps has at most: the largest.
const shownChoices = 50

// kept reports whether a form of filters sends a choice along that it has no field for.
func kept(name string) bool {
	return slices.Contains([]string{"view", "metric", "fn", "signature", "thread", "size", "age", "since", "until"}, name)
}

// extent says what the selection adds up to.
func (c *viewCard) extent() string {
	if c.totals == nil {
		return ""
	}
	t := c.totals
	text := fmt.Sprintf("%s in %s", quantity.Bytes(t.Held.Bytes), quantity.Plural(t.Held.Count, "block"))
	if t.Ended || c.window.beforeExit() {
		text += " before exit"
	}
	if t.Growth != nil {
		text += ", grew by " + signedBytes(t.Growth.Bytes)
	}
	return text + ", " + quantity.Plural(t.Signatures, "signature")
}

func signedBytes(n int64) string {
	if n > 0 {
		return "+" + quantity.Bytes(n)
	}
	return quantity.Bytes(n)
}

// classes are those that the selection has, and the one that it is filtered by.
func (c *viewCard) classes() []query.ClassGroup {
	if c.totals == nil {
		return nil
	}
	list := slices.Clone(c.totals.Classes)
	slices.SortStableFunc(list, func(a, b query.ClassGroup) int {
		return analysis.Class(b.Name).Gravity() - analysis.Class(a.Name).Gravity()
	})
	if c.class != "" && len(list) == 0 {
		list = append(list, query.ClassGroup{Group: query.Group{Name: c.class}})
	}
	return list
}

// nameless is what a group without a name is.
func (c *viewCard) nameless() string {
	if c.view == viewHeaps {
		return "virtual memory or an unknown heap"
	}
	return "no module"
}

// The listings that the views lead to: the signatures of what is pointed at.

func (c *viewCard) within(name string) listing {
	l := c.in(viewRanked)
	switch c.view {
	case viewHeaps:
		l.heap = name
	case viewCalls:
		l = c.in(viewCalls)
		l.more.Function = name
	default:
		l.more.Module = name
	}
	return l
}

func (c *viewCard) sized(s query.SizeClass) listing {
	l := c.in(viewRanked)
	l.more.Size = query.Range{From: uint64(s.From), To: uint64(s.To)}
	return l
}

func (c *viewCard) ofSignature(signature string) listing {
	l := c.in(viewRanked)
	l.opened = signature
	return l
}

func (c *viewCard) ofThread(thread uint32) listing {
	l := c.fresh()
	l.more.Thread = &thread
	return l
}

// sizeClass is a class of sizes in words.
func sizeClass(s query.SizeClass) string {
	if s.To == 0 {
		return "0 B"
	}
	if s.From == s.To {
		return ui.ExactBytes(s.From)
	}
	return powerOfTwo(s.From) + " to below " + powerOfTwo(s.To+1)
}

// powerOfTwo is a size without digits that are 0.
func powerOfTwo(n int64) string {
	number, unit, _ := strings.Cut(quantity.Bytes(n), " ")
	number, _, _ = strings.Cut(number, ".")
	return number + " " + unit
}

// share is which part of all held bytes a class has, in thousandths.
func (c *viewCard) share(s query.SizeClass) int64 {
	all := int64(0)
	for _, class := range c.sizes.Classes {
		all += class.Bytes
	}
	if all <= 0 {
		return 0
	}
	return int64(float64(s.Bytes) / float64(all) * 1000)
}

// listExtent says which of how many allocations are listed.
func (c *viewCard) listExtent() string {
	all := c.list.LeftOut + int64(len(c.list.List))
	what := "in the window"
	if c.view == viewBlocks {
		what = "held at the window’s end"
	}
	if c.list.LeftOut > 0 {
		return fmt.Sprintf("The %s largest of %s %s, %s in total.", quantity.Count(int64(len(c.list.List))),
			quantity.Plural(all, "allocation"), what, quantity.Bytes(c.list.Numbers.Bytes))
	}
	return fmt.Sprintf("%s %s, %s in total.", quantity.Plural(all, "allocation"), what,
		quantity.Bytes(c.list.Numbers.Bytes))
}

// traceTime is a time of the trace, to the microsecond.
func traceTime(ns *int64, otherwise string) string {
	if ns == nil {
		return otherwise
	}
	return fmt.Sprintf("%.6f s", float64(*ns)/1e9)
}

func memoryOfAllocation(a *query.Allocation) string {
	short, _ := memoryOf(store.SiteRow{Kind: a.Kind, Heap: a.Heap})
	return short
}

// A takeaway is a form in which the selection can be saved.
type takeaway struct{ text, title, to string }

// exports are the forms of the selection and of the view.
func (c *viewCard) exports() []takeaway {
	view := c.view
	switch {
	case view == viewFlame:
		view = "tree"
	case view == viewCalls && c.more.Function == "":
		view = "functions"
	case view == viewCalls:
		view = "butterfly"
	}
	list := []takeaway{{"json", "this view", c.apiURL(view, "json")}}
	if view != "tree" {
		list = append(list, takeaway{"csv", "this view, all rows", c.apiURL(view, "csv")})
	}
	for _, f := range []string{"folded", "pprof", "speedscope", "umdh-text"} {
		list = append(list, takeaway{f, downloadNotes[f], c.apiURL("ranked", f)})
	}
	if c.trace != nil {
		list = append(list, takeaway{"parquet", "allocations, with the columns of the allocation table",
			c.apiURL("ranked", "parquet")})
	}
	return list
}

// metrics are what an icicle can be as wide as.
func (c *viewCard) metrics() []query.Metric {
	if c.trace != nil {
		return query.Metrics
	}
	if len(c.report.Snapshots) > 1 {
		return query.Metrics[:2]
	}
	return query.Metrics[1:2]
}

// metricShown is the metric of the listing, or the usual one.
func (c *viewCard) metricShown() string {
	if c.metric == "" {
		return c.metrics()[0].Name
	}
	return c.metric
}
