package store

import (
	"context"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

const (
	// variantRuns is how many runs, those of the newest builds, the stacks of a leak are read from.
	variantRuns = 12
	// variantSites is how many sites of a leak are read from each of them, those that grow most. A leak may have many
	// thousands.
	variantSites = 24
)

// runSpan is the time in ns between which a run r measured growth; 0 where its evidence has no times.
const runSpan = `coalesce((r.summary #>> '{window,duration_ns}')::bigint, (r.summary #>> '{snapshots,-1,at_ns}')::bigint - (r.summary #>> '{snapshots,0,at_ns}')::bigint, 0)`

// LeakStacks are the stacks of a leak, as far as they were read.
type LeakStacks struct {
	Runs []LeakRun             // the shown one first, then those of the newest builds
	Seen []leaks.StackSighting // by run
}

// A LeakRun is a run that shows a leak.
type LeakRun struct {
	ID              int64
	Name            string
	Build, Scenario string
	Branch          string // of the build
	Sites           int    // how many sites of the leak it has
	SitesRead       int    // how many of Sites were read
	SpanNS          int64  // time over which its growth was measured; 0 where the evidence has no times
}

// Run returns the run with this id; nil where Runs does not have it.
func (l *LeakStacks) Run(id int64) *LeakRun {
	for i := range l.Runs {
		if l.Runs[i].ID == id {
			return &l.Runs[i]
		}
	}
	return nil
}

// stacksOfRuns are the stacks of a signature, by the id of its root ($2), in runs ($1), so many of each ($3). "offset
// 0" keeps the order of the joins: by the index of a signature's sites in a run, and never through all sites of that.
const stacksOfRuns = `
	select n.run_id, st.stack_id, st.outstanding_count, st.outstanding_bytes, st.growth_count, st.growth_bytes, st.at_exit_count, st.at_exit_bytes
	from unnest($1::bigint[]) with ordinality as n (run_id, at), lateral (
		select site.* from (select id from signatures where root_id = $2 offset 0) own cross join lateral (
			select * from sites where signature_id = own.id and run_id = n.run_id order by signature_id, run_id, ordinal limit $3) site
		order by site.ordinal limit $3) st
	order by n.at, st.ordinal`

// FindNewestLeakStacks returns the stacks of a leak in its newest runs. root is the id of its signature; shown is the
// id of the run that the page is about, which is read whatever its build.
func (v View) FindNewestLeakStacks(ctx context.Context, root, shown int64) (*LeakStacks, error) {
	list := &LeakStacks{}
	var err error
	list.Runs, err = db.All[LeakRun](ctx, db.Q(v), `
		with seen as (
			select f.run_id, sum(f.sites)::int as sites from signatures own join findings f on f.signature_id = own.id where own.root_id = $1 group by f.run_id),
		newest as (
			select r.id, r.name, b.name as build, b.branch, sc.name as scenario, seen.sites, row_number() over (order by r.id = $2 desc, `+newestFirst+`, r.id desc) as at
			from seen join runs r on r.id = seen.run_id join builds b on b.id = r.build_id join scenarios sc on sc.id = r.scenario_id
			where seen.sites > 0 order by at limit $3)
		select n.id, n.name, n.build, n.branch, n.scenario, n.sites, 0 as sites_read,
			`+runSpan+` as span_ns
		from newest n join runs r on r.id = n.id order by n.at`, root, shown, variantRuns)
	if err != nil || len(list.Runs) == 0 {
		return list, db.Wrap("runs of stacks", err)
	}
	ids := make([]int64, len(list.Runs))
	for i := range list.Runs {
		ids[i] = list.Runs[i].ID
	}
	rows, err := db.All[stackRow](ctx, db.Q(v), stacksOfRuns, ids, root, variantSites)
	if err != nil {
		return nil, db.Wrap("stacks of a leak", err)
	}
	return list, v.fillStacks(ctx, list, rows)
}

// A stackRow is a site of a leak, as far as its stack is concerned.
type stackRow struct {
	RunID                              int64
	StackID                            *int64
	OutstandingCount, OutstandingBytes int64
	GrowthCount, GrowthBytes           *int64
	AtExitCount, AtExitBytes           *int64 // of traces only
}

// seen returns what the stack held, and how much it grew, before the process ended.
func (r *stackRow) seen(frames []*analysis.Frame) leaks.StackSighting {
	a := analysis.Amounts{Outstanding: analysis.Amount{Count: r.OutstandingCount, Bytes: r.OutstandingBytes}}
	if r.AtExitCount != nil && r.AtExitBytes != nil {
		a.Lifetimes = &analysis.Lifetimes{AtExit: analysis.Amount{Count: *r.AtExitCount, Bytes: *r.AtExitBytes}}
	}
	s := leaks.StackSighting{RunID: r.RunID, Frames: frames}
	if r.GrowthCount != nil && r.GrowthBytes != nil {
		a.Growth = &analysis.Amount{Count: *r.GrowthCount, Bytes: *r.GrowthBytes}
		s.Growth = new(a.GrowthBeforeExit())
	}
	s.Held, _ = a.HeldBeforeExit()
	return s
}

// fillStacks reads the frames of the stacks.
func (v View) fillStacks(ctx context.Context, list *LeakStacks, rows []stackRow) error {
	var ids []int64
	for i := range rows {
		if rows[i].StackID != nil {
			ids = append(ids, *rows[i].StackID)
		}
	}
	frames, err := v.ListStackFrames(ctx, ids)
	if err != nil {
		return err
	}
	for i := range rows {
		var stack []*analysis.Frame
		if rows[i].StackID != nil {
			stack = frames[*rows[i].StackID]
		}
		list.Seen = append(list.Seen, rows[i].seen(stack))
		list.Run(rows[i].RunID).SitesRead++
	}
	return nil
}
