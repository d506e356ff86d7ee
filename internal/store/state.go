package store

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// readCalendar reads the order of a project's builds.
func readCalendar(ctx context.Context, q db.Querier, project int64) (*leaks.BuildOrder, error) {
	builds, err := db.All[leaks.Build](ctx, q, `select `+buildColumns+` from builds where project_id = $1`, project)
	return leaks.NewBuildOrder(builds), err
}

// A subject is a signature whose states are to follow from its history.
type subject struct {
	id     int64
	word   leaks.TriageDecision
	state  leaks.State // before
	runs   []leaks.RunSighting
	failed []failedRun // whose gates failed for it
	// What follows.
	leaks.LeakHistory
	line      *leaks.BuildLine // that the history is along
	lines     []lineHistory
	scenarios []int64
}

// A failedRun is a run whose gate failed, and its build.
type failedRun struct{ run, build int64 }

// A lineHistory is the history of a signature along a line.
type lineHistory struct {
	*leaks.BuildLine
	leaks.LeakHistory
}

// A histories reads what runs say of signatures, and follows it along lines of builds.
type histories struct {
	q     db.Querier
	order *leaks.BuildOrder
	lines *leaks.BuildLines
	runs  map[int64]*historyRun        // of the project, by id
	first map[int64][]int64            // by scenario: builds with a result that suffices
	lists map[int64]map[string][]int64 // by scenario and tool: builds with a list of leaks at exit
}

func readHistories(ctx context.Context, q db.Querier, project int64) (*histories, error) {
	h := &histories{q: q, runs: map[int64]*historyRun{}, first: map[int64][]int64{},
		lists: map[int64]map[string][]int64{}}
	var err error
	if h.order, err = readCalendar(ctx, q, project); err != nil {
		return nil, err
	}
	if h.lines, err = readLines(ctx, q, project); err != nil {
		return nil, err
	}
	return h, h.readRuns(ctx, project)
}

// firstOn is the first build of a line with a result, by scenario.
func (h *histories) firstOn(line *leaks.BuildLine) map[int64]int {
	first := map[int64]int{}
	for scenario, builds := range h.first {
		takeFirst(first, line, scenario, builds)
	}
	return first
}

// firstListOn is the first build of a line with a list of a tool that was the first to show a leak, by scenario.
func (h *histories) firstListOn(line *leaks.BuildLine, runs []leaks.RunSighting) map[int64]int {
	first := map[int64]int{}
	for scenario, tools := range leaks.FirstToolsOn(line, runs) {
		for _, tool := range tools {
			takeFirst(first, line, scenario, h.lists[scenario][tool])
		}
	}
	return first
}

// takeFirst notes the first of some builds on a line.
func takeFirst(first map[int64]int, line *leaks.BuildLine, scenario int64, builds []int64) {
	for _, build := range builds {
		at := line.IndexOf(build)
		if known, ok := first[scenario]; at >= 0 && (!ok || at < known) {
			first[scenario] = at
		}
	}
}

// marksOn is what the state of a signature follows from beside its runs, on a line.
func (h *histories) marksOn(line *leaks.BuildLine, s *subject) leaks.MarkedBuilds {
	m := s.word.MarksOn(line, h.order)
	if m.FirstByScenario = h.firstOn(line); leaks.OnlyAtExit(s.runs) {
		m.FirstByScenario = h.firstListOn(line, s.runs)
	}
	for _, f := range s.failed {
		if at := line.IndexOf(f.build); at >= 0 {
			m.FailedIn = append(m.FailedIn, at)
		}
	}
	slices.Sort(m.FailedIn)
	m.FailedIn = slices.Compact(m.FailedIn)
	return m
}

// follow finds the courses of a signature: that of the default branch stands for it, or the gravest of the others where
// the default branch never was bad.
func (h *histories) follow(s *subject) {
	paces := leaks.SlowestRatesOf(s.runs)
	shown := map[*leaks.BuildLine]bool{}
	for i := range s.runs {
		shown[h.lines.OfBuild(s.runs[i].BuildID)] = true
	}
	s.line = h.lines.Of("")
	s.LeakHistory = leaks.Follow(nil, leaks.MarkedBuilds{FixedIn: -1, KnownUntil: -1})
	for _, line := range h.lines.All() {
		isDefault := line.Branch == h.lines.Default
		if !isDefault && !shown[line] {
			continue
		}
		history := leaks.Follow(leaks.SightingsOn(line, s.runs, paces), h.marksOn(line, s))
		if history.State != leaks.StateNone {
			s.lines = append(s.lines, lineHistory{line, history})
		}
		graver := s.line.Branch != h.lines.Default && history.State != s.State &&
			leaks.GravestState(history.State, s.State) == history.State
		if isDefault || history.State != leaks.StateNone && (s.State == leaks.StateNone || graver) {
			s.line, s.LeakHistory = line, history
		}
	}
}

// followHistory finds the states of signatures, roots, anew from all runs of the project and from the team's word.
// Whoever calls it holds the lock of the project's signatures.
func followHistory(ctx context.Context, tx pgx.Tx, project int64, roots []int64, actor string) error {
	if len(roots) == 0 {
		return nil
	}
	h, err := readHistories(ctx, tx, project)
	if err != nil {
		return err
	}
	subjects, err := readSubjects(ctx, tx, h, roots)
	if err != nil {
		return err
	}
	for i := range subjects {
		s := &subjects[i]
		h.follow(s)
		if old, now := s.state, s.State; old != now && old != leaks.StateNone {
			if err := audit.RecordSignatureChange(ctx, tx, s.id, actor, "state", map[string]leaks.State{"state": old},
				map[string]leaks.State{"state": now}); err != nil {
				return err
			}
		}
	}
	return saveHistories(ctx, tx, subjects)
}

// followRoots is followHistory of signatures of which it changed what runs are judged together.
func followRoots(ctx context.Context, tx pgx.Tx, project int64, roots []int64, actor string) error {
	if _, err := poolAll(ctx, tx, project, roots); err != nil {
		return err
	}
	return followHistory(ctx, tx, project, roots, actor)
}

func readSubjects(ctx context.Context, tx pgx.Tx, h *histories, roots []int64) ([]subject, error) {
	type row struct {
		ID    int64
		State leaks.State
		leaks.TriageDecision
	}
	rows, err := db.All[row](ctx, tx, `
		select s.id, s.state, `+triageDecisionColumns+` from signatures s where s.id = any($1) and s.alias_of is null order by s.id for no key update`, roots)
	if err != nil {
		return nil, err
	}
	subjects, at := make([]subject, len(rows)), make(map[int64]*subject, len(rows))
	for i := range rows {
		subjects[i] = subject{id: rows[i].ID, word: rows[i].TriageDecision, state: rows[i].State}
		at[rows[i].ID] = &subjects[i]
	}
	if err := h.read(ctx, at, runScope{}); err != nil {
		return nil, err
	}
	for i := range subjects {
		s := &subjects[i]
		s.scenarios = []int64{}
		for k := range s.runs {
			if r := &s.runs[k]; !r.Absent {
				s.scenarios = append(s.scenarios, r.ScenarioID)
			}
		}
		slices.Sort(s.scenarios)
		s.scenarios = slices.Compact(s.scenarios)
	}
	return subjects, nil
}

// read reads what runs say of subjects, by root.
func (h *histories) read(ctx context.Context, subjects map[int64]*subject, of runScope) error {
	roots := slices.Sorted(maps.Keys(subjects))
	if err := h.readSightings(ctx, subjects, roots, of); err != nil {
		return err
	}
	if err := readAbsences(ctx, h.q, roots, of.scenario, func(root int64, s *leaks.RunSighting) {
		subjects[root].runs = append(subjects[root].runs, *s)
	}); err != nil {
		return err
	}
	type failure struct{ RootID, ID, BuildID int64 }
	failures, err := db.All[failure](ctx, h.q, `
		select distinct s.root_id, r.id, r.build_id from failures f join signatures s on s.id = f.signature_id join runs r on r.id = f.run_id
		where s.root_id = any($1)`, roots)
	for _, f := range failures {
		subjects[f.RootID].failed = append(subjects[f.RootID].failed, failedRun{f.ID, f.BuildID})
	}
	return err
}

// saveHistories stores what follows from histories, with the figures of the gravest finding in the newest build that
// has one.
func saveHistories(ctx context.Context, tx pgx.Tx, subjects []subject) error {
	batch := &pgx.Batch{}
	for i := range subjects {
		s, c, order := &subjects[i], &subjects[i].LeakHistory, subjects[i].line
		atExit, worst := leaks.OnlyAtExit(s.runs), c.Worst.Class()
		if atExit {
			worst = analysis.ClassLeftAtExit
		}
		batch.Queue(`
			update signatures set bad = $2, state = $3, until_over = $4, worst = $5, first_bad_id = $6, last_clean_id = $7,
				last_bad_id = $8, last_seen_id = $9,
				fixed_in_id = $10, fixed_by_runs = $11, regressed_id = $12, scenarios = $13, only_at_exit = $14 where id = $1`,
			s.id, c.LastBad >= 0, string(c.State), c.UntilOver, string(worst), order.IDAt(c.FirstBad),
			order.IDAt(c.LastClean), order.IDAt(c.LastBad), order.IDAt(c.LastSeen),
			order.IDAt(c.FixedIn), c.FixedByRuns, order.IDAt(c.RegressedIn), s.scenarios, atExit)
		if c.LastSeen < 0 { // no result has it any more
			batch.Queue(`
				update signatures set class = $2, score = null, certain = false, outstanding_count = 0, outstanding_bytes = 0,
					growth_count = null, growth_bytes = null, rate = null, figure_scenario_id = null where id = $1`, s.id, string(analysis.ClassUnknown))
		}
	}
	saveStates(batch, subjects)
	if err := saveLines(batch, subjects); err != nil {
		return err
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	ids := make([]int64, len(subjects))
	for i := range subjects {
		ids[i] = subjects[i].id
	}
	// "offset 0" keeps the order of the joins, as in figuresIn: the newest build has few of the runs of a history.
	_, err := tx.Exec(ctx, `
		with gravest as (
			select root.id, g.*
			from (select id, last_seen_id from signatures where id = any($1)) root cross join lateral (
				select f.scenario_id, `+figureColumns("f")+`
				from (select id from signatures where root_id = root.id offset 0) own cross join lateral (
					select f.*, r.scenario_id, r.name as run_name from runs r join findings f on f.run_id = r.id
					where f.signature_id = own.id and r.build_id = root.last_seen_id offset 0) f
				order by `+gravestFirst+`, f.signature_id, f.scenario_id, f.run_name limit 1) g)
		update signatures s set class = g.class, score = g.score, certain = g.certain,
			outstanding_count = g.outstanding_count,
			outstanding_bytes = g.outstanding_bytes, growth_count = g.growth_count, growth_bytes = g.growth_bytes,
			rate = g.rate, figure_scenario_id = g.scenario_id
		from gravest g where g.id = s.id`, ids)
	return err
}
