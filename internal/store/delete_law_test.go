package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// knownOf prints everything a project says of signatures: judgements of runs together, states, and history.
func (l *lab) knownOf(signatures ...string) string {
	l.Helper()
	dump := l.dumpPools()
	for _, text := range signatures {
		s, err := l.now().FindSignature(l.Context(), "demo", text)
		if err != nil || s.FirstBad == "" {
			continue
		}
		dump += fmt.Sprintf("%s in %s: %s, %s %d\n", text, s.Text, state(s), s.Latest.Class, s.Latest.Outstanding.Bytes)
		for _, in := range s.States {
			dump += fmt.Sprintf("  %s %s..%s clean %s absent %t tried %s\n", in.Scenario, in.FirstBad, in.LastBad,
				in.FirstCleanAfter, in.Absent, in.LastUndecided)
		}
		h := must[*store.History](l)(l.now().FindHistory(l.Context(), "demo", text))
		for _, o := range h.Outcomes {
			dump += fmt.Sprintf("  %s/%s %d runs, seen %v absent %v\n", o.Build, o.Scenario, o.Runs,
				o.Judgement, o.Absent != nil)
		}
	}
	return dump
}

// After runs and a build are deleted, a project says what it would say if they had never been there. Histories are
// invented, in any order.
func TestDeletedRunsWereNeverThere(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	withPools(t)
	deleted, never := newLab(t), newLab(t)
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 29))
		invent := func() *analysis.Report {
			list := []finding{{signature: "R", class: stable, callers: serve}}
			for _, signature := range []string{"A", "B", "C"} {
				f := finding{signature: signature, bytes: int64(rng.IntN(50)), callers: serve}
				switch rng.IntN(7) {
				case 0, 1:
					continue
				case 2:
					f.class = stable
				case 3:
					f.class, f.odds = cache, new(oneOf(rng, -9, -1, 0.5, 4))
				case 4:
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
		var places []string
		reports := map[string]*analysis.Report{}
		for build := range 6 {
			for _, scenario := range []string{"soak", "smoke"} {
				for run := range rng.IntN(3) {
					place := fmt.Sprintf("%d/%s/%d", build, scenario, run)
					places, reports[place] = append(places, place), invent()
				}
			}
		}
		l, other := deleted.emptied(t), never.emptied(t)
		for _, i := range rng.Perm(len(places)) {
			l.run(places[i], reports[places[i]])
		}
		gone := map[string]bool{}
		build := fmt.Sprint(rng.IntN(6))
		if err := l.DeleteBuild(t.Context(), "demo", build, "ann"); err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		for _, place := range places {
			if strings.HasPrefix(place, build+"/") {
				gone[place] = true
			} else if rng.IntN(3) == 0 {
				gone[place] = true
				if err := l.DeleteRun(t.Context(), l.runs[place], "ann"); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, place := range places {
			if !gone[place] {
				other.run(place, reports[place])
			}
		}
		if got, want := l.knownOf("A", "B", "C"), other.knownOf("A", "B", "C"); got != want {
			t.Errorf("seed %d, without %v:\n%s\nnever uploaded:\n%s", seed, gone, got, want)
		}
	}
}

// An analysis that began before a file of its run was deleted stores nothing of that file.
func TestLateAnalysisOfDeletedFile(t *testing.T) {
	l := newLab(t)
	run := l.run("1", leaksReport(finding{signature: "A", class: stable}))
	e := addEvidence(l, l.Store, leaks.UploadTarget{Project: "demo", Build: "1"}, "b.txt")
	l.sql(`insert into captures (evidence_id, ordinal, kind, process, pid, bits, artifact, artifact_bytes, outstanding_count, outstanding_bytes) values ($1, 0, 'umdh-snapshot', 'app.exe', 1, 64, 'art2', 5, 1, 1)`, e.ID)
	l.sql(`update evidence set state = 'read' where id = $1`, e.ID)
	l.sql(`delete from jobs where evidence_id = $1`, e.ID)
	l.again("1")
	var lease store.Lease
	for _, d := range must[[]store.DueJob](t)(l.DispatchAllJobs(t.Context(), 0)) {
		lease = must[store.Lease](t)(l.ClaimJob(t.Context(), d.ID, time.Minute))
	}
	revision := input(t, l.Store, run).Revision
	if err := l.DeleteEvidence(t.Context(), run, e.ID, "ann"); err != nil {
		t.Fatal(err)
	}
	err := l.UpdateResult(t.Context(), lease,
		store.Result{Report: leaksReport(finding{signature: "ONLY-IN-B", class: leak, bytes: 7}),
			ReportKey: "k", Revision: revision})
	if got := l.text(`select coalesce(string_agg(s.text, ' '), '') from findings f join signatures s on s.id = f.signature_id`); strings.Contains(got, "ONLY-IN-B") {
		t.Errorf("stored (%v): %s", err, got)
	}
}

// If the team says that a build has the fix and that build is deleted, the leak stays fixed and may regress.
func TestDeleteBuildWithTheFix(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak, bytes: 7}))
	l.run("2", leaksReport(finding{signature: "R", class: stable}))
	l.change("A", leaks.TriageChange{Version: -1, Fixed: new("2")})
	if err := l.DeleteBuild(t.Context(), "demo", "2", "ann"); err != nil {
		t.Fatal(err)
	}
	if got := l.signature("A").State; got != leaks.StateFixed {
		t.Errorf("the leak is %s", got)
	}
	l.run("3", leaksReport(finding{signature: "A", class: leak, bytes: 7}))
	if got := l.signature("A").State; got != leaks.StateRegressed {
		t.Errorf("the leak comes back, and is %s", got)
	}
}

// A merge sets aside the team's word, which names a build; the build is deleted, and the merge is taken back.
func TestSplitAfterBuildDeleted(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak, bytes: 7}, finding{signature: "B", class: leak, bytes: 7}))
	l.run("2", leaksReport(finding{signature: "R", class: stable}))
	l.change("B", leaks.TriageChange{Version: -1, Fixed: new("2")})
	l.sql(`update signatures a set alias_of = b.id, root_id = b.id, alias_by = 'ann', alias_version = b.version,
		alias_word = jsonb_build_object('mark', 'fixed', 'marked_by', 'ann', 'fixed_id', b.fixed_id, 'of', b.id) from signatures b where a.text = 'A' and b.text = 'B'`)
	l.sql(`update signatures set mark = '', fixed_id = null where text = 'B'`) // or the build would stay
	if err := l.DeleteBuild(t.Context(), "demo", "2", "ann"); err != nil {
		t.Fatal(err)
	}
	l.again("1")
	l.sql(`update signatures set alias_by = '' where text = 'A'`)
	var lease store.Lease
	for _, d := range must[[]store.DueJob](t)(l.DispatchAllJobs(t.Context(), 0)) {
		lease = must[store.Lease](t)(l.ClaimJob(t.Context(), d.ID, time.Minute))
	}
	if err := l.UpdateResult(t.Context(), lease,
		store.Result{Report: leaksReport(finding{signature: "A", class: leak, bytes: 7},
			finding{signature: "B", class: leak, bytes: 7}), ReportKey: "k",
			Revision: input(t, l.Store, lease.RunID).Revision}); err != nil {
		t.Errorf("no result of the run can be stored: %v", err)
	}
}
