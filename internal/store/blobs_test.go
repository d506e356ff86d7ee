package store_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/await"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// A labTx is a transaction beside the store.
type labTx struct {
	l    *lab
	conn *pgx.Conn
}

// begin begins a transaction on a connection of its own.
func (l *lab) begin() (labTx, error) {
	conn, err := pgx.ConnectConfig(l.Context(), l.conn.Config())
	if err != nil {
		return labTx{}, err
	}
	l.Cleanup(func() { _ = conn.Close(context.Background()) })
	_, err = conn.Exec(l.Context(), `begin`)
	return labTx{l, conn}, err
}

func (x labTx) Exec(statement string) error {
	_, err := x.conn.Exec(x.l.Context(), statement)
	return err
}

func (x labTx) Commit() error { return x.Exec(`commit`) }

// Blobs that a newer result, newer names or a newer symbol file replace are unwanted; what others refer to is not.
func TestReplacedBlobs(t *testing.T) {
	l := newLab(t)
	l.oldest("a", "b")
	must[store.CreatedSymbolFile](t)(l.CreateSymbolFile(t.Context(), appPDBOf("pdb-sha")))
	l.sql(`update runs set report_key = 'report1', table_key = 'table1', names_key = 'names1'`)
	if got := l.unwanted(); got != "" {
		t.Errorf("the first result: %q", got)
	}
	first := `where id = (select min(id) from runs)`
	for _, step := range []struct{ change, want string }{
		{`update runs set report_key = 'report2', table_key = 'table2', names_key = 'names2' ` + first, ""}, // the other run has the former
		{`update runs set report_key = 'report2'`, "report1"},
		{`update runs set table_key = 'table2'`, "table1"},
		{`update runs set names_key = 'names2'`, "names1"},
		{`update runs set report_key = 'table2', table_key = '' ` + first, ""},
		{`update symbol_files set sha256 = 'other-sha'`, "sha256/pd/pdb-sha"},
	} {
		l.sql(step.change)
		if got := l.unwanted(); got != step.want {
			t.Errorf("%s: %q, want %q", step.change, got, step.want)
		}
		l.sql(`delete from unwanted_blobs`)
	}
}

// Each column that refers to blobs keeps them from being dropped as orphans.
func TestOrphans(t *testing.T) {
	l := newLab(t)
	l.oldest("a")
	l.sql(`insert into captures (evidence_id, ordinal, kind, process, pid, bits, artifact, artifact_bytes, table_key, outstanding_count, outstanding_bytes)
		select id, 0, 'umdh-snapshot', 'app.exe', 1, 64, 'sha256/ar/art', 5, 'sha256/ta/table', 1, 1 from evidence`)
	l.sql(`update runs set report_key = 'sha256/re/report', table_key = 'sha256/ta/table2', names_key = 'sha256/na/names'`)
	must[store.CreatedSymbolFile](t)(l.CreateSymbolFile(t.Context(), appPDBOf("pdb-sha")))
	keys := []string{"sha256/a-/a-sha", "sha256/ar/art", "sha256/ta/table", "sha256/ta/table2", "sha256/re/report", "sha256/na/names", "sha256/pd/pdb-sha", "sha256/or/orphan"}
	orphans := func() string {
		var list []string
		n := must[int](t)(l.DeleteOrphans(t.Context(), keys, func(key string, _ bool) (bool, error) {
			list = append(list, key)
			return true, nil
		}))
		if n != len(list) {
			t.Errorf("%d of %d", n, len(list))
		}
		return strings.Join(list, " ")
	}
	if got := orphans(); got != "sha256/or/orphan" {
		t.Errorf("%q", got)
	}
	for _, step := range []struct{ change, want string }{
		{`update evidence set expired_at = now()`, "sha256/a-/a-sha"}, {`update captures set artifact = ''`, "sha256/ar/art"},
		{`update captures set table_key = ''`, "sha256/ta/table"}, {`update runs set table_key = ''`, "sha256/ta/table2"},
		{`update runs set report_key = ''`, "sha256/re/report"}, {`update runs set names_key = ''`, "sha256/na/names"},
		{`delete from symbol_files`, "sha256/pd/pdb-sha"},
	} {
		before := orphans()
		l.sql(step.change)
		if got := orphans(); len(strings.Fields(got)) != len(strings.Fields(before))+1 || !strings.Contains(got, step.want) {
			t.Errorf("%s: %q", step.change, got)
		}
	}
}

// A labBlobs is a set of blobs.
type labBlobs struct {
	mu   sync.Mutex
	keys map[string]bool
}

func (b *labBlobs) has(_ context.Context, key string) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.keys[key], nil
}

func (b *labBlobs) put(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keys[key] = true
}

func (b *labBlobs) drop(key string, _ bool) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.keys, key)
	return true, nil
}

// A writer has stored its blob and not yet its row when a sweep deletes the blob: the writer hears of it and stores no
// row that names nothing. Everything that names blobs does so.
func TestWriterHearsOfDeletion(t *testing.T) {
	l := newLab(t)
	run := l.run("1", leaksReport())
	blobs := &labBlobs{keys: map[string]bool{}}
	l.HasBlob = blobs.has
	ctx := t.Context()
	if _, err := l.CreateEvidence(ctx, leaks.UploadTarget{Project: "demo", Build: "2"}, store.Evidence{Name: "b", SHA256: "b-sha", Kind: "umdh-snapshot"}); !errors.Is(err, store.ErrBlobGone) {
		t.Errorf("evidence: %v", err)
	}
	if _, err := l.CreateSymbolFile(ctx, appPDBOf("pdb-sha")); !errors.Is(err, store.ErrBlobGone) {
		t.Errorf("symbols: %v", err)
	}
	l.sql(`delete from jobs`)
	lease := func(kind string) store.Lease {
		l.sql(`delete from jobs`)
		l.sql(`insert into jobs (kind, run_id, evidence_id) select $2, $1, case when $2 = 'read' then (select min(id) from evidence) end`, run, kind)
		return claim(t, l.Store)
	}
	c := []store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "art", Table: store.AllocationTable{Key: "table"}}}
	names := must[store.SymbolSearch](t)(l.BeginSymbolSearch(ctx, run))
	for _, step := range []struct {
		name string
		keys []string
		do   func() error
	}{
		{"captures", []string{"art", "table"}, func() error { return l.CreateCaptures(ctx, lease("read"), c) }},
		{"names", []string{"names"}, func() error { return l.UpdateNames(ctx, lease("symbolise"), names, "names") }},
		{"result", []string{"report", "table2"}, func() error {
			return l.UpdateResult(ctx, lease("analyse"), store.Result{Report: leaksReport(), ReportKey: "report", Revision: 99, Table: store.AllocationTable{Key: "table2"}})
		}},
	} {
		for _, key := range step.keys { // all but the last are there, and one is gone each time
			if err := step.do(); !errors.Is(err, store.ErrBlobGone) {
				t.Errorf("%s without %s: %v", step.name, key, err)
			}
			blobs.put(key)
		}
		if err := step.do(); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
	}
}

// Writers and a sweep that work on the same contents at the same time, each with its steps in any order: no row is ever
// stored whose blob is gone.
func TestSweepBesideWriters(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	l := newLab(t)
	blobs := &labBlobs{keys: map[string]bool{}}
	l.HasBlob = blobs.has
	names := []string{"a", "b", "c", "d"}
	var keys []string
	for _, name := range names {
		keys = append(keys, "sha256/"+(name + "-sha")[:2]+"/"+name+"-sha")
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var sweeps sync.WaitGroup
	var alone sync.RWMutex // held by a writer that must not lose: sweeps may win all other races
	for range 2 {
		sweeps.Go(func() {
			for ctx.Err() == nil {
				alone.RLock()
				_, err := l.DeleteOrphans(ctx, keys, blobs.drop)
				_, err2 := l.DeleteUnwantedBlobs(ctx, 10, blobs.drop)
				alone.RUnlock()
				if err := errors.Join(err, err2); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var stored, lost int
	for i := range 200 {
		name := names[i%len(names)]
		if i%10 == 0 {
			alone.Lock()
		}
		blobs.put(keys[i%len(names)]) // and the sweep comes, or does not
		e, err := l.CreateEvidence(t.Context(), leaks.UploadTarget{Project: "demo", Build: "1"}, store.Evidence{Name: name, SHA256: name + "-sha", Kind: "umdh-snapshot"})
		if i%10 == 0 {
			alone.Unlock()
		}
		switch {
		case errors.Is(err, store.ErrBlobGone):
			lost++
		case err != nil:
			t.Fatal(err)
		default:
			stored++
			if has, _ := blobs.has(t.Context(), keys[i%len(names)]); !has {
				t.Fatalf("the row of %s names a blob that is gone", name)
			}
			l.sql(`update evidence set expired_at = now() where id = $1`, e.ID)
		}
	}
	stop()
	sweeps.Wait()
	t.Logf("%d stored, %d heard that the blob was gone", stored, lost)
	if stored == 0 {
		t.Error("nothing was stored")
	}
}

// A sweep waits for no writer: content that is being recorded is passed over.
func TestSweepPassesOverWriters(t *testing.T) {
	l := newLab(t)
	tx := must[labTx](t)(l.begin())
	if err := tx.Exec(`select pg_advisory_xact_lock_shared(1145653061, hashtext('b'))`); err != nil { // as a writer does
		t.Fatal(err)
	}
	dropped := func() (n int) {
		return must[int](t)(l.DeleteOrphans(t.Context(), []string{"sha256/a/a", "sha256/b/b"}, func(string, bool) (bool, error) { return true, nil }))
	}
	if n := dropped(); n != 1 {
		t.Errorf("%d dropped while one is being recorded", n)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := dropped(); n != 2 {
		t.Errorf("%d dropped", n)
	}
}

// An upload of the same bytes waits for a deletion and is recorded after it: the caller sees that the content is gone.
func TestUploadWaitsForDeletion(t *testing.T) {
	l := newLab(t)
	l.oldest("a")
	l.expire(1)
	var wait sync.WaitGroup
	deleted := false
	if _, err := l.DeleteUnwantedBlobs(t.Context(), 1, func(string, bool) (bool, error) {
		wait.Go(func() {
			addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: "9"}, "a")
			if !deleted {
				t.Error("the upload did not wait")
			}
		})
		await.Until(t, "the upload to wait for a lock", func() bool {
			return must[int](t)(scan[int](l, `select count(*)::int from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`)) > 0
		})
		deleted = true
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	wait.Wait()
}

// One of those who ask is to do a round, and not again before the time is over.
func TestClaimRound(t *testing.T) {
	l := newLab(t)
	claim := func(every time.Duration) bool {
		return must[bool](t)(l.ClaimRound(t.Context(), "orphans", every))
	}
	if !claim(time.Hour) || claim(time.Hour) {
		t.Error("the first round is not one caller's")
	}
	l.sql(`update rounds set at = now() - interval '59 minutes'`)
	if claim(time.Hour) {
		t.Error("a round began a minute early")
	}
	l.sql(`update rounds set at = now() - interval '1 hour'`)
	if !claim(time.Hour) {
		t.Error("no round after an hour")
	}
}

// What was freed adds up over 30 days.
func TestFreed(t *testing.T) {
	l := newLab(t)
	for range 2 {
		if err := l.CreateFreed(t.Context(), "orphans", store.Removal{Files: 2, Bytes: 50}); err != nil {
			t.Fatal(err)
		}
	}
	l.sql(`insert into freed (day, what, files, bytes) values ((now() at time zone 'UTC')::date - 29, 'orphans', 1, 1), ((now() at time zone 'UTC')::date - 30, 'orphans', 9, 9)`)
	list := must[[]store.FreedFigure](t)(l.now().ListFreedFigures(t.Context()))
	if len(list) != 1 || list[0].Files != 5 || list[0].Bytes != 101 {
		t.Errorf("%+v", list)
	}
}
