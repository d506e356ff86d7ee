package store

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// buildOrder sorts builds, the oldest first: those whose place was declared by it, the others before them as they came.
// BuildsOf has the same order backwards.
const buildOrder = `sequence is not null, sequence, id`

// undeclared takes the place of a sequence that was not declared: before all others.
const undeclared = int64(math.MinInt64)

// calendar is the order of a project's builds.
type calendar struct {
	ids    []int64       // oldest first
	places map[int64]int // by id
	names  map[string]int
	// sequences are those that were declared, ascending, from the place declared on.
	sequences []int64
	declared  int
}

func readCalendar(ctx context.Context, q querier, project int64) (*calendar, error) {
	c := &calendar{places: map[int64]int{}, names: map[string]int{}}
	rows, err := q.Query(ctx, `select id, name, sequence from builds where project_id = $1 order by `+buildOrder, project)
	if err != nil {
		return nil, err
	}
	var id int64
	var name string
	var sequence *int64
	_, err = pgx.ForEachRow(rows, []any{&id, &name, &sequence}, func() error {
		c.places[id], c.names[name] = len(c.ids), len(c.ids)
		c.ids = append(c.ids, id)
		if sequence != nil {
			c.sequences = append(c.sequences, *sequence)
		}
		return nil
	})
	c.declared = len(c.ids) - len(c.sequences)
	return c, err
}

// place is that of a build by its id; −1 for none.
func (c *calendar) place(id *int64) int {
	if id != nil {
		if at, ok := c.places[*id]; ok {
			return at
		}
	}
	return -1
}

// from is the place from which on builds are the named one or newer; −1 where there are none yet, or that is not known: a
// name that is a number tells its place before the build is there.
func (c *calendar) from(name string) int {
	if name == "" {
		return -1
	}
	if at, ok := c.names[name]; ok {
		return at
	}
	n, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return -1
	}
	at, _ := slices.BinarySearch(c.sequences, n)
	if at == len(c.sequences) {
		return -1
	}
	return c.declared + at
}

// id is that of the build at a place; nil for −1.
func (c *calendar) id(place int) *int64 {
	if place < 0 {
		return nil
	}
	return &c.ids[place]
}

// A subject is a signature whose state is to follow from its history.
type subject struct {
	id        int64
	word      said
	state     State // before
	sightings []sighting
	scenarios []int64
}

// followHistory finds the states of signatures, roots, anew from all runs of the project and from the team's word. Whoever
// calls it holds the lock of the project's signatures.
func followHistory(ctx context.Context, tx pgx.Tx, project int64, roots []int64, actor string) error {
	if len(roots) == 0 {
		return nil
	}
	order, err := readCalendar(ctx, tx, project)
	if err != nil {
		return err
	}
	subjects, err := readSubjects(ctx, tx, order, roots)
	if err != nil {
		return err
	}
	results := make([]followed, len(subjects))
	for i := range subjects {
		results[i] = follow(subjects[i].sightings, subjects[i].word)
		if old, now := subjects[i].state, results[i].state; old != now && old != StateNone {
			if err := audit(ctx, tx, subjects[i].id, actor, "state", map[string]State{"state": old}, map[string]State{"state": now}); err != nil {
				return err
			}
		}
	}
	return saveFollowed(ctx, tx, order, subjects, results)
}

func readSubjects(ctx context.Context, tx pgx.Tx, order *calendar, roots []int64) ([]subject, error) {
	var subjects []subject
	rows, err := tx.Query(ctx, `
		select id, case when mark = 'fixed' then fixed_id end, case when mark = 'known' then until_build else '' end, state
		from signatures where id = any($1) and alias_of is null order by id for no key update`, roots)
	if err != nil {
		return nil, err
	}
	var s subject
	var fixed *int64
	var until string
	at := map[int64]int{}
	_, err = pgx.ForEachRow(rows, []any{&s.id, &fixed, &until, &s.state}, func() error {
		s.word = said{order.place(fixed), order.from(until)}
		at[s.id] = len(subjects)
		subjects = append(subjects, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	// A clean finding counts where the run could tell a leak from what is none.
	rows, err = tx.Query(ctx, `
		select own.root_id, r.build_id, r.scenario_id,
			max(case f.class when 'leak' then 3 when 'growing' then 2 when 'unknown' then 0 else case when r.status = 'inconclusive' then 0 else 1 end end)
		from signatures own join findings f on f.signature_id = own.id join runs r on r.id = f.run_id
		where own.root_id = any($1) group by 1, 2, 3`, roots)
	if err != nil {
		return nil, err
	}
	var root, build, scenario int64
	var what int16
	_, err = pgx.ForEachRow(rows, []any{&root, &build, &scenario, &what}, func() error {
		if i, ok := at[root]; ok {
			subjects[i].sightings = append(subjects[i].sightings, sighting{order.places[build], scenario, seen(what)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range subjects {
		s := &subjects[i]
		slices.SortFunc(s.sightings, func(a, b sighting) int { return a.build - b.build })
		s.scenarios = []int64{}
		for _, seen := range s.sightings {
			s.scenarios = append(s.scenarios, seen.scenario)
		}
		slices.Sort(s.scenarios)
		s.scenarios = slices.Compact(s.scenarios)
	}
	return subjects, nil
}

var seenWords = map[seen]string{undecided: "unknown", clean: "stable", growing: "growing", leaking: "leak"}

// saveFollowed stores what follows from histories, with the figures of the gravest finding in the newest build that has one.
func saveFollowed(ctx context.Context, tx pgx.Tx, order *calendar, subjects []subject, results []followed) error {
	batch := &pgx.Batch{}
	for i := range subjects {
		s, f := &subjects[i], &results[i]
		batch.Queue(`
			update signatures set bad = $2, state = $3, until_over = $4, worst = $5, first_bad_id = $6, last_clean_id = $7, last_bad_id = $8, last_seen_id = $9,
				fixed_in_id = $10, fixed_by_runs = $11, regressed_id = $12, scenarios = $13 where id = $1`,
			s.id, f.lastBad >= 0, string(f.state), f.untilOver, seenWords[f.worst], order.id(f.firstBad), order.id(f.lastClean), order.id(f.lastBad), order.id(f.lastSeen),
			order.id(f.fixedIn), f.fixedByRuns, order.id(f.regressedIn), s.scenarios)
		if f.lastSeen < 0 { // no result has it any more
			batch.Queue(`
				update signatures set class = 'unknown', score = null, certain = false, outstanding_count = 0, outstanding_bytes = 0,
					growth_count = null, growth_bytes = null, rate = null where id = $1`, s.id)
		}
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	ids := make([]int64, len(subjects))
	for i := range subjects {
		ids[i] = subjects[i].id
	}
	_, err := tx.Exec(ctx, `
		with gravest as (
			select distinct on (root.id) root.id, f.class, f.score, f.certain, f.outstanding_count, f.outstanding_bytes, f.growth_count, f.growth_bytes, f.rate
			from signatures root join runs r on r.build_id = root.last_seen_id
				join signatures own on own.root_id = root.id join findings f on f.run_id = r.id and f.signature_id = own.id
			where root.id = any($1)
			order by root.id, `+gravestFirst+`, r.scenario_id, r.name)
		update signatures s set class = g.class, score = g.score, certain = g.certain, outstanding_count = g.outstanding_count,
			outstanding_bytes = g.outstanding_bytes, growth_count = g.growth_count, growth_bytes = g.growth_bytes, rate = g.rate
		from gravest g where g.id = s.id`, ids)
	return err
}
