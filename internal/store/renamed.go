package store

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// joinRenamed makes signatures that have another name since the build of a run part of those that they had before, so
// that history, owner and what the team says go on. It reports whether there were any. Whoever calls it holds the lock
// of the project's signatures. A person may take them apart again, and so does a run that shows both.
func joinRenamed(ctx context.Context, tx pgx.Tx, run *Run, list []leaks.RenamedLeak) (bool, error) {
	changed := false
	for _, r := range list {
		from, err := rootOf(ctx, tx, run.Project, r.From)
		if err != nil {
			return changed, err
		}
		to, err := rootOf(ctx, tx, run.Project, r.To)
		if err != nil {
			return changed, err
		}
		apart, err := db.Value[bool](ctx, tx, `
			select exists (select from signature_audit where signature_id = any($1) and action = 'split')`, []int64{from.Root, to.Root})
		if err != nil {
			return changed, err
		}
		if apart || from.Root == to.Root { // a person knows better
			continue
		}
		joined, err := join(ctx, tx, to.Root, from.Root, leaks.ActorRename)
		if err != nil {
			return changed, err
		}
		if !joined {
			continue
		}
		changed = true
		if err := audit.RecordSignatureChange(ctx, tx, to.Root, leaks.ActorRename, "merge", map[string]any{}, map[string]any{"into": r.From}); err != nil {
			return changed, err
		}
		if err := followRoots(ctx, tx, from.Project, []int64{from.Root}, leaks.ActorRename); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// runsOfGone is of how many runs the figures of a leak that is gone are read: its size and pace differ from run to run.
const runsOfGone = 8

// A goneLeak is a leak that a line shows no more, by its text, and a run that showed it.
type goneLeak struct {
	RunID int64
	Text  string
}

// gone reads leaks with the callers of one that came in, whose last build on the line is older than the first that
// shows the new one in any scenario. Where the callers ran in between and neither is shown, the leak went for another
// reason.
func (v View) gone(ctx context.Context, c *leaks.GateCase, project, scenario int64, builds []int64) error {
	shown := map[int64]map[string]bool{} // by run: what is gone; each run is read once
	for _, f := range leaks.PossibleRenames(c) {
		if len(f.Frames) < 2 {
			continue
		}
		if others, err := v.hasLeakOfCallers(ctx, f, project); err != nil || !others {
			if err != nil {
				return db.Wrap("leaks that are gone", err)
			}
			continue
		}
		rows, err := v.goneBefore(ctx, f, project, scenario, builds)
		if err != nil {
			return db.Wrap("leaks that are gone", err)
		}
		for _, r := range rows {
			if shown[r.RunID] == nil {
				shown[r.RunID] = map[string]bool{}
			}
			shown[r.RunID][r.Text] = true
		}
	}
	for _, run := range slices.Sorted(maps.Keys(shown)) {
		list, err := suspectsOf(ctx, db.Q(v), []int64{run})
		if err != nil {
			return db.Wrap("leaks that are gone", err)
		}
		for i := range list {
			if shown[run][list[i].Signature] {
				c.Gone = append(c.Gone, list[i])
			}
		}
	}
	return nil
}

// leaksOfCallers are the other leaks of a project with the callers of one: $1 is the project, $2 to $4 are the name,
// kind and callers of the one.
const leaksOfCallers = `
	select s.id, s.text from signatures s
	where s.project_id = $1 and s.bad and s.alias_of is null and s.text <> $2 and s.kind = $3 and s.frames[2:] = $4`

// hasLeakOfCallers reports whether there are others that one that came in may have been. Most have none, and their
// history is long.
func (v View) hasLeakOfCallers(ctx context.Context, f *compare.Finding, project int64) (bool, error) {
	return db.Value[bool](ctx, db.Q(v), `select exists (`+leaksOfCallers+`)`, project, f.Signature, f.Kind, f.Frames[1:])
}

// goneBefore finds the leaks that one that came in may be under a new name, with their last runs.
func (v View) goneBefore(ctx context.Context, f *compare.Finding, project, scenario int64,
	builds []int64) ([]goneLeak, error) {
	return db.All[goneLeak](ctx, db.Q(v), `
		with line as (select id, n from unnest($5::bigint[]) with ordinality as t (id, n)),
		other as (`+leaksOfCallers+`),
		own as (select s.id from signatures s where s.project_id = $1 and s.text = $2),
		shown as (
			select s.root_id, line.n, r.id as run_id, r.scenario_id, f.class
			from signatures s join findings f on f.signature_id = s.id join runs r on r.id = f.run_id join line on line.id = r.build_id
			where s.root_id in (select id from other union select id from own)),
		came as (select min(n) as n from shown where root_id in (select id from own)),
		went as (select root_id, max(n) as n from shown group by root_id)
		select last.run_id, other.text
		from other join went on went.root_id = other.id, came, lateral (
			select run_id from shown where root_id = other.id and scenario_id = $6 and class = 'leak' order by n desc, run_id desc limit $7) last
		where went.n < came.n and not exists (
			select from absences a join runs r on r.id = a.run_id join line on line.id = r.build_id
			where a.signature_id = other.id and r.scenario_id = $6 and line.n > went.n and line.n < came.n)
		order by other.id, last.run_id`, project, f.Signature, f.Kind, f.Frames[1:], builds, scenario, runsOfGone)
}
