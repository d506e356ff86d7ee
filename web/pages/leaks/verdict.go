package leaks

import (
	"slices"
	"strconv"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/leaks"
	"heapdrift/web/pages/ui"
)

// A leakWord is how a page says in a word how a leak stands, and how it draws that.
type leakWord struct{ word, class string }

// word is how the leak stands.
func (v signatureView) word() leakWord {
	switch {
	case v.NotLeak:
		return leakWord{"No leak", "empty"}
	case v.State == leaks.StateKnown:
		return leakWord{"Tolerated", "empty"}
	case v.State == leaks.StateFixed:
		return leakWord{"Fixed", "no-leak"}
	case v.Latest.Class.IsLeak():
		return leakWord{"Leaking", "leak"}
	case v.Latest.Class.IsSuspect():
		return leakWord{"Growing", "inconclusive"}
	case slices.Contains(leaks.OpenStates, v.State):
		return leakWord{"Open", "inconclusive"}
	}
	return leakWord{"Quiet", "empty"}
}

// does says in a verb what the memory does: it leaks, grows or only holds blocks.
func (v signatureView) does() string {
	switch {
	case v.Latest.Class.IsLeak():
		return "leaks"
	case v.Latest.Class.IsSuspect():
		return "grows"
	}
	return "holds"
}

// amount is how fast it grows, or what it holds where it does not.
func (v signatureView) amount() ui.GrowthText {
	if growth := ui.FigureGrowthText(&v.Latest); v.Latest.Class.IsSuspect() && growth.IsKnown() {
		return growth
	}
	held := v.Latest.Outstanding
	return ui.GrowthText{Class: "flat", Text: quantity.Bytes(held.Bytes), Exact: ui.ExactBytes(held.Bytes) + " in " +
		quantity.Plural(held.Count, "block")}
}

// blockSize is how large its blocks are; "" where nothing is held.
func (v signatureView) blockSize() string {
	held := v.Latest.Outstanding
	switch {
	case held.Count <= 0:
		return ""
	case held.Count == 1:
		return "one block"
	}
	size := "blocks of " + quantity.Bytes(held.Bytes/held.Count)
	if held.Bytes%held.Count != 0 {
		size += " on average"
	}
	return size
}

// where ends the sentence: where that was measured, what the blocks are, and since when it is so.
func (v signatureView) where() string {
	text := "and its runs were deleted"
	if v.Measured != "" {
		text = "in " + v.Measured + ", build " + v.LastSeen
	}
	if size := v.blockSize(); size != "" {
		text += ": " + size
		if place := ui.BlamePlace(v.Blame); place != "" {
			text += " from " + place
		}
	}
	if v.FirstBad != "" {
		text += "; first seen in " + v.FirstBad
	}
	return text + "."
}

// badIn says in how many of the scenarios that show it the leak is open; "" for none.
func (v signatureView) badIn() string {
	n := 0
	for i := range v.States {
		if v.States[i].IsOpen() {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return "open in " + strconv.Itoa(n) + " of " + quantity.Plural(len(v.history.Scenarios), "scenario")
}
