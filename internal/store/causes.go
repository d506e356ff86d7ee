package store

import (
	"context"
	"encoding/json"
	"fmt"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// ListCauses lists the causes that several findings of a run share, by the signatures of the project. A report of an
// older version has none.
func (v View) ListCauses(ctx context.Context, run int64) ([]leaks.LostTogether, error) {
	return v.causesOf(ctx, []int64{run})
}

// causesOf are the causes of several runs of one project.
func (v View) causesOf(ctx context.Context, runs []int64) ([]leaks.LostTogether, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	texts, err := db.Values[[]byte](ctx, db.Q(v), `select coalesce(summary->'causes', '[]') from runs where id = any($1) order by id`, runs)
	if err != nil {
		return nil, db.Wrap("causes", err)
	}
	var stored []analysis.LostTogether
	for _, text := range texts {
		var ofRun []analysis.LostTogether
		if err := json.Unmarshal(text, &ofRun); err != nil {
			return nil, fmt.Errorf("store: causes of runs %d: %w", runs, err)
		}
		stored = append(stored, ofRun...)
	}
	var own []string
	for i := range stored {
		for _, m := range stored[i].Members {
			own = append(own, m.Signature)
		}
	}
	if len(own) == 0 {
		return nil, nil
	}
	names, err := v.rootNames(ctx, runs[0], own)
	if err != nil {
		return nil, err
	}
	list := make([]leaks.LostTogether, len(stored))
	for i := range stored {
		list[i].Title, list[i].Ratio = stored[i].Title, stored[i].Ratio
		for _, m := range stored[i].Members {
			if name := names[m.Signature]; name != "" {
				list[i].Signatures = append(list[i].Signatures, name)
			}
		}
	}
	return list, nil
}

// rootNames are the signatures that the project of a run knows those of its report by.
func (v View) rootNames(ctx context.Context, run int64, own []string) (map[string]string, error) {
	type row struct{ Own, Name string }
	rows, err := db.All[row](ctx, db.Q(v), `
		select s.text as own, root.text as name from signatures s join signatures root on root.id = s.root_id
		where s.text = any($2) and s.project_id = (select b.project_id from runs r join builds b on b.id = r.build_id where r.id = $1)`, run, own)
	names := make(map[string]string, len(rows))
	for _, r := range rows {
		names[r.Own] = r.Name
	}
	return names, db.Wrap("signatures of causes", err)
}
