package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// FindBuildResult returns what all runs of a build in a scenario have found, for a comparison; ErrNotFound for no such
// build or scenario. Where several runs show a signature, figures are the largest of them.
func (v View) FindBuildResult(ctx context.Context, project, scenario, build string) (*compare.BuildResult, error) {
	return v.buildResult(ctx, runsOfBuild, project, scenario, build)
}

// FindRunResult returns what one run has found, for a comparison, or ErrNotFound.
func (v View) FindRunResult(ctx context.Context, run int64) (*compare.BuildResult, error) {
	return v.buildResult(ctx, runOfID, run)
}

// The runs of a result, as conditions.
const (
	runsOfBuild = `p.name = $1 and sc.name = $2 and b.name = $3`
	runOfID     = `r.id = $1`
)

// buildResult returns what the runs that a condition chooses have found, all of one build.
func (v View) buildResult(ctx context.Context, which string, args ...any) (*compare.BuildResult, error) {
	side, err := v.resultOf(ctx, which, args...)
	if err != nil {
		return nil, err
	}
	return side, v.fillFindings(ctx, side)
}

// fillFindings reads what the runs of a build's result have found.
func (v View) fillFindings(ctx context.Context, side *compare.BuildResult) (err error) {
	side.Findings, err = suspectsOf(ctx, db.Q(v), side.RunIDs)
	return db.Wrap("findings of a build", err)
}

// resultOf returns the facts about the runs that a condition chooses, or ErrNotFound.
func (v View) resultOf(ctx context.Context, which string, args ...any) (*compare.BuildResult, error) {
	side := &compare.BuildResult{}
	if err := readRuns(ctx, db.Q(v), side, which, args); err != nil {
		return nil, err
	}
	if len(side.RunIDs) == 0 {
		return nil, ErrNotFound
	}
	return side, nil
}

// readRuns reads the facts about the runs of a build's result.
func readRuns(ctx context.Context, q db.Querier, side *compare.BuildResult, which string, args []any) error {
	type row struct {
		Build        string
		Sequence     *int64
		Place        []byte
		ID           int64
		Status       string
		Trace, Lossy bool
		Suffices     bool
		Power, Seen  []byte
		Analysed     bool
		Pending      bool
	}
	rows, err := db.All[row](ctx, q, `
		select b.name as build, b.sequence, b.place, r.id, r.status, r.trace, r.lossy, r.suffices, r.power, r.seen,
			r.analysed_at is not null as analysed,
			exists (select from jobs j where j.run_id = r.id and j.state in ('queued', 'running')) as pending
		`+runTables+` where `+which+` order by r.id`, args...)
	if err != nil {
		return db.Wrap("runs of a side", err)
	}
	for _, r := range rows {
		if r.Pending {
			side.Pending++
		}
		if !r.Analysed {
			continue
		}
		side.Build, side.Sequence, side.Rank = r.Build, r.Sequence, r.Place
		seen, err := compare.DecodeFrameCounts(r.Seen)
		if err != nil {
			return fmt.Errorf("store: frames of run %d: %w", r.ID, err)
		}
		side.Seen = append(side.Seen, seen)
		run := leaks.ComparedRun{ID: r.ID, Status: analysis.VerdictStatus(r.Status), Trace: r.Trace, Lossy: r.Lossy,
			Suffices: r.Suffices}
		if r.Power != nil {
			run.Power = &analysis.Power{}
			if err := json.Unmarshal(r.Power, run.Power); err != nil {
				return fmt.Errorf("store: power of run %d: %w", r.ID, err)
			}
		}
		leaks.AddRun(side, run)
	}
	return nil
}

// comparedRow is the part of a finding that a comparison needs.
type comparedRow struct {
	RunID, LeakID                    int64
	Text, Kind, Title, Leaf, Outline string
	Frames                           []string
	Blame                            *analysis.Blame
	Allocated                        *int64
	Pooled                           *leaks.PooledRating
	OwnClass                         analysis.Class // by the run alone
	Listed                           *analysis.ListedLeak
	Immaterial                       bool
	riskRow
	Regressed  bool
	FirstBad   string
	FirstPlace []byte
	figureRow
	leaks.TriageRecord
	Now time.Time
}

// suspectsOf reads the findings of runs of signatures that leaked or grew in some run of the project, and of those
// that are part of another one, and merges those of one leak. Of the many others a comparison wants to know only that
// their code ran, which Seen tells.
func suspectsOf(ctx context.Context, q db.Querier, runs []int64) ([]compare.Finding, error) {
	rows, err := db.All[comparedRow](ctx, q, `
		select f.run_id, s.id as leak_id, s.text, s.kind, s.title, s.frames, s.blame, s.leaf, s.outline, f.allocated, f.pooled, coalesce(f.own->>'class', f.class) as own_class, f.listed, f.immaterial, `+riskColumns+`, `+figureColumns("f")+`, `+recordColumns+`, 0 as comments,
			s.state = 'regressed' and coalesce((select again.place <= here.place from builds again, builds here where again.id = s.regressed_id and here.id = r.build_id), false) as regressed,
			coalesce(first.name, '') as first_bad, first.place as first_place
		from findings f join runs r on r.id = f.run_id join signatures own on own.id = f.signature_id join signatures s on s.id = own.root_id left join builds first on first.id = s.first_bad_id
		where f.run_id = any($1) and (own.bad or own.alias_of is not null) order by f.run_id, f.signature_id`, runs)
	if err != nil {
		return nil, err
	}
	list := make([]leaks.ComparedFinding, len(rows))
	for i := range rows {
		list[i] = leaks.ComparedFinding{RunID: rows[i].RunID, LeakID: rows[i].LeakID, Finding: rows[i].finding()}
	}
	return leaks.MergeFindings(list), nil
}

func (r *comparedRow) finding() compare.Finding {
	figure, triage := r.figure(), r.TriageAt(r.Now)
	f := compare.Finding{
		Signature: r.Text, Kind: r.Kind, Title: r.Title, Leaf: r.Leaf, Outline: r.Outline, Frames: r.Frames,
		Blame: r.Blame,
		Class: figure.Class, Score: figure.Score,
		Certain: figure.Certain, Immaterial: r.Immaterial, Risk: r.risk(),
		Outstanding: figure.Outstanding, Growth: figure.Growth, Allocated: -1,
		AtExit: r.OwnClass == analysis.ClassLeftAtExit, Listed: r.Listed.Alone(),
		State: string(triage.State), Owner: triage.Responsible(), Known: r.ToleranceReasonAt(r.Now),
		ByRule: r.IsKnownByRule(r.Now), Regressed: r.Regressed, Open: r.StateByRuns != leaks.StateNone &&
			r.StateByRuns != leaks.StateFixed,
		FirstBad: r.FirstBad, FirstRank: r.FirstPlace,
	}
	if r.Allocated != nil {
		f.Allocated = *r.Allocated
	}
	if r.Pooled != nil {
		f.Onset = r.Pooled.Onset
	}
	f.TakeRate(figure.Rate)
	return f
}
