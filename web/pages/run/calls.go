package run

import (
	"fmt"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/query"
)

// shownFunctions is how many functions the page lists, those with most of the metric. The CSV of the view has all.
const shownFunctions = 200

// shownGroups are the groups that the page lists.
func (c *viewCard) shownGroups() []query.Group {
	if c.view == viewCalls {
		return c.groups[:min(len(c.groups), shownFunctions)]
	}
	return c.groups
}

// callsExtent says which of how many functions are listed, and what their numbers are.
func (c *viewCard) callsExtent() string {
	list := quantity.Plural(len(c.groups), "function")
	if len(c.groups) > shownFunctions {
		list = fmt.Sprintf("The first %d of %s by %s (all in this view’s CSV)", shownFunctions, list, c.by.Name)
	}
	return list + ". A site counts in each function of its stack."
}

// aroundExtent says what the function has of the selection.
func (c *viewCard) aroundExtent() string {
	f := &c.around.Function
	text := fmt.Sprintf("is in %s: %s held in %s", quantity.Plural(f.Sites, "site"), quantity.Bytes(f.Held.Bytes),
		quantity.Plural(f.Held.Count, "block"))
	if f.Growth != nil {
		text += ", grew by " + signedBytes(f.Growth.Bytes)
	}
	return text + "."
}

// allCalls is the listing of all functions.
func (c *viewCard) allCalls() listing {
	l := c.in(viewCalls)
	l.more.Function = ""
	return l
}

// shareOfCalls is which part of the function's metric comes or goes by another function, in thousandths; ok is false
// where there is nothing to divide, or what shrank.
func (c *viewCard) shareOfCalls(n *query.Numbers) (share int64, ok bool) {
	part, all := c.by.Of(n).Bytes, c.by.Of(&c.around.Function.Numbers).Bytes
	if all <= 0 || part < 0 || part > all {
		return 0, false
	}
	return int64(float64(part) / float64(all) * 1000), true
}
