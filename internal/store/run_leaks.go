package store

import (
	"context"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// CountRunLeaks counts what runs found leaking or growing, by the state that it has in the project. Runs without such a
// finding are left out.
func (v View) CountRunLeaks(ctx context.Context, runs []int64) (map[int64]leaks.RunLeaks, error) {
	const leaking = ` and f.class <> '` + string(analysis.ClassGrowing) + `'`
	type row struct {
		Run int64
		leaks.RunLeaks
	}
	rows, err := db.All[row](ctx, db.Q(v), `
		select f.run_id as run, count(*) filter (where `+shownState+openStates+leaking+`) as open,
			count(*) filter (where `+shownState+` = 'new' and s.first_bad_id = r.build_id`+leaking+`) as new,
			count(*) filter (where `+shownState+` = 'known') as known
		from findings f join runs r on r.id = f.run_id join signatures own on own.id = f.signature_id join signatures s on s.id = own.root_id
		where f.run_id = any($1) and f.class`+suspect+` group by 1`, runs)
	counts := make(map[int64]leaks.RunLeaks, len(rows))
	for _, r := range rows {
		counts[r.Run] = r.RunLeaks
	}
	return counts, db.Wrap("leaks of runs", err)
}
