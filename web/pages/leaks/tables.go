package leaks

import (
	"strconv"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/leaks"
	"heapdrift/web/pages/ui"
)

// statesTable is how a leak stands in each scenario.
func statesTable(v signatureView) *ui.Table {
	t := ui.NewTable("States by scenario", "tight", ui.Col("Scenario"), ui.Col("State"), ui.Col("Last leaked in"),
		ui.NumCol("Growth then"), ui.Col("Newest build"), ui.NumCol("Growth now"), ui.Col("Reason"))
	for _, s := range v.States {
		t.Row(ui.TextCell("", s.Scenario), ui.PartCell("", ui.StateCell(v.standingInScenario(&s))), ui.TextCell("", s.LastBad),
			ui.PartCell("num", figureGrowth(s.Bad)), ui.TextCell("", s.NowBuild), ui.PartCell("num", figureGrowth(s.Now)),
			ui.TextCell("", s.Text(v.FixedIn)))
	}
	return t
}

// turnedTable is the verdicts that a change of rules or policies would change.
func turnedTable(m *leaks.Impact) *ui.Table {
	t := ui.NewTable("", "moved", ui.Col("Run"), ui.Col("Now"), ui.Col("After saving")).
		InBox("").Caption("Changed verdicts")
	for _, r := range m.ChangedRuns {
		t.Row(ui.PartCell("", ui.Link(ui.RunURL(r.RunID), r.Build+", run "+r.Name), ui.Small(r.Scenario)),
			ui.PartCell("", ui.Text(string(r.From)), ui.Small(r.FromWhy)).Titled(r.FromWhy),
			ui.PartCell("", ui.Strong(string(r.To)), ui.Small(r.ToWhy)).Titled(r.ToWhy))
	}
	return t
}

// silencingsTable is the leaks that a change silences, or no longer silences.
func silencingsTable(project, caption string, list []leaks.KnownChange) *ui.Table {
	t := ui.NewTable("", "moved", ui.Col("Leak"), ui.Col("Now"), ui.Col("After saving"), ui.NumCol("Runs")).
		InBox("").Caption(caption)
	for _, s := range list {
		t.Row(ui.PartCell("", ui.LinkAs("mono", ui.SignatureURL(project, s.Signature), s.Title)),
			ui.TextCell("", s.From.Standing()), ui.PartCell("", ui.Strong(s.To.Standing()), ui.Small(s.Why)),
			ui.NumCell(strconv.Itoa(s.Changed)+" of "+strconv.Itoa(s.ChangedOf)))
	}
	return t
}

// linesTable is what each line holds where stacks of a variant differ in nothing else.
func linesTable(s *variants, variant *leaks.CallPath) *ui.Table {
	n := len(variant.Variants)
	t := ui.NewTable("Lines of "+s.nameOf(variant), "tight lines",
		ui.Col(quantity.Plural(n, "call")+" with different lines"), ui.NumCol("Holds"), ui.NumCol("Blocks"),
		ui.NumCol("Growth"))
	for _, l := range variant.Variants[:min(n, variantsShown)] {
		t.Row(ui.TextCell("mono", strings.Join(l.SourceLines, ", ")), ui.BytesCell(l.Held.Bytes), ui.CountCell(l.Held.Count),
			ui.GrowthCell(grewBy(l.Growth)))
	}
	return t
}

// seenTable is the runs that show a variant.
func seenTable(s *variants, variant *leaks.CallPath) *ui.Table {
	t := ui.NewTable("Runs that show "+s.nameOf(variant), "tight", ui.Col("Build"), ui.Col("Run"), ui.NumCol("Holds"),
		ui.NumCol("Blocks"), ui.NumCol("Growth"))
	for _, in := range variant.Seen {
		if r := s.stacks.Run(in.RunID); r != nil {
			t.Row(ui.TextCell("", r.Build), ui.PartCell("", ui.Link(ui.RunURL(r.ID), r.Scenario+", run "+r.Name)),
				ui.BytesCell(in.Held.Bytes), ui.CountCell(in.Held.Count),
				ui.PartCell("num", ui.ShowGrowth(grewBy(in.Growth)), ui.Muted(s.span(in.RunID))))
		}
	}
	return t
}

// movedTable is the stacks that other rules blame elsewhere.
func movedTable(v rulesView) *ui.Table {
	t := ui.NewTable("", "moved", ui.Col("Blamed now"), ui.Col("After saving"), ui.NumCol("Stacks")).InBox("")
	for _, m := range v.preview.Moves {
		t.Row(ui.PartCell("", titledLink(ui.SignatureURL(v.project, m.From.ID), m.From.Title, m.FromBlame),
			ui.Small(ui.LayerText(m.FromOrigin))),
			ui.PartCell("", ui.Mono(m.ToBlame), ui.Small(ui.LayerText(m.ToOrigin))).Titled(m.To.Title),
			ui.NumCell(strconv.Itoa(m.Stacks)))
	}
	return t
}

// modulesTable is what each module holds on both sides of a comparison.
func modulesTable(v compareView, modules []moduleChange) *ui.Table {
	t := ui.NewTable("", "tight", ui.Col("Module"), ui.NumCol(v.base.Build), ui.NumCol(v.head.Build),
		ui.NumCol("Change")).InBox("")
	for _, m := range modules {
		t.Row(ui.PartCell("", ui.LinkAs("mono", v.moduleURL(m.name), m.name)), ui.BytesCell(m.base), ui.BytesCell(m.head),
			ui.GrowthCell(m.change()))
	}
	return t
}

// renamesTable is what vanished and what appeared, where the two may be one leak.
func renamesTable(v compareView) *ui.Table {
	t := ui.NewTable("", "", ui.Col("Gone"), ui.Col("Appeared"), ui.Col("Why"), ui.HiddenCol("Merge")).InBox("")
	for _, r := range v.comparison.Renames {
		t.Row(ui.PartCell("", ui.LinkAs("mono small", ui.SignatureURL(v.project, r.Base), v.titles[r.Base])),
			ui.PartCell("", ui.LinkAs("mono small", ui.SignatureURL(v.project, r.Head), v.titles[r.Head])),
			ui.TextCell("small", r.Why), ui.PartCell("num", mergeForm(v, r.Base, r.Head)))
	}
	return t
}
