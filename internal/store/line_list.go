package store

import (
	"context"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// maxRunsPerLine is how many runs of a line are listed; the newest.
const maxRunsPerLine = 60

// ListLines returns the state of a leak on each line of builds (a branch) on which it leaked or grew; the default
// branch's line comes first. root is the id of its signature, and known says that the team tolerates it.
func (v View) ListLines(ctx context.Context, project string, root int64, known bool) ([]leaks.LineState, error) {
	id, err := projectID(ctx, db.Q(v), project)
	if err != nil {
		return nil, err
	}
	type row struct {
		Branch, Fork, State, After, Since, Told string
		FirstBad, LastClean, LastBad, LastSeen  string
		FixedIn, RegressedIn                    string
		Found                                   bool
		CleanBound                              *leaks.CleanBound
	}
	rows, err := db.All[row](ctx, db.Q(v), `
		select s.branch, s.state, s.found, s.clean_bound, `+buildName("fork")+`, `+buildName("after")+`, `+buildName("since")+`, `+buildName("told")+`,
			`+buildName("first_bad")+`, `+buildName("last_clean")+`, `+buildName("last_bad")+`, `+buildName("last_seen")+`, `+buildName("fixed_in")+`,
			coalesce((select b.name from builds b where b.id = s.regressed_id), '') as regressed_in
		from signature_lines s where s.signature_id = $1 order by s.branch`, root)
	if err != nil || len(rows) == 0 {
		return nil, db.Wrap("lines of a signature", err)
	}
	lines, err := readLines(ctx, db.Q(v), id)
	if err != nil {
		return nil, db.Wrap("lines", err)
	}
	odds, err := v.oddsOf(ctx, lines, root)
	if err != nil {
		return nil, err
	}
	by := make(map[string]*row, len(rows))
	for i := range rows {
		by[rows[i].Branch] = &rows[i]
	}
	var list []leaks.LineState
	for _, line := range lines.All() {
		r := by[line.Branch]
		if r == nil {
			continue
		}
		l := leaks.LineState{
			Branch: r.Branch, Fork: r.Fork, State: leaks.State(r.State),
			After: r.After, Since: r.Since, Found: r.Found, FailedIn: r.Told,
			FirstBad: r.FirstBad, LastClean: r.LastClean, CleanBound: r.CleanBound, LastBad: r.LastBad, LastSeen: r.LastSeen,
			FixedIn: r.FixedIn, RegressedIn: r.RegressedIn, Odds: odds[line.Branch],
		}
		if known {
			l.State = leaks.StateKnown
		}
		list = append(list, l)
	}
	return list, nil
}

// oddsOf returns by branch, for each of the newest maxRunsPerLine runs, how probable the leak is and how much it grew.
// Runs come oldest first.
func (v View) oddsOf(ctx context.Context, lines *leaks.BuildLines, root int64) (map[string][]leaks.RunOdds, error) {
	type row struct {
		leaks.RunOdds
		BuildID int64
	}
	rows, err := db.All[row](ctx, db.Q(v), `
		select b.name as build, r.id as run_id, f.score as probability, f.growth_bytes as bytes, b.id as build_id
		from signatures own join findings f on f.signature_id = own.id join runs r on r.id = f.run_id join builds b on b.id = r.build_id
		where own.root_id = $1 order by `+oldestFirst+`, r.id, f.signature_id`, root)
	odds := map[string][]leaks.RunOdds{}
	for _, r := range rows {
		line := lines.OfBuild(r.BuildID)
		if line == nil {
			continue
		}
		odds[line.Branch] = append(odds[line.Branch], r.RunOdds)
	}
	for branch, list := range odds {
		odds[branch] = list[max(0, len(list)-maxRunsPerLine):]
	}
	return odds, db.Wrap("odds of a signature", err)
}
