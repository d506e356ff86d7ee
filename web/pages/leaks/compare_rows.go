package leaks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
	"heapdrift/web/pages/ui"
)

// A changeGroup is a group of rows of a comparison with one kind of change.
type changeGroup struct {
	change compare.Change
	word   string
	note   string
}

// changeGroups are the groups of a comparison in their order.
var changeGroups = []changeGroup{
	{compare.ChangeNew, "new", "leaks or grows in the head; clean or absent in the base"},
	{compare.ChangeGrown, "worse", "grows faster than in the base, beyond chance"},
	{compare.ChangeShrunk, "better", "grows slower than in the base, beyond chance"},
	{compare.ChangeClean, "clean here",
		"leaked in the base, clean in the head; not fixed by another scenario or a newer build"},
	{compare.ChangeFixed, "fixed",
		"leaked in the base; the head ran its callers and is clean"},
	{compare.ChangePersisting, "same", "leaks or grows in both builds, without a difference beyond chance"},
	{compare.ChangeNotExercised, "not exercised",
		"not exercised by the head: it may be fixed or not"},
}

// groupOf is the group of a change.
func groupOf(change compare.Change) changeGroup {
	return changeGroups[slices.IndexFunc(changeGroups, func(g changeGroup) bool { return g.change == change })]
}

// groupNamed is the group that an address asks for; "" for all of them where it names none.
func groupNamed(name string) compare.Change {
	if slices.ContainsFunc(changeGroups, func(g changeGroup) bool { return string(g.change) == name }) {
		return compare.Change(name)
	}
	return ""
}

// matching are the rows of a group, "" for all, whose title has a text, in the order of the groups.
func matching(c *compare.Comparison, group compare.Change, text string) []compare.Row {
	var rows []compare.Row
	text = strings.ToLower(text)
	for _, g := range changeGroups {
		if group != "" && group != g.change {
			continue
		}
		for _, r := range rowsOf(c, g.change) {
			if strings.Contains(strings.ToLower(r.HeadOrBase().Title), text) {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// fields are what the address of the comparison says, with another group.
func (v *compareView) fields(group compare.Change) []ui.Field {
	var list []ui.Field
	for _, f := range []ui.Field{{Name: "scenario", Value: v.scenario}, {Name: "base", Value: v.chosenBase},
		{Name: "head", Value: v.chosenHead}, {Name: "group", Value: string(group)}, {Name: "q", Value: v.filter}} {
		if f.Value != "" {
			list = append(list, f)
		}
	}
	return list
}

func (v *compareView) groupURL(group compare.Change) templ.SafeURL {
	return ui.WithFields(ui.CompareURL(v.project, "", "", ""), v.fields(group)) + "#changes"
}

// allURL is the comparison without filters.
func (v *compareView) allURL() templ.SafeURL { return v.moduleURL("") }

// moduleURL is the comparison with what a module is to blame for.
func (v *compareView) moduleURL(module string) templ.SafeURL {
	all := *v
	all.filter = module
	return all.groupURL("")
}

// A moduleChange is what leaks or grows in one module holds on each side.
type moduleChange struct {
	name       string
	base, head int64
}

func (m moduleChange) change() ui.GrowthText {
	grown := m.head - m.base
	return ui.BytesGrowthText(&grown)
}

// modulesOf adds up what leaks or grows on each side by the module to blame, those that changed most first. What a side
// holds does not depend on what it is compared with.
func modulesOf(base, head *compare.BuildResult) []moduleChange {
	at := map[string]int{}
	var list []moduleChange
	add := func(side *compare.BuildResult, held func(*moduleChange) *int64) {
		for i := range side.Findings {
			f := &side.Findings[i]
			name := f.Module()
			if name == "" || !f.Class.IsSuspect() {
				continue
			}
			k, known := at[name]
			if !known {
				k, at[name] = len(list), len(list)
				list = append(list, moduleChange{name: name})
			}
			*held(&list[k]) += f.Outstanding.Bytes
		}
	}
	add(base, func(m *moduleChange) *int64 { return &m.base })
	add(head, func(m *moduleChange) *int64 { return &m.head })
	slices.SortStableFunc(list, func(a, b moduleChange) int { return cmp.Compare(abs(b.head-b.base), abs(a.head-a.base)) })
	return list
}

func abs(n int64) int64 { return max(n, -n) }

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

// standingOf is how the leak of a row stands in the head; "" where the group of the row says it all.
func standingOf(v *compareView, r compare.Row) leaks.Standing {
	f := r.HeadOrBase()
	if leaks.State(f.State) == leaks.StateFixed {
		if r.Head != nil && r.Head.Class.IsSuspect() { // it is fixed in neither of these builds
			return ""
		}
		return leaks.Standing(leaks.StateFixed)
	}
	if r.Head == nil && leaks.State(f.State) != leaks.StateKnown {
		return ""
	}
	return leaks.State(f.State).StandingInRun(leaks.BuildView{Build: v.head.Build, FirstBad: f.FirstBad}, f.Class)
}

// rateOfFinding is how fast a finding grows: per unit where there is one, else what it grew at all.
func rateOfFinding(f *compare.Finding) ui.GrowthText {
	switch {
	case f == nil:
		return ui.GrowthText{Class: "muted", Text: "–", Exact: "not seen in this build"}
	case f.RateUnit != "":
		return ui.StatedGrowthText(*f.StateRate())
	case f.Growth != nil:
		return ui.BytesGrowthText(&f.Growth.Bytes)
	}
	return ui.UnknownGrowthText("no measurable growth")
}

// difference is the head's growth less the base's, as far as the two are in one unit. A leak that one side does not
// have counts there as growth of zero.
func difference(r compare.Row) ui.GrowthText {
	switch {
	case r.Change == compare.ChangeNotExercised:
		return ui.GrowthText{Class: "muted", Text: "–", Exact: "nothing to compare with"}
	case r.Base != nil && r.Head != nil && r.Base.RateUnit != r.Head.RateUnit &&
		r.Base.RateUnit != "" && r.Head.RateUnit != "":
		return ui.UnknownGrowthText("the builds count different units of work")
	}
	base, head := r.Base.StateRate(), r.Head.StateRate()
	switch {
	case base != nil && head != nil:
		if !score.AreAlike(base, head) {
			return ui.UnknownGrowthText("the runs differ in length: their growth does not compare")
		}
		head.Bytes -= base.Bytes
		return ui.StatedGrowthText(*head)
	case head != nil:
		return ui.StatedGrowthText(*head)
	case base != nil:
		base.Bytes = -base.Bytes
		return ui.StatedGrowthText(*base)
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
		return ui.UnknownGrowthText("nothing to compare")
	}
	return ui.BytesGrowthText(&grown)
}
