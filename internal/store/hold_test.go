package store_test

import (
	"errors"
	"testing"

	"heapdrift/internal/await"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// Nothing of a held run or project is deleted by hand; what is not held is. The audit has who placed and lifted a hold.
func TestHoldKeeps(t *testing.T) {
	l := newLab(t)
	l.oldest("a", "b")
	run := must[int64](t)(scan[int64](l, `select r.id from runs r join builds b on b.id = r.build_id where b.name = 'a'`))
	file := must[int64](t)(scan[int64](l, `select id from evidence where name = 'a'`))
	second := addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: "a"}, "a2")
	l.sql(`delete from jobs`)
	ctx := t.Context()
	refused := func(what string, want bool, errs ...error) {
		t.Helper()
		for i, err := range errs {
			if errors.Is(err, store.ErrHeld) != want {
				t.Errorf("%s, %d: %v", what, i, err)
			}
		}
	}
	for _, hold := range []func() error{
		func() error { return l.CreateRunHold(ctx, run, "case 7", "ann") },
		func() error { return l.CreateProjectHold(ctx, "demo", "case 8", "ann") },
	} {
		if err := hold(); err != nil {
			t.Fatal(err)
		}
		refused("held", true, l.DeleteEvidence(ctx, run, file, "bob"), l.DeleteRun(ctx, run, "bob"),
			l.DeleteBuild(ctx, "demo", "a", "bob"), l.DeleteProject(ctx, "demo", "bob"))
		if err := errors.Join(l.DeleteRunHold(ctx, run, "ann")); err != nil {
			t.Fatal(err)
		}
	}
	refused("the run of a held project", true, l.DeleteRun(ctx, run, "bob"))
	if h := must[*leaks.Hold](t)(l.now().FindProjectHold(ctx, "demo")); h == nil || h.Reason != "case 8" || h.By != "ann" {
		t.Errorf("%+v", h)
	}
	if err := l.DeleteProjectHold(ctx, "demo", "cid"); err != nil {
		t.Fatal(err)
	}
	if err := l.CreateRunHold(ctx, run, "case 9", "ann"); err != nil {
		t.Fatal(err)
	}
	if h := must[*leaks.Hold](t)(l.now().FindRunHold(ctx, run)); h == nil || h.Reason != "case 9" {
		t.Errorf("%+v", h)
	}
	refused("another build", false, l.DeleteBuild(ctx, "demo", "b", "bob"))
	if err := l.DeleteRunHold(ctx, run, "ann"); err != nil {
		t.Fatal(err)
	}
	if h := must[*leaks.Hold](t)(l.now().FindRunHold(ctx, run)); h != nil {
		t.Errorf("%+v", h)
	}
	refused("lifted", false, l.DeleteEvidence(ctx, run, second.ID, "bob"), l.DeleteRun(ctx, run, "bob"))
	if got := l.text(`select string_agg(concat_ws(' ', actor, before->>'hold', '→', after->>'hold'), ', ' order by id) from project_audit where action = 'hold'`); got !=
		"ann  → case 7, ann case 7 → , ann  → case 8, cid case 8 → , ann  → case 9, ann case 9 → " {
		t.Error(got)
	}
	if err := l.CreateRunHold(ctx, run, "gone", "ann"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	var field *leaks.FieldError
	if err := l.CreateProjectHold(ctx, "demo", "", "ann"); !errors.As(err, &field) || field.Field != "reason" {
		t.Error(err)
	}
}

// A hold that returns while retention is at work keeps what was not deleted before: the two take turns.
func TestHoldWaitsForRetention(t *testing.T) {
	l := newLab(t)
	l.oldest("a")
	run := must[int64](t)(scan[int64](l, `select id from runs`))
	tx := must[labTx](t)(l.begin())
	if err := tx.Exec(`select pg_advisory_xact_lock_shared(1213156420)`); err != nil { // as retention does
		t.Fatal(err)
	}
	held := make(chan error, 1)
	go func() { held <- l.CreateRunHold(t.Context(), run, "case 7", "ann") }()
	await.Until(t, "the hold to wait", func() bool {
		return must[int](t)(scan[int](l, `select count(*)::int from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`)) == 1
	})
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-held; err != nil {
		t.Fatal(err)
	}
	if n := l.expire(1); n != 0 {
		t.Errorf("%d held files expired", n)
	}
}
