package store_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
)

// A poolDump is everything stored of the judgement on a finding.
type poolDump struct {
	Place, Signature, Class string
	Score                   *float64
	Certain                 bool
	Own                     *leaks.Rating
	Pooled                  *leaks.PooledRating
}

// dumpPools prints everything stored of the judgements on all findings.
func (l *lab) dumpPools() string {
	l.Helper()
	var b strings.Builder
	for _, r := range query(l, pgx.RowToStructByName[poolDump], `
		select b.name || '/' || sc.name || '/' || r.name as place, s.text as signature, f.class, f.score, f.certain, f.own, f.pooled
		from findings f join signatures s on s.id = f.signature_id join runs r on r.id = f.run_id join builds b on b.id = r.build_id join scenarios sc on sc.id = r.scenario_id
		order by 1, 2`) {
		fmt.Fprintf(&b, "%s %s %s %.3f %t", r.Place, r.Signature, r.Class, *r.Score, r.Certain)
		if r.Pooled != nil {
			fmt.Fprintf(&b, " alone %s, %+v", r.Own.Class, *r.Pooled)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Neither the order of uploads nor earlier results of the same runs change the judgements and the states.
func TestOrderOfUploadsDoesNotCountInPools(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	withPools(t)
	shared := newLab(t)
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 23))
		var places []string
		var reports []func() *analysis.Report
		invent := func() *analysis.Report {
			list := []finding{{signature: "R", class: stable, callers: serve}}
			for _, signature := range []string{"A", "B", "C"} {
				f := finding{signature: signature, bytes: 7, callers: serve}
				switch rng.IntN(7) {
				case 0:
					continue
				case 1:
					f.class = stable
				case 2:
					f.class, f.odds = cache, new(oneOf(rng, -9, -1, 0.5, 4))
				case 3, 4:
					f.class, f.odds = grows, new(oneOf(rng, -1.0, 1, 4))
				default:
					f.class, f.odds = leak, new(oneOf(rng, 2.0, 4))
				}
				list = append(list, f)
			}
			r := leaksReport(list...)
			if rng.IntN(8) == 0 {
				r.Warnings = []analysis.Warning{{Code: capture.EventsLost, Count: 1}}
				r.Verdict.Status = analysis.StatusInconclusive
			}
			return r
		}
		for build := range 7 {
			for run := range 1 + rng.IntN(2) {
				r := invent()
				places = append(places, fmt.Sprintf("%d/soak/%d", build, run))
				reports = append(reports, func() *analysis.Report { return r })
			}
		}
		var first, firstOrder string
		for try := range 3 {
			l := shared.emptied(t)
			order := rng.Perm(len(places))
			if try == 0 {
				order = order[:0]
				for i := range places {
					order = append(order, i)
				}
			}
			for _, i := range order[:try] {
				l.run(places[i], invent()) // is replaced below
			}
			var told []string
			for _, i := range order {
				l.run(places[i], reports[i]())
				told = append(told, places[i])
			}
			dump := l.dumpPools()
			for _, signature := range []string{"A", "B", "C"} {
				if s, err := l.now().FindSignature(t.Context(), "demo", signature); err == nil && s.Worst != "" {
					dump += state(s) + "\n"
				}
			}
			if try == 0 {
				first, firstOrder = dump, strings.Join(told, " ")
			} else if dump != first {
				t.Fatalf("seed %d, as %s:\n%s\nas %v:\n%s", seed, firstOrder, first, told, dump)
			}
		}
		if !strings.Contains(first, "alone") {
			t.Errorf("seed %d: nothing is pooled", seed)
		}
	}
}
