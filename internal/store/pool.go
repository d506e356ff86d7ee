package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// A pooledRun is a run that can be judged together with others of its scenario.
type pooledRun struct {
	Run, BuildID, ScenarioID int64
	Build, Name              string
	Stretches                []float64
	StretchUnit              string
	Places                   int
	ExitWork                 *analysis.ExitWork
	ExitTools                []string
}

// poolRuns lists the runs r that can be judged together of which a condition holds, those of one scenario together.
func poolRuns(ctx context.Context, tx pgx.Tx, which string, arg int64) ([]pooledRun, error) {
	return db.All[pooledRun](ctx, tx, `
		select r.id as run, r.build_id, r.scenario_id, b.name as build, r.name, r.stretches, r.stretch_unit, r.places, r.exit_work, r.exit_tools
		from runs r join builds b on b.id = r.build_id
		where `+which+` and r.suffices and r.analysed_at is not null order by r.scenario_id, r.name collate "C"`, arg)
}

// along are the runs of one scenario that a line has, as leaks.PoolRuns wants them.
func along(line *leaks.BuildLine, list []pooledRun) leaks.PoolRuns {
	var runs leaks.PoolRuns
	for i := range list {
		r := &list[i]
		if at := line.IndexOf(r.BuildID); at >= 0 {
			runs = append(runs, leaks.PoolRun{RunID: r.Run, Build: r.Build, Rank: leaks.LineRank(at),
				PartLengths: partLengthsOf(r.StretchUnit, r.Stretches), HoldingSites: r.Places,
				ExitWork: r.ExitWork, ExitTools: r.ExitTools})
		}
	}
	slices.SortStableFunc(runs, func(a, b leaks.PoolRun) int { return leaks.CompareRanks(a.Rank, b.Rank) })
	return runs
}

// partLengthsOf are the lengths of the parts of a run as they are stored.
func partLengthsOf(unit string, over []float64) score.PartLengths {
	s := score.PartLengths{Unit: unit}
	copy(s.Over[:], over)
	return s
}

// poolAround judges anew what the runs say together whose judgement may rest on a run, after its result changed, and
// returns the leaks of which a judgement did. Whoever calls it holds the lock of the project's signatures.
func poolAround(ctx context.Context, tx pgx.Tx, run int64) ([]int64, error) {
	type place struct{ ProjectID, BuildID, ScenarioID int64 }
	at, err := db.One[place](ctx, tx, `
		select b.project_id, r.build_id, r.scenario_id from runs r join builds b on b.id = r.build_id where r.id = $1`, run)
	if err != nil {
		return nil, err
	}
	lines, err := readLines(ctx, tx, at.ProjectID)
	if err != nil {
		return nil, err
	}
	list, err := poolRuns(ctx, tx, `r.scenario_id = $1`, at.ScenarioID)
	if err != nil {
		return nil, err
	}
	var changed []int64
	for _, line := range lines.All() {
		build := line.IndexOf(at.BuildID)
		if build < 0 {
			continue
		}
		runs := along(line, list)
		from, to := runs.RangeToJudgeAnew(leaks.LineRank(build))
		first, _ := runs.RangeJudgedTogether(leaks.LineRank(build))
		here, err := poolLine(ctx, tx, line, runs[first:to], runs[from:to], nil)
		if err != nil {
			return nil, err
		}
		changed = append(changed, here...)
	}
	slices.Sort(changed)
	return slices.Compact(changed), nil
}

// poolLine judges leaks, or all for nil, in those of some runs along a line that are of the branch itself: its parent
// line judges the others.
func poolLine(ctx context.Context, tx pgx.Tx, line *leaks.BuildLine, runs, targets leaks.PoolRuns,
	roots []int64) ([]int64, error) {
	own := leaks.LineRank(len(line.BuildIDs) - line.OwnCount)
	targets = slices.DeleteFunc(slices.Clone(targets), func(r leaks.PoolRun) bool {
		return leaks.CompareRanks(r.Rank, own) < 0
	})
	if len(targets) == 0 {
		return nil, nil
	}
	p := poolers{tx: tx, line: line, runs: runs, targets: targets}
	return p.judge(ctx, roots)
}

// poolAll judges anew what all runs of a project say together of some leaks; nil for all. It returns those of which a
// judgement changed. Whoever calls it holds the lock of the project's signatures.
func poolAll(ctx context.Context, tx pgx.Tx, project int64, roots []int64) ([]int64, error) {
	if roots != nil && len(roots) == 0 {
		return nil, nil
	}
	lines, err := readLines(ctx, tx, project)
	if err != nil {
		return nil, err
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
		for _, line := range lines.All() {
			runs := along(line, list[:n])
			here, err := poolLine(ctx, tx, line, runs, runs, roots)
			if err != nil {
				return nil, err
			}
			changed = append(changed, here...)
		}
		list = list[n:]
	}
	slices.Sort(changed)
	return slices.Compact(changed), nil
}

// poolers judge runs of one scenario together, along a line of builds.
type poolers struct {
	tx      pgx.Tx
	line    *leaks.BuildLine
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
		p.judged[r.RunID], targets[i] = true, r.RunID
	}
	for _, r := range p.runs {
		p.ids = append(p.ids, r.RunID)
	}
	// A signature that leans to a leak in none of the runs needs no judgement: nearly all are of this kind.
	list, err := db.Values[int64](ctx, p.tx, `
		select distinct own.root_id from findings f join signatures own on own.id = f.signature_id
		where f.run_id = any($1) and (f.pooled is not null or $4 and f.class = 'left-at-exit' or f.evidence is not null and (f.class`+suspect+` or (f.evidence->>'log_odds')::double precision >= $3))
			and ($2::bigint[] is null or own.root_id = any($2)) order by 1`, targets, roots, leaks.LeastPoolLogOdds,
		slices.ContainsFunc(p.targets, func(r leaks.PoolRun) bool { return r.ExitWork != nil }))
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
	Stayed                     []int64
	Held, Lost                 int64
	Pooled                     *leaks.PooledRating
}

// alone is the rating of the finding by its run alone.
func (r *poolRow) alone() *leaks.RunRating {
	s := &leaks.RunRating{Rating: r.Rating, Evidence: r.Evidence, Rate: r.Rate, Stayed: stayedOf(r.Stayed),
		Held: r.Held, Lost: r.Lost}
	if r.Own != nil {
		s.Rating = *r.Own
	}
	return s
}

// stayedOf is what stayed as it is stored.
func stayedOf(list []int64) (s score.StayedBlocks) {
	copy(s[:], list)
	return s
}

// judgeSome judges leaks.
func (p *poolers) judgeSome(ctx context.Context, roots []int64, changes *poolChanges) error {
	rows, err := db.All[poolRow](ctx, p.tx, `
		select own.root_id, f.run_id, f.signature_id, f.class, f.score, f.certain, f.own, f.evidence, f.rate, f.stayed, coalesce(f.most_held, f.outstanding_count) as held, coalesce((f.listed->'lost'->>'count')::bigint, 0) as lost, f.pooled
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
		at[r.RunID] = i
	}
	for len(rows) > 0 {
		n, root := 1, rows[0].RootID
		for n < len(rows) && rows[n].RootID == root {
			n++
		}
		pool := leaks.Pool{Runs: p.runs, RatingByRun: make([]*leaks.RunRating, len(p.runs)), Absent: absent[root],
			FixedRank: fixed[root], Judge: score.JudgeTogether}
		for i := range rows[:n] {
			here := &pool.RatingByRun[at[rows[i].RunID]]
			if *here == nil {
				*here = rows[i].alone()
			} else {
				lost := (*here).Lost + rows[i].Lost // parts of one leak
				*here = leaks.Representative(*here, rows[i].alone())
				(*here).Lost = lost
			}
		}
		for i := range rows[:n] {
			if r := &rows[i]; p.judged[r.RunID] {
				judged, pooled := pool.Rate(at[r.RunID], r.alone())
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
	rows, err := db.All[row](ctx, p.tx, `
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
func (p *poolers) fixes(ctx context.Context, roots []int64) (map[int64]leaks.BuildRank, error) {
	type row struct{ ID, FixedID int64 }
	rows, err := db.All[row](ctx, p.tx, `
		select s.id, s.fixed_id from signatures s where s.id = any($1) and s.mark = $2 and s.fixed_id is not null`, roots, leaks.MarkFixed)
	fixed := make(map[int64]leaks.BuildRank, len(rows))
	for _, r := range rows {
		if at := p.line.IndexOf(r.FixedID); at >= 0 {
			fixed[r.ID] = leaks.LineRank(at)
		}
	}
	return fixed, err
}
