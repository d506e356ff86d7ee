package store_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/uploadstore"
)

// Large tables of results have no foreign keys. Their rows are still deleted with their run and project, and the rows
// of others stay.
func TestRowsGoWithTheirParent(t *testing.T) {
	l := newLab(t)
	for _, build := range []string{"1", "2"} {
		l.run(build, leaksReport(finding{signature: "A", class: leak, bytes: 7}, finding{signature: "B", class: stable}))
	}
	left := func() string {
		return l.text(`select (select count(*) from sites) || ' ' || (select count(distinct run_id) from site_names) || ' ' || (select count(*) from findings) || ' ' || (select count(*) from signatures)`)
	}
	if got := left(); got != "4 2 4 2" {
		t.Fatal(got)
	}
	l.sql(`delete from builds where name = '1'`)
	if got := left(); got != "2 1 2 2" {
		t.Errorf("one of two builds deleted: %s rows are left", got)
	}
	l.sql(`delete from projects`)
	if got := left(); got != "0 0 0 0" {
		t.Errorf("the project deleted: %s rows are left", got)
	}
}

// deletable are the builds of the tests below: A is bad in some and clean in others, and each build has one run.
var deletable = []upload{
	{build: "b1", class: stable, taken: on(1)}, {build: "b2", class: leak, taken: on(2)},
	{build: "b3", class: leak, taken: on(3)}, {build: "b4", class: stable, taken: on(4)},
	{build: "b5", class: leak, taken: on(5)},
}

// rest is what the project says of its leak once the builds in a bit mask, or their runs, are gone.
func rest(l *lab, gone int, remove func(l *lab, build string, run int64) error) string {
	for i, u := range deletable {
		if remove == nil && gone>>i&1 != 0 {
			continue // never there
		}
		l.upload(u)
	}
	if remove != nil {
		for i, u := range deletable {
			if gone>>i&1 == 0 {
				continue
			}
			run := must[int64](l)(strconv.ParseInt(l.text(`select r.id from runs r join builds b on b.id = r.build_id where b.name = '`+u.build+`'`), 10, 64))
			if err := remove(l, u.build, run); err != nil {
				l.Fatal(err)
			}
		}
	}
	figures := l.text(`select concat_ws(' ', class, outstanding_bytes, certain) from signatures where text = 'A'`)
	return l.told() + "\n" + figures
}

// After builds are deleted, a project says what it would say if they had never been there: for single builds and some
// sets of them that leave a build with the leak.
func TestDeletedBuildsWereNeverThere(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	shared := newLab(t)
	for _, gone := range []int{0b00001, 0b00010, 0b00100, 0b01000, 0b10000, 0b11000, 0b10100,
		0b01110, 0b10111 &^ 0b00010} {
		deleted := rest(shared.emptied(t), gone,
			func(l *lab, build string, _ int64) error { return l.DeleteBuild(l.Context(), "demo", build, "ada") })
		if want := rest(shared.emptied(t), gone, nil); deleted != want {
			t.Errorf("without builds %05b\n%s\nwant\n%s", gone, deleted, want)
		}
	}
}

// A build whose run is deleted stays in the order, and says nothing.
func TestDeleteRun(t *testing.T) {
	l := newLab(t)
	for _, u := range deletable {
		l.upload(u)
	}
	if before := l.signature("A"); before.State != leaks.StateRegressed {
		t.Fatal(before.State)
	}
	run := must[int64](t)(strconv.ParseInt(l.text(`select r.id from runs r join builds b on b.id = r.build_id where b.name = 'b5'`), 10, 64))
	if err := l.DeleteRun(t.Context(), run, "ada"); err != nil {
		t.Fatal(err)
	}
	if after := l.signature("A"); after.State != leaks.StateFixed || l.order() != "b1 b2 b3 b4 b5" {
		t.Errorf("%s, %s", after.State, l.order())
	}
	if err := l.DeleteRun(t.Context(), run, "ada"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if err := l.DeleteBuild(t.Context(), "demo", "none", "ada"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if err := l.DeleteProject(t.Context(), "none", "ada"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	audit := must[[]store.AuditRow](t)(l.now().ListProjectChanges(t.Context(), "demo", store.AuditPage{Limit: 1}))
	if len(audit) != 1 || audit[0].Action != "delete" || audit[0].Actor != "ada" ||
		!strings.Contains(string(audit[0].Before), `"build": "b5"`) {
		t.Errorf("%+v", audit)
	}
}

// A job that is running when its run is deleted stores nothing, and is told that its lease is gone.
func TestDeleteUnderWork(t *testing.T) {
	l := newLab(t)
	e := addEvidence(l, l.Store, leaks.UploadTarget{Project: "demo", Build: "1"}, "a.txt")
	lease := claim(l, l.Store)
	if err := l.DeleteRun(t.Context(), e.RunID, "ada"); err != nil {
		t.Fatal(err)
	}
	if err := l.CreateCaptures(t.Context(), lease,
		[]store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "art", Bytes: 5}}); !errors.Is(err, store.ErrFenced) &&
		!errors.Is(err, store.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if n := l.text(`select (select count(*) from captures) + (select count(*) from jobs)`); n != "0" {
		t.Errorf("%s rows are left", n)
	}
}

// One of several files may be deleted: files that were read together with it are read again. The last file stays.
func TestDeleteEvidence(t *testing.T) {
	l := newLab(t)
	target := leaks.UploadTarget{Project: "demo", Build: "1"}
	var ids []int64
	run := int64(0)
	for _, name := range []string{"a.etl", "b.etl"} {
		e := addEvidence(l, l.Store, target, name)
		ids, run = append(ids, e.ID), e.RunID
		l.sql(`delete from jobs where kind <> 'read'`)
		if err := l.CreateCaptures(t.Context(), claim(l, l.Store),
			[]store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "art", Bytes: 5}}, ids...); err != nil {
			t.Fatal(err)
		}
	}
	revision := func() string { return l.text(`select input_rev from runs`) }
	before := revision()
	if err := l.DeleteEvidence(t.Context(), run, ids[0], "ada"); err != nil {
		t.Fatal(err)
	}
	if got := l.text(`select string_agg(name || ' ' || state, ',') from evidence`) + l.text(`select (select count(*) from captures) || ' ' || (select count(*) from jobs where kind = 'read' and state = 'queued')`); got != "b.etl stored0 1" || revision() == before {
		t.Error(got)
	}
	var field *leaks.FieldError
	if err := l.DeleteEvidence(t.Context(), run, ids[1], "ada"); !errors.As(err, &field) || field.Field != "evidence" {
		t.Errorf("%v", err)
	}
	if err := l.DeleteEvidence(t.Context(), run+1, ids[1], "ada"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("by way of another run: %v", err)
	}
}

// Blobs of deleted builds are dropped once nothing refers to them; a blob that could not be dropped is tried again.
func TestDropUnwanted(t *testing.T) {
	l := newLab(t)
	for _, u := range deletable[:2] {
		l.upload(u)
	}
	drop := func(gone bool) string {
		var keys []string
		if _, err := l.DeleteUnwantedBlobs(t.Context(), 100, func(key string, idle bool) (bool, error) {
			keys = append(keys, key)
			return gone, nil
		}); err != nil {
			t.Fatal(err)
		}
		return strings.Join(keys, " ")
	}
	if got := drop(true); got != "" {
		t.Errorf("nothing is deleted: %s", got)
	}
	for i, want := range []string{"", "art names report sha256/af/afalse.txt-sha"} { // the second build has the same files
		if err := l.DeleteBuild(t.Context(), "demo", deletable[i].build, "ada"); err != nil {
			t.Fatal(err)
		}
		if got := drop(false); got != want {
			t.Errorf("after %d: %q, want %q", i+1, got, want)
		}
	}
	l.upload(upload{build: "b9", class: leak}) // and with it the same content again
	if got := drop(true); got != "" {
		t.Errorf("what is referred to again: %s", got)
	}
	if err := l.DeleteProject(t.Context(), "demo", "ada"); err != nil {
		t.Fatal(err)
	}
	if got := drop(true); got == "" || drop(true) != "" {
		t.Errorf("a project: %q", got)
	}
	if left := l.text(`select (select count(*) from projects) + (select count(*) from runs) + (select count(*) from signatures)`); left != "0" {
		t.Errorf("%s rows are left", left)
	}
	if audit := must[[]store.AuditRow](t)(l.now().ListServerChanges(t.Context(),
		store.AuditPage{Limit: 1})); len(audit) != 1 ||
		!strings.Contains(string(audit[0].Before), "demo") {
		t.Errorf("%+v", audit)
	}
}

// The date of a build is that of its first evidence that is left, and of no other build's.
func TestDateOfWhatIsLeft(t *testing.T) {
	l := newLab(t)
	runs := map[string]int64{}
	for _, r := range []struct {
		build, run string
		day        int
	}{{"b1", "1", 1}, {"b1", "2", 5}, {"b1", "3", 7}, {"b2", "1", 2}} {
		e := addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: r.build, Run: r.run}, r.build+r.run)
		c := snapshot(1, 0)
		c.Snapshots[0].TakenAt = on(r.day)
		if err := l.CreateCaptures(t.Context(), claim(t, l.Store),
			[]store.StoredCapture{{Capture: c, ArtifactKey: "art", Bytes: 5}}); err != nil {
			t.Fatal(err)
		}
		l.sql(`delete from jobs`)
		runs[r.build+"/"+r.run] = e.RunID
	}
	dates := func() string {
		return l.text(`select string_agg(name || ' ' || coalesce(extract(day from taken_at at time zone 'UTC')::text, 'none'), ', ' order by name) from builds`)
	}
	if got, want := dates(), "b1 1, b2 2"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	for _, step := range []struct{ run, want string }{{"b1/1", "b1 5, b2 2"}, {"b2/1", "b1 5, b2 none"}} {
		if err := l.DeleteRun(t.Context(), runs[step.run], "ann"); err != nil {
			t.Fatal(err)
		}
		if got := dates(); got != step.want {
			t.Errorf("without run %s: %s, want %s", step.run, got, step.want)
		}
	}
	// A build that stays because a fix is in it has no date any more, nor the evidence that a leak was described by.
	l.sql(`insert into signatures (id, root_id, kind, project_id, text, title, fixed_id, described_id) overriding system value select 999, 999, 'heap', project_id, 'A', 'A', id, id from builds where name = 'b1'`)
	if err := l.DeleteBuild(t.Context(), "demo", "b1", "ann"); err != nil {
		t.Fatal(err)
	}
	if got, want := dates(), "b1 none, b2 none"; got != want {
		t.Errorf("without the runs of b1: %s, want %s", got, want)
	}
	if described := l.text(`select coalesce(described_id::text, 'none') from signatures`); described != "none" {
		t.Errorf("described by build %s", described)
	}
}

// Uploads to a deleted project are swept with the next stale ones; those to other projects go on.
func TestUploadsOfADeletedProject(t *testing.T) {
	l := newLab(t)
	for _, project := range []string{"demo", "other"} {
		if err := l.CreateProject(t.Context(), project, 0, "test"); err != nil {
			t.Fatal(err)
		}
		if err := uploadstore.CreateUpload(t.Context(), l.Store,
			uploadstore.Upload{ID: project, Length: 10, Target: []byte(`{"project":"` + project + `"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	stale := func() (ids string) {
		for _, u := range must[[]uploadstore.Upload](t)(uploadstore.ListStaleUploads(t.Context(), l.now(), 24*time.Hour)) {
			ids += u.ID
		}
		return ids
	}
	if got := stale(); got != "" {
		t.Errorf("stale are %q", got)
	}
	if err := l.DeleteProject(t.Context(), "demo", "ann"); err != nil {
		t.Fatal(err)
	}
	if got := stale(); got != "demo" {
		t.Errorf("stale are %q, want those of the deleted project", got)
	}
}
