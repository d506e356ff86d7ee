package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// A History is what all runs of a project say of one signature.
type History struct {
	Signature Signature
	Builds    []BuildRef      // every build of the project that has a result, oldest first
	Scenarios []string        // in which the signature was seen
	Outcomes  []leaks.Outcome // by build, oldest first, then by scenario; one for every build and scenario that was run
	// Explained is the gravest finding of the newest build that has one; its clauses explain the signature.
	Explained *Finding
	// Lines are its state on each line of builds on which it leaked or grew; the default branch's line comes first.
	Lines []leaks.LineState
}

// FindHistory returns what all runs say of a signature, or ErrNotFound.
func (v View) FindHistory(ctx context.Context, project, signature string) (*History, error) {
	ids, err := rootOf(ctx, db.Q(v), project, signature)
	if err != nil {
		return nil, err
	}
	row, err := db.One[signatureRow](ctx, db.Q(v),
		`select `+signatureColumns+` from signatures s where s.id = $1`, ids.Root)
	if err != nil {
		return nil, db.Wrap("signature", err)
	}
	h := &History{Signature: row.signature()}
	if err := complete(ctx, db.Q(v), []*Signature{&h.Signature}); err != nil {
		return nil, db.Wrap("states of a signature", err)
	}
	if h.Builds, err = buildsWithResults(ctx, db.Q(v), ids.Project, 0); err != nil {
		return nil, db.Wrap("builds", err)
	}
	h.Scenarios, err = db.Values[string](ctx, db.Q(v), `
		select sc.name from scenarios sc where sc.project_id = $1 and exists (
			select from signatures own join findings f on f.signature_id = own.id join runs r on r.id = f.run_id where own.root_id = $2 and r.scenario_id = sc.id)
		order by sc.name`, ids.Project, ids.Root)
	if err != nil {
		return nil, db.Wrap("scenarios", err)
	}
	if h.Outcomes, err = outcomesOf(ctx, db.Q(v), ids); err != nil {
		return nil, db.Wrap("history", err)
	}
	if h.Explained, err = explained(ctx, db.Q(v), ids.Root); err != nil {
		return nil, db.Wrap("history", err)
	}
	h.Lines, err = v.ListLines(ctx, project, ids.Root, h.Signature.State == leaks.StateKnown)
	return h, err
}

// A runFindingRow is a finding of a signature, by build and scenario.
type runFindingRow struct {
	RootID, RunID, SignatureID int64
	BuildID, ScenarioID        int64
	Status                     string
	figureRow
}

// seenColumns select a runFindingRow from a finding f, without its rate.
var seenColumns = `own.root_id, f.run_id, f.signature_id, r.build_id, r.scenario_id, r.status, ` +
	bareFigureColumns("f")

func (r *runFindingRow) seen() *leaks.SignatureFinding {
	return &leaks.SignatureFinding{RunID: r.RunID, SignatureID: r.SignatureID, Status: analysis.VerdictStatus(r.Status),
		Figure: r.figure()}
}

// outcomesOf lists what each build says of a signature in each scenario.
func outcomesOf(ctx context.Context, q db.Querier, ids signatureIDs) ([]leaks.Outcome, error) {
	type scenarioRuns struct {
		BuildID, ScenarioID, Newest int64
		Build, Scenario             string
		Runs                        int
	}
	type place struct{ build, scenario int64 }
	list, err := db.All[scenarioRuns](ctx, q, `
		select r.build_id, r.scenario_id, b.name as build, sc.name as scenario, count(*) as runs, max(r.id) as newest
		from runs r join builds b on b.id = r.build_id join scenarios sc on sc.id = r.scenario_id
		where b.project_id = $1 and r.analysed_at is not null group by r.build_id, r.scenario_id, b.id, sc.id order by `+oldestFirst+`, sc.name`, ids.Project)
	if err != nil {
		return nil, err
	}
	outcomes, places := make([]leaks.Outcome, len(list)), make(map[place]int, len(list))
	for i, r := range list {
		outcomes[i] = leaks.Outcome{Build: r.Build, Scenario: r.Scenario, Runs: r.Runs, RunID: r.Newest}
		places[place{r.BuildID, r.ScenarioID}] = i
	}
	seen, err := db.All[runFindingRow](ctx, q, `
		select `+seenColumns+`, f.rate from signatures own join signatures root on root.id = own.root_id join findings f on f.signature_id = own.id join runs r on r.id = f.run_id
		where own.root_id = $1 and not (root.only_at_exit and `+silentAtExit+`) order by f.run_id, f.signature_id`, ids.Root)
	for i := range seen {
		if k, ok := places[place{seen[i].BuildID, seen[i].ScenarioID}]; ok {
			outcomes[k].Take(seen[i].seen())
		}
	}
	if err != nil {
		return nil, err
	}
	absent, err := absencesOf(ctx, q, []int64{ids.Root}, nil)
	for i := range absent {
		if k, ok := places[place{absent[i].BuildID, absent[i].ScenarioID}]; ok {
			outcomes[k].Absent = absent[i].caller()
		}
	}
	return outcomes, err
}

// explained returns the gravest finding of the newest build that has one; nil for none.
func explained(ctx context.Context, q db.Querier, root int64) (*Finding, error) {
	f, err := db.One[findingRow](ctx, q, findingQuery+`
		join runs r on r.id = f.run_id join builds b on b.id = r.build_id where s.id = $1
		order by `+newestFirst+`, `+gravestFirst+`, f.signature_id, f.run_id desc limit 1`, root)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	found := f.finding()
	return &found, err
}
