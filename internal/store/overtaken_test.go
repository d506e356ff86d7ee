package store_test

import (
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// An analysis that a newer one has overtaken changes nothing when it ends, and the gate decides then.
func TestOvertakenAnalysisEndsLast(t *testing.T) {
	for _, end := range []string{"dropped", "failed"} {
		l := newLab(t)
		run := l.run("1", leaksReport(finding{signature: "A", class: leak, bytes: 7}))
		name(t, l.Store, look(t, l.Store, run), "n1")
		slow, old := claim(t, l.Store), input(t, l.Store, run).Revision
		name(t, l.Store, look(t, l.Store, run), "n2")
		fast, now := claim(t, l.Store), input(t, l.Store, run).Revision
		l.sql(`delete from decisions`)
		save(t, l.Store, fast, leaksReport(finding{signature: "A", class: leak, bytes: 8}), "new", now)
		if end == "dropped" {
			save(t, l.Store, slow, leaksReport(finding{signature: "A", class: leak, bytes: 9}), "old", old)
		} else if err := l.FailJob(t.Context(), slow, store.Failure{Code: "internal", Message: "boom", Final: true}); err != nil {
			t.Fatal(err)
		}
		d := must[[]store.StoredDecision](t)(l.now().ListDecisions(t.Context(), run))
		r := must[store.Run](t)(l.now().FindRun(t.Context(), run))
		v := must[leaks.RunVerdict](t)(l.now().FindVerdict(t.Context(), &r, store.GateQuestion{}))
		if len(d) != 1 || v.Gate == leaks.GateError {
			t.Errorf("%s: %d decisions, gate %s", end, len(d), v.Gate)
		}
	}
}
