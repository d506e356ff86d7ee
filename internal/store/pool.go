package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

// A pooledRun is a run that can be judged together with others of its scenario.
type pooledRun struct {
	leaks.PoolRun
	ScenarioID int64
}

// poolRuns lists the runs r that can be judged together of which a condition holds, those of one scenario together and
// as leaks.PoolRuns wants them.
func poolRuns(ctx context.Context, tx pgx.Tx, which string, arg int64) ([]pooledRun, error) {
	return all[pooledRun](ctx, tx, `
		select r.id as run, b.name as build, b.place, r.scenario_id from runs r join builds b on b.id = r.build_id
		where `+which+` and r.suffices and r.analysed_at is not null order by r.scenario_id, `+oldestFirst+`, r.name collate "C"`, arg)
}

// poolAround judges anew what the runs say together whose judgement may rest on a run, after its result changed, and
// returns the leaks of which a judgement did. Whoever calls it holds the lock of the project's signatures.
func poolAround(ctx context.Context, tx pgx.Tx, run int64) ([]int64, error) {
	list, err := poolRuns(ctx, tx, `r.scenario_id = (select scenario_id from runs where id = $1)`, run)
	if err != nil {
		return nil, err
	}
	place, err := value[[]byte](ctx, tx,
		`select b.place from runs r join builds b on b.id = r.build_id where r.id = $1`, run)
	if err != nil {
		return nil, err
	}
	runs := runsOf(list)
	from, to := runs.Around(place)
	first, _ := runs.Window(place)
	p := poolers{tx: tx, runs: runs[first:to], targets: runs[from:to]}
	return p.judge(ctx, nil)
}

// poolAll judges anew what all runs of a project say together of some leaks; nil for all. It returns those of which a
// judgement changed. Whoever calls it holds the lock of the project's signatures.
func poolAll(ctx context.Context, tx pgx.Tx, project int64, roots []int64) ([]int64, error) {
	if roots != nil && len(roots) == 0 {
		return nil, nil
	}
	list, err := poolRuns(ctx, tx, `b.project_id = $1`, project)
	if err != nil {
		return nil, err
	}
	var changed []int64
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].ScenarioID == list[0].ScenarioID {
			n++
		}
		runs := runsOf(list[:n])
		p := poolers{tx: tx, runs: runs, targets: runs}
		here, err := p.judge(ctx, roots)
		if err != nil {
			return nil, err
		}
		changed, list = append(changed, here...), list[n:]
	}
	slices.Sort(changed)
	return slices.Compact(changed), nil
}

func runsOf(list []pooledRun) leaks.PoolRuns {
	runs := make(leaks.PoolRuns, len(list))
	for i := range list {
		runs[i] = list[i].PoolRun
	}
	return runs
}

// poolers judge runs of one scenario together.
type poolers struct {
	tx      pgx.Tx
	runs    leaks.PoolRuns // that are read: the windows of those that are judged
	targets leaks.PoolRuns // of them, those that are judged
	ids     []int64        // of runs
	judged  map[int64]bool // by run: it is a target
}

// leaksAtOnce is how many leaks are read at once: all runs of a project have as many findings as memory should not
// hold.
const leaksAtOnce = 1000

// judge judges leaks, or all for nil, and returns those of which a judgement changed.
func (p *poolers) judge(ctx context.Context, roots []int64) ([]int64, error) {
	p.judged = make(map[int64]bool, len(p.targets))
	targets := make([]int64, len(p.targets))
	for i, r := range p.targets {
		p.judged[r.Run], targets[i] = true, r.Run
	}
	for _, r := range p.runs {
		p.ids = append(p.ids, r.Run)
	}
	// A signature that leans to a leak in none of the runs needs no judgement: nearly all are of this kind.
	list, err := values[int64](ctx, p.tx, `
		select distinct own.root_id from findings f join signatures own on own.id = f.signature_id
		where f.run_id = any($1) and (f.pooled is not null or f.evidence is not null and (f.class`+suspect+` or (f.evidence->>'log_odds')::double precision >= 0))
			and ($2::bigint[] is null or own.root_id = any($2)) order by 1`, targets, roots)
	if err != nil {
		return nil, err
	}
	var changes poolChanges
	for chunk := range slices.Chunk(list, leaksAtOnce) {
		if err := p.judgeSome(ctx, chunk, &changes); err != nil {
			return nil, err
		}
	}
	if err := changes.save(ctx, p.tx); err != nil {
		return nil, err
	}
	return changes.roots, lookFor(ctx, p.tx, changes.convicted)
}

// A poolRow is a finding of a leak in a run.
type poolRow struct {
	RootID, RunID, SignatureID int64
	leaks.Rating               // as it is stored
	Own                        *leaks.Rating
	Evidence                   *score.Evidence
	Rate                       *score.Rate
	Pooled                     *leaks.PooledRating
}

// alone is the rating of the finding by its run alone.
func (r *poolRow) alone() *leaks.RunRating {
	s := &leaks.RunRating{Rating: r.Rating, Evidence: r.Evidence, Rate: r.Rate}
	if r.Own != nil {
		s.Rating = *r.Own
	}
	return s
}

// judgeSome judges leaks.
func (p *poolers) judgeSome(ctx context.Context, roots []int64, changes *poolChanges) error {
	rows, err := all[poolRow](ctx, p.tx, `
		select own.root_id, f.run_id, f.signature_id, f.class, f.score, f.certain, f.own, f.evidence, f.rate, f.pooled
		from signatures own join findings f on f.signature_id = own.id
		where own.root_id = any($1) and f.run_id = any($2) order by own.root_id, f.run_id, f.signature_id`, roots, p.ids)
	if err != nil {
		return err
	}
	absent, err := p.absences(ctx, roots)
	if err != nil {
		return err
	}
	fixed, err := p.fixes(ctx, roots)
	if err != nil {
		return err
	}
	at := make(map[int64]int, len(p.runs))
	for i, r := range p.runs {
		at[r.Run] = i
	}
	for len(rows) > 0 {
		n, root := 1, rows[0].RootID
		for n < len(rows) && rows[n].RootID == root {
			n++
		}
		pool := leaks.Pool{Runs: p.runs, Shown: make([]*leaks.RunRating, len(p.runs)), Absent: absent[root],
			Fixed: fixed[root], Judge: score.Pool}
		for i := range rows[:n] {
			here := &pool.Shown[at[rows[i].RunID]]
			if *here == nil {
				*here = rows[i].alone()
			} else {
				*here = leaks.Speaker(*here, rows[i].alone())
			}
		}
		for i := range rows[:n] {
			if r := &rows[i]; p.judged[r.RunID] {
				judged, pooled := pool.Of(at[r.RunID], r.alone())
				changes.take(r, judged, pooled)
			}
		}
		rows = rows[n:]
	}
	return nil
}

// absences are the builds of which no run shows leaks though their callers ran, by leak.
func (p *poolers) absences(ctx context.Context, roots []int64) (map[int64]map[string]bool, error) {
	type row struct {
		SignatureID int64
		Build       string
	}
	rows, err := all[row](ctx, p.tx, `
		with there as (select a.signature_id, r.id, r.build_id`+unshown+`)
		select distinct there.signature_id, b.name as build from there join builds b on b.id = there.build_id where there.id = any($2)`, roots, p.ids)
	absent := map[int64]map[string]bool{}
	for _, r := range rows {
		if absent[r.SignatureID] == nil {
			absent[r.SignatureID] = map[string]bool{}
		}
		absent[r.SignatureID][r.Build] = true
	}
	return absent, err
}

// fixes are the builds that have the fixes of leaks by the team's word.
func (p *poolers) fixes(ctx context.Context, roots []int64) (map[int64]leaks.Place, error) {
	type row struct {
		ID    int64
		Place []byte
	}
	rows, err := all[row](ctx, p.tx, `
		select s.id, b.place from signatures s join builds b on b.id = s.fixed_id where s.id = any($1) and s.mark = $2`, roots, leaks.MarkFixed)
	fixed := make(map[int64]leaks.Place, len(rows))
	for _, r := range rows {
		fixed[r.ID] = r.Place
	}
	return fixed, err
}
