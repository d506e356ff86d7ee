package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// In every order the pages, each named by the last signature of the one before, show each signature once and in the
// order of one large page, even if many signatures lack the value to sort by, or share it.
func TestSignaturesInPages(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	l := newLab(t)
	l.sql(`insert into projects (name) values ('demo'), ('another')`)
	l.sql(`insert into builds (project_id, name, sequence) select p.id, 'b' || i, case when i % 3 > 0 then i / 3 end from projects p, generate_series(1, 8) i where p.name = 'demo'`)
	if err := l.UpdateBuildOrder(t.Context()); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 9))
	l.invented(rng, 60, `null`)
	builds := query(l, func(row pgx.CollectableRow) (id *int64, err error) {
		err = row.Scan(&id)
		return id, err
	}, `select id from builds union all select null from generate_series(1, 3)`)
	for _, id := range query(l, pgx.RowTo[int64], `select id from signatures`) {
		l.sql(`update signatures set score = $2, growth_bytes = $3, first_bad_id = $4, last_bad_id = $5 where id = $1`, id,
			maybe(rng, oneOf(rng, 0, 0.5, 0.9)), maybe(rng, oneOf[int64](rng, -5, 0, 7)),
			oneOf(rng, builds...), oneOf(rng, builds...))
	}
	ids := func(p *store.SignaturePage) (list []int64) {
		for _, r := range p.Rows {
			list = append(list, r.ID)
		}
		return list
	}
	for _, order := range []store.SignatureOrder{"", store.BySignatureScore, store.BySignatureGrowth,
		store.BySignatureLastSeen, store.BySignatureFirstBad} {
		for _, state := range []leaks.State{"", leaks.StateKnown} {
			what := fmt.Sprintf("by %q, state %q", order, state)
			whole := l.list(store.SignatureQuery{Order: order, State: state, Limit: 1000})
			all := ids(whole)
			if len(all) != whole.Total || whole.NextAfterID() != 0 || len(all) < 10 {
				t.Fatalf("%s: %d of %d", what, len(all), whole.Total)
			}
			for _, limit := range []int{1, 7, len(all) - 1, len(all)} {
				var walked []int64
				q := store.SignatureQuery{Order: order, State: state, Limit: limit}
				for {
					page := l.list(q)
					if page.RowsBefore != len(walked) || page.Total != len(all) {
						t.Fatalf("%s: page at %d of %d, want at %d of %d", what, page.RowsBefore, page.Total, len(walked), len(all))
					}
					walked = append(walked, ids(page)...)
					if q.AfterID = page.NextAfterID(); q.AfterID == 0 || len(walked) > len(all) {
						break
					}
				}
				if !slices.Equal(walked, all) {
					t.Errorf("%s, %d at a time: %v, want %v", what, limit, walked, all)
				}
			}
			passed := l.list(store.SignatureQuery{Order: order, State: state, AfterID: all[3], Offset: 2, Limit: 3})
			if got := ids(passed); !slices.Equal(got, all[6:9]) || passed.RowsBefore != 6 {
				t.Errorf("%s, two passed over behind the fourth: %v at %d, want %v", what, got, passed.RowsBefore, all[6:9])
			}
			if last := l.list(store.SignatureQuery{Order: order, State: state, AfterID: all[len(all)-1],
				Limit: 3}); len(last.Rows) != 0 || last.RowsBefore != len(all) || last.NextAfterID() != 0 {
				t.Errorf("%s, behind the last: %v at %d", what, ids(last), last.RowsBefore)
			}
		}
	}
}

// A page is found even if the signature before it no longer matches the query, here because the team now knows it.
func TestSignaturePageBehindOneThatIsGone(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(
		finding{signature: "A", class: leak, bytes: 40}, finding{signature: "B", class: leak, bytes: 30},
		finding{signature: "C", class: leak, bytes: 20}, finding{signature: "D", class: leak, bytes: 10}))
	q := store.SignatureQuery{State: leaks.StateFound, Order: store.BySignatureGrowth, Limit: 2}
	first := l.list(q)
	l.change("B", leaks.TriageChange{Known: &leaks.Toleration{Reason: "vendor"}})
	q.AfterID = first.NextAfterID()
	if second := l.list(q); listed(first) != "A B" || listed(second) != "C D" || second.RowsBefore != 1 || second.Total != 3 {
		t.Errorf("%s, then %s at %d of %d", listed(first), listed(second), second.RowsBefore, second.Total)
	}
}
