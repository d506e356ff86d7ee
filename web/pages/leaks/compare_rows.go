package leaks

import (
	"heapdrift/internal/analysis/compare"
	"heapdrift/web/pages/ui"
)

// A changeGroup is one table of a comparison.
type changeGroup struct {
	change compare.Change
	name   string // as a heading
	word   string // as a count
	note   string
}

// changeGroups are the tables of a comparison in their order.
var changeGroups = []changeGroup{
	{compare.New, "New", "new", "leaks or grows in the head, and the base was clean or did not have it"},
	{compare.Grown, "Worse", "worse", "grows faster than in the base, beyond chance"},
	{compare.Shrunk, "Better", "better", "grows slower than in the base, beyond chance"},
	{compare.Clean, "Clean here", "clean here", "leaked in the base and is clean in the head; another scenario, or a newer build, says that it is not fixed"},
	{compare.Fixed, "Fixed", "fixed", "leaked in the base; the head exercised it and is clean, or ran its callers and holds none of it"},
	{compare.Persisting, "Same", "same", "leaks or grows on both sides, with no difference beyond chance"},
	{compare.NotExercised, "Not exercised", "not exercised", "nothing says that the head would have shown it: neither fixed nor persisting"},
}

// rowsOf are the rows of a change.
func rowsOf(c *compare.Comparison, change compare.Change) []compare.Row {
	var rows []compare.Row
	for _, r := range c.Rows {
		if r.Change == change {
			rows = append(rows, r)
		}
	}
	return rows
}

// anySide is the head's finding, else the base's.
func anySide(r compare.Row) *compare.Finding {
	if r.Head != nil {
		return r.Head
	}
	return r.Base
}

// sideRate is how fast a finding grows: per unit where there is one, else what it grew at all.
func sideRate(f *compare.Finding) ui.Change {
	switch {
	case f == nil:
		return ui.Change{Class: "muted", Text: "–", Exact: "not seen on this side"}
	case f.RateUnit != "":
		return ui.RateChange(f.RateBytes, f.RateUnit)
	case f.Growth != nil:
		return ui.BytesChange(&f.Growth.Bytes)
	}
	return ui.NoChange("no growth to speak of")
}

// difference is the head's growth less the base's, as far as the two are in one unit. What one side does not have did not
// grow there.
func difference(r compare.Row) ui.Change {
	unit, base, head := "", 0.0, 0.0
	switch {
	case r.Change == compare.NotExercised:
		return ui.Change{Class: "muted", Text: "–", Exact: "nothing to compare with"}
	case r.Base != nil && r.Head != nil && r.Base.RateUnit != r.Head.RateUnit && r.Base.RateUnit != "" && r.Head.RateUnit != "":
		return ui.NoChange("the sides count by different units")
	}
	if r.Base != nil && r.Base.RateUnit != "" {
		unit, base = r.Base.RateUnit, r.Base.RateBytes
	}
	if r.Head != nil && r.Head.RateUnit != "" {
		unit, head = r.Head.RateUnit, r.Head.RateBytes
	}
	if unit != "" {
		return ui.RateChange(head-base, unit)
	}
	var grown int64
	known := false
	if r.Head != nil && r.Head.Growth != nil {
		grown, known = grown+r.Head.Growth.Bytes, true
	}
	if r.Base != nil && r.Base.Growth != nil {
		grown, known = grown-r.Base.Growth.Bytes, true
	}
	if !known {
		return ui.NoChange("nothing to compare")
	}
	return ui.BytesChange(&grown)
}
