package store

import (
	"context"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

const (
	// evidenceRuns is how many runs of a build are asked what their evidence shows of a leak: those that show it, then the
	// newest.
	evidenceRuns = 40
	// otherBuildRuns is how many runs of other builds are looked at for kinds of evidence that the build lacks.
	otherBuildRuns = 60
)

// An OtherEvidence is the newest run of another build in which a kind of evidence shows a leak.
type OtherEvidence struct {
	Kind            string // of capture
	RunID           int64
	Name            string
	Build, Scenario string
}

// ListLeakEvidence returns what the runs of one build say of a leak, the newest first, and in which runs of other
// builds evidence shows it. root is the id of the leak's signature; shown is the id of a run of the build.
func (v View) ListLeakEvidence(ctx context.Context, root, shown int64) ([]leaks.EvidenceRun, []OtherEvidence, error) {
	type row struct {
		Run                   int64
		Name, Build, Scenario string
		Status                string
		Kinds, Unread         []string
		Shows                 bool
		SpanNS                int64
		Witnesses             []analysis.KindResult
		Unreachable           *analysis.Amount
		Alone                 *leaks.Rating
		figureRow
	}
	rows, err := db.All[row](ctx, db.Q(v), `
		with here as (
			select r.id, r.name, b.name as build, sc.name as scenario, r.status, r.summary, f.*
			from runs r join builds b on b.id = r.build_id join scenarios sc on sc.id = r.scenario_id
				left join lateral (
					select own.text as own, `+figureColumns("f")+`, f.witnesses, f.own as alone
					from (select id, text from signatures where root_id = $1 offset 0) own join findings f on f.run_id = r.id and f.signature_id = own.id
					order by `+gravestFirst+` limit 1) f on true
			where r.build_id = (select build_id from runs where id = $2) and r.analysed_at is not null
			order by f.own is null, r.id desc limit $3)
		select r.id as run, r.name, r.build, r.scenario, r.status, r.own is not null as shows,
			array(select distinct c.kind from evidence e join captures c on c.evidence_id = e.id where e.run_id = r.id order by 1) as kinds,
			array(select distinct e.kind from evidence e where e.run_id = r.id and e.state <> 'read' order by 1) as unread,
			case when r.own is null then 0 else `+runSpan+` end as span_ns, r.witnesses,
			case when r.own is not null then (select u->'unreachable' from jsonb_array_elements(coalesce(r.summary->'unreachable', '[]')) u where u->>'signature' = r.own limit 1) end as unreachable,
			coalesce(r.class, '') as class, r.score, coalesce(r.certain, false) as certain, coalesce(r.outstanding_count, 0) as outstanding_count,
			coalesce(r.outstanding_bytes, 0) as outstanding_bytes, r.growth_count, r.growth_bytes, r.rate, r.alone
		from here r order by r.id desc`, root, shown, evidenceRuns)
	if err != nil {
		return nil, nil, db.Wrap("witnesses", err)
	}
	list := make([]leaks.EvidenceRun, len(rows))
	for i := range rows {
		r := &rows[i]
		figure := r.figure()
		if own := r.Alone; own != nil {
			figure.Class, figure.Score, figure.Certain = own.Class, own.Score, own.Certain
		}
		list[i] = leaks.EvidenceRun{
			RunID: r.Run, Name: r.Name, Build: r.Build, Scenario: r.Scenario, Kinds: r.Kinds, Unread: r.Unread,
			Status: analysis.VerdictStatus(r.Status), Shows: r.Shows,
			Figure: figure, ByKind: r.Witnesses, Unreachable: r.Unreachable, SpanNS: r.SpanNS,
		}
	}
	others, err := db.All[OtherEvidence](ctx, db.Q(v), `
		with others as (
			select r.id as run_id, r.name, b.name as build, sc.name as scenario, f.witnesses, row_number() over (order by `+newestFirst+`, r.id desc) as at
			from signatures own join findings f on f.signature_id = own.id join runs r on r.id = f.run_id join builds b on b.id = r.build_id join scenarios sc on sc.id = r.scenario_id
			where own.root_id = $1 and f.witnesses is not null and r.build_id <> (select build_id from runs where id = $2) order by at limit $3)
		select distinct on (kind) w->>'kind' as kind, o.run_id, o.name, o.build, o.scenario from others o, jsonb_array_elements(o.witnesses) w order by kind, o.at`,
		root, shown, otherBuildRuns)
	return list, others, db.Wrap("witnesses of other builds", err)
}
