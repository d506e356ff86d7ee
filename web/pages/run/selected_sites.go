package run

import (
	"context"
	"slices"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

// selectedSites reads a page of the sites that a selection has anything of, sorted by what they have in it. The
// database knows neither parts of a series nor single allocations.
func (r *reader) selectedSites(ctx context.Context, t *siteTable) error {
	result, err := r.asked.index.Ask(ctx, t.selection(), r.asked.table)
	if err != nil {
		return err
	}
	sites, chosen, at := make([]analysis.WindowSite, len(result.Sites)), make([]int32, len(result.Sites)), map[int]int{}
	for i := range result.Sites {
		s := &result.Sites[i]
		sites[i] = analysis.WindowSite{SiteRows: analysis.SiteRows{Ordinal: s.Ordinal},
			Amounts: s.Amounts, Verdict: s.Class}
		chosen[i], at[s.Ordinal] = int32(i), i
	}
	if err := r.pageOfSites(ctx, t, sites, chosen); err != nil {
		return err
	}
	t.selected, t.stored = true, slices.Clone(t.rows)
	t.judgedAlone, t.part = result.JudgesSelection(), result.Snapshots
	for i := range t.rows {
		row := &t.rows[i]
		s := &sites[at[row.Ordinal]]
		takeAmounts(row, s.Amounts)
		if result.JudgesSelection() {
			row.Verdict = string(s.Verdict)
		}
	}
	return nil
}

// takeAmounts gives a site the numbers of a selection.
func takeAmounts(row *store.SiteRow, a analysis.Amounts) {
	row.Count, row.Bytes, row.Life, row.GrowthCount, row.GrowthBytes = a.Outstanding.Count, a.Outstanding.Bytes,
		a.Lifetimes, nil, nil
	if a.Growth != nil {
		row.GrowthCount, row.GrowthBytes = &a.Growth.Count, &a.Growth.Bytes
	}
}
