package store

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// absences notes which leaks of the project the run does not show although it would, and which leaks that this
// run is the first to show are absent from newer runs. It returns the roots whose history changed by that.
func (c *resultEffects) absences(ctx context.Context) ([]int64, error) {
	former, err := db.Values[int64](ctx, c.tx, `delete from absences where run_id = $1 returning signature_id`, c.run)
	if err != nil {
		return nil, err
	}
	was := make(map[int64]bool, len(former))
	for _, id := range former {
		was[id] = true
	}
	batch := &pgx.Batch{}
	type row struct {
		framedLeak
		Open bool // an absence in this build tells something: a leak that an older build has fixed stays so
	}
	known, err := db.All[row](ctx, c.tx, `
		select s.id, s.frames, `+shownBy("s.id")+`, s.state <> 'fixed' or fix.place is null or here.place < fix.place
			or exists (select from signature_lines l where l.signature_id = s.id and l.state <> 'fixed') as open
		from signatures s join builds here on here.id = $3 left join builds fix on fix.id = s.fixed_in_id
		where s.project_id = $1 and s.bad and s.alias_of is null and (
			case when s.only_at_exit then s.id not in (select signature_id from findings f where f.run_id = $2 and not `+silentAtExit+`) else s.id not in (select signature_id from findings where run_id = $2) end) and s.id not in (
			select a.root_id from signatures a where a.project_id = $1 and a.alias_of is not null and exists (select from findings f where f.run_id = $2 and f.signature_id = a.id))`, c.project, c.run, c.build)
	if err != nil {
		return nil, err
	}
	var changed []int64
	for i := range known {
		r := &known[i]
		if !r.look(batch, c.run, c.seen) {
			continue
		}
		if r.Open && !was[r.ID] {
			changed = append(changed, r.ID)
		}
		delete(was, r.ID)
	}
	changed = slices.AppendSeq(changed, maps.Keys(was))
	// What the first build of the scenario showed is there since then no more: this one is older.
	found, err := db.Values[int64](ctx, c.tx, `
		select distinct l.signature_id from signature_lines l join signatures s on s.id = l.signature_id
			join builds since on since.id = l.since_id join builds here on here.id = $2
		where s.project_id = $1 and s.alias_of is null and l.found and here.place < since.place`, c.project, c.build)
	if err != nil {
		return nil, err
	}
	changed = append(changed, found...)
	// The leak is now bad in an older build than before: other runs had no reason to look for it.
	earlier, err := db.All[framedLeak](ctx, c.tx, `
		select root.id, root.frames, `+shownBy("root.id")+` from signatures root where root.id in (select own.root_id from findings f join signatures own on own.id = f.signature_id join signatures root on root.id = own.root_id
			join builds here on here.id = $3 left join builds first on first.id = root.first_bad_id
		where f.run_id = $2 and root.project_id = $1 and f.class`+suspect+` and (first.id is null or first.place > here.place))`, c.project, c.run, c.build)
	if err != nil {
		return nil, err
	}
	if err := lookInRuns(ctx, c.tx, batch, earlier, `true`, c.project); err != nil {
		return nil, err
	}
	return changed, c.tx.SendBatch(ctx, batch).Close()
}

// A framedLeak is a leak with the frames that its signature is made of.
type framedLeak struct {
	ID     int64
	Frames []string
	Held   bool // other evidence than lists of leaks at exit shows it as a leak
	Listed []analysis.ListedLeak
}

// shownBy are the columns Held and Listed of the leak with an id.
func shownBy(root string) string {
	of := ` from signatures own join findings f on f.signature_id = own.id where own.root_id = ` + root
	return `exists (select` + of + ` and f.class` + suspect + ` and coalesce(f.own->>'class', f.class) <> '` + string(analysis.ClassLeftAtExit) + `') as held,
		coalesce((select jsonb_agg(distinct f.listed - 'lost' - 'more_tests')` + of + ` and f.listed is not null and f.class` + suspect + `), '[]') as listed`
}

// silentAtExit holds for a finding f that says nothing of a leak at exit: the process held memory of the site, which
// may be left or freed at its end.
var silentAtExit = `(f.listed is null and not f.class` + suspect + `)`

// look notes that callers of the leak ran in a run that shows nothing of it, and reports whether they did.
func (f *framedLeak) look(batch *pgx.Batch, run int64, seen compare.FrameCounts) bool {
	caller := seen.WhyGone(f.Frames, compare.ShownBy{Held: f.Held, Listed: f.Listed})
	if caller == nil {
		return false
	}
	batch.Queue(`insert into absences (run_id, signature_id, frame, blamed, stacks) values ($1, $2, $3, $4, $5) on conflict do nothing`,
		run, f.ID, caller.Frame, caller.Blamed, caller.Stacks)
	return true
}

// lookAgain looks for all leaks of a project in all its runs: the order of builds changed, and with it which of them
// are newer than one that was bad.
func lookAgain(ctx context.Context, tx pgx.Tx, project int64) error {
	list, err := db.All[framedLeak](ctx, tx,
		`select id, frames, `+shownBy("s.id")+` from signatures s where project_id = $1 and bad and alias_of is null`, project)
	if err != nil {
		return err
	}
	return lookInAll(ctx, tx, list, project)
}

// lookFor looks for leaks in all runs of their project: the judgement on several runs together may find a leak bad in
// an older build than before.
func lookFor(ctx context.Context, tx pgx.Tx, roots []int64) error {
	if len(roots) == 0 {
		return nil
	}
	list, err := db.All[framedLeak](ctx, tx,
		`select id, frames, `+shownBy("s.id")+` from signatures s where id = any($1) and alias_of is null`, roots)
	if err != nil {
		return err
	}
	project, err := db.Value[int64](ctx, tx, `select project_id from signatures where id = $1`, roots[0])
	if err != nil {
		return err
	}
	return lookInAll(ctx, tx, list, project)
}

// lookInAll looks for leaks in all runs of a project.
func lookInAll(ctx context.Context, tx pgx.Tx, list []framedLeak, project int64) error {
	batch := &pgx.Batch{}
	if err := lookInRuns(ctx, tx, batch, list, `true`, project); err != nil {
		return err
	}
	return tx.SendBatch(ctx, batch).Close()
}

// lookInRuns looks for leaks in the runs of those builds b of a project, $1, of which a condition holds. Absences of
// runs that show the leak are ignored when they are read, because a finding tells more than that the callers ran.
func lookInRuns(ctx context.Context, tx pgx.Tx, batch *pgx.Batch, list []framedLeak, which string, args ...any) error {
	if len(list) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx,
		`select r.id, r.seen from builds b join runs r on r.build_id = b.id where b.project_id = $1 and r.seen <> '' and `+
			which+` order by r.id`, args...)
	if err != nil {
		return err
	}
	var run int64
	var frames []byte
	_, err = pgx.ForEachRow(rows, []any{&run, &frames}, func() error {
		seen, err := compare.DecodeFrameCounts(frames)
		if err != nil {
			return fmt.Errorf("frames of run %d: %w", run, err)
		}
		for i := range list {
			list[i].look(batch, run, seen)
		}
		return nil
	})
	return err
}

// unshown are the absences a of runs r whose build shows nothing of the leak in the scenario; a finding takes
// precedence over an absence, but for one that says nothing of what a list of leaks at exit does not hold.
var unshown = ` from absences a join runs r on r.id = a.run_id
	where a.signature_id = any($1) and not exists (
		select from signatures own join findings f on f.signature_id = own.id join runs other on other.id = f.run_id
		where own.root_id = a.signature_id and other.build_id = r.build_id and other.scenario_id = r.scenario_id
			and not (a.frame = '' and ` + silentAtExit + `))`

// readAbsences tells which runs do not show leaks although their callers ran; of one scenario alone where it is not 0.
func readAbsences(ctx context.Context, q db.Querier, roots []int64, scenario int64,
	tell func(root int64, s *leaks.RunSighting)) error {
	type row struct {
		SignatureID, BuildID, ScenarioID int64
		Stretches                        []float64
		StretchUnit                      string
	}
	rows, err := db.All[row](ctx, q,
		`select a.signature_id, r.build_id, r.scenario_id, r.stretches, r.stretch_unit`+unshown+
			` and ($2 = 0 or r.scenario_id = $2)`, roots, scenario)
	for _, r := range rows {
		tell(r.SignatureID, &leaks.RunSighting{BuildID: r.BuildID, ScenarioID: r.ScenarioID, Absent: true,
			Watched: score.RunRetention{LogOdds: math.NaN(), PartLengths: partLengthsOf(r.StretchUnit, r.Stretches)}})
	}
	return err
}

// An absenceRow is an absence in a build behind the first that was bad.
type absenceRow struct {
	SignatureID, BuildID, ScenarioID int64
	Build, Scenario                  string
	Frame                            string
	Blamed                           bool
	Stacks                           int
}

func (r *absenceRow) caller() *compare.RanFrame {
	return &compare.RanFrame{Frame: r.Frame, Blamed: r.Blamed, Stacks: r.Stacks}
}

// absencesOf lists, for each leak, build and scenario, the frame that proves that the leak's callers ran, in the builds
// with the given names; nil for all. Builds before the first bad one tell nothing.
func absencesOf(ctx context.Context, q db.Querier, roots []int64, builds []string) ([]absenceRow, error) {
	return db.All[absenceRow](ctx, q, `
		with there as (select a.*, r.build_id, r.scenario_id`+unshown+` and ($2::text[] is null or exists (select from builds b where b.id = r.build_id and b.name = any($2))))
		select distinct on (a.signature_id, a.build_id, a.scenario_id) a.signature_id, a.build_id, a.scenario_id, b.name as build, sc.name as scenario, a.frame, a.blamed, a.stacks
		from there a join builds b on b.id = a.build_id join scenarios sc on sc.id = a.scenario_id
			join signatures s on s.id = a.signature_id join builds first on first.id = s.first_bad_id
		where b.place > first.place order by a.signature_id, a.build_id, a.scenario_id, a.run_id`, roots, builds)
}
