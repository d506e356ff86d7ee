package year

import (
	"context"

	"heapdrift/internal/store"
)

// keptNames holds the names and the owners that reports have at the end against those that their own build's symbols
// gave them.
func (p *player) keptNames(ctx context.Context) error {
	for run, e := range p.named {
		findings, err := store.Read(ctx, p.store, func(v store.View) ([]store.Finding, error) {
			page, _, err := v.ListFindings(ctx, store.FindingQuery{RunID: run, All: true, Limit: len(e.report.Findings)})
			return page, err
		})
		if err != nil {
			return err
		}
		there := map[string]*store.Finding{}
		for i := range findings {
			there[findings[i].Own] = &findings[i]
		}
		for i := range e.report.Findings {
			f := &e.report.Findings[i]
			now := there[f.Signature]
			right := now != nil && now.Title == f.Title && now.Owner == f.Owner && !now.Provisional
			p.tally.Names.add(right)
			if !right {
				p.bad = true
				p.note("    NAME LOST: %s of %s in run %d: %+v", f.Title, f.Owner, run, now)
			}
		}
	}
	return nil
}
