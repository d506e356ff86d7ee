package ui

import (
	"github.com/a-h/templ"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
)

// KindTable lists the kinds of evidence that show a leak, with what each says; nothing for an empty list. The first is
// the report's own; certain says that every clause of the rule is met in it.
func KindTable(list []analysis.KindResult, certain bool) templ.Component {
	if len(list) == 0 {
		return templ.NopComponent
	}
	t := NewTable("Kinds of evidence", "tight", Col("Seen in"), Col("Class"), Col("Score"), NumCol("Held"),
		NumCol("Growth"))
	for i, w := range list {
		held, ended := w.HeldBeforeExit()
		size, grew := HeldCell(held.Bytes, held.Count), BytesGrowthText(GrowthBytes(w.Amounts))
		if ended {
			size = NumCell(quantity.Bytes(held.Bytes) + " before exit").Titled(size.title + " before exit")
			grew = BytesGrowthText(new(w.GrowthBeforeExit().Bytes))
		}
		t.Row(TextCell("", w.Kind), PartCell("", ClassChip(string(w.Verdict))),
			PartCell("", ScoreCell(w.Score, i == 0 && certain)), size, GrowthCell(grew.Of(w.Verdict)))
	}
	return t
}
