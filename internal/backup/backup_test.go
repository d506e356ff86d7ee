package backup_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heapdrift/internal/await"
	"heapdrift/internal/backup"
	"heapdrift/internal/blob"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/backupstore"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m, store.Migrate) }

// A place is an installation with a connection to its database and the folder of its blobs.
type place struct {
	testing.TB
	backup.Installation
	query func(ctx context.Context, query string) (string, error)
	exec  func(ctx context.Context, statement string, args ...any) error
	dir   string
}

func newPlace(t testing.TB) *place {
	t.Helper()
	s, conn := storetest.Open(t)
	dir := t.TempDir()
	p := &place{TB: t, Installation: backup.Installation{Store: s, Blobs: open(t, dir)}, dir: dir}
	p.query = func(ctx context.Context, query string) (text string, err error) {
		err = conn.QueryRow(ctx, query).Scan(&text)
		return text, err
	}
	p.exec = func(ctx context.Context, statement string, args ...any) error {
		_, err := conn.Exec(ctx, statement, args...)
		return err
	}
	s.HasBlob = func(ctx context.Context, key string) (bool, error) {
		_, err := p.Blobs.Stat(ctx, key)
		if errors.Is(err, blob.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
	return p
}

func open(t testing.TB, dir string) blob.Store {
	t.Helper()
	return storetest.Must[blob.Store](t)(blob.Open(t.Context(), "file://"+dir))
}

// upload stores a file of a run, as an upload does.
func (p *place) upload(run, content string) store.Evidence {
	p.Helper()
	digest := storetest.Must[blob.Digest](p)(blob.PutContent(p.Context(), p.Blobs, strings.NewReader(content)))
	return storetest.Must[store.Evidence](p)(p.Store.CreateEvidence(p.Context(), leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: run},
		store.Evidence{Name: run + ".txt", SHA256: digest.SHA256, Bytes: digest.Bytes, Kind: "umdh-snapshot"}))
}

func (p *place) write(to blob.Store) backup.Manifest {
	p.Helper()
	return storetest.Must[backup.Manifest](p)(backup.Write(p.Context(), p.Installation, to, backup.WriteOptions{Version: "1"}))
}

func (p *place) restore(from blob.Store, name string, force bool) backup.Restored {
	p.Helper()
	return storetest.Must[backup.Restored](p)(backup.Restore(p.Context(), from, name, p.Installation, force))
}

// dangling are the blobs that rows name and that are not there.
func (p *place) dangling() (keys []string) {
	p.Helper()
	uses := storetest.Must[[]backupstore.BlobUse](p)(store.Read(p.Context(), p.Store, func(v store.View) ([]backupstore.BlobUse, error) {
		return backupstore.ListBlobUses(p.Context(), v)
	}))
	for _, use := range uses {
		if has := storetest.Must[bool](p)(p.Store.HasBlob(p.Context(), use.Key)); !has {
			keys = append(keys, use.Of)
		}
	}
	return keys
}

// text is what a query returns, as text.
func (p *place) text(query string) string {
	p.Helper()
	return storetest.Must[string](p)(p.query(p.Context(), query))
}

func (p *place) sql(statement string, args ...any) {
	p.Helper()
	if err := p.exec(p.Context(), statement, args...); err != nil {
		p.Fatal(err)
	}
}

// While uploads and deletions go on, backups are written: none has a row whose blob it lacks.
func TestBackupBesideUploadsAndDeletions(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p, to := newPlace(t), open(t, t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	var work sync.WaitGroup
	uploads := 0
	work.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			content := fmt.Sprint("content ", i%40) // the same contents come again after they were deleted
			digest, err := blob.PutContent(ctx, p.Blobs, strings.NewReader(content))
			if err == nil {
				_, err = p.Store.CreateEvidence(ctx, leaks.UploadTarget{Project: "p", Build: "1", Run: fmt.Sprint(i)},
					store.Evidence{Name: "a.txt", SHA256: digest.SHA256, Bytes: digest.Bytes, Kind: "umdh-snapshot"})
			}
			if err != nil && !errors.Is(err, store.ErrBlobGone) && ctx.Err() == nil {
				t.Error(err)
				return
			}
			uploads++
		}
	})
	var deleted atomic.Int64
	work.Go(func() {
		drop := func(key string, _ bool) (bool, error) { return true, p.Blobs.Delete(ctx, key) }
		for ctx.Err() == nil {
			_, err := p.Store.ExpireEvidence(ctx, store.RetentionDefaults{EvidenceBytes: 60}, 20)
			n, err2 := p.Store.DeleteUnwantedBlobs(ctx, 50, drop)
			deleted.Add(int64(n))
			if err := errors.Join(err, err2); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	})
	cancelled := func() { // its jobs must not keep the files
		for ctx.Err() == nil {
			if err := p.exec(ctx, `update jobs set state = 'failed' where state = 'queued'`); err != nil {
				return
			}
		}
	}
	work.Go(cancelled)
	var manifests []backup.Manifest
	for range 3 {
		before := deleted.Load()
		await.Until(t, "a blob to be deleted", func() bool { return deleted.Load() > before })
		m := p.write(to)
		if len(m.Lost) > 0 {
			t.Fatalf("the backup lacks %v", m.Lost)
		}
		manifests = append(manifests, m)
	}
	stop()
	work.Wait()
	t.Logf("%d uploads, %d blobs deleted, the last backup has %d", uploads, deleted.Load(), manifests[2].Blobs.Count)
	empty := newPlace(t)
	for _, m := range manifests {
		if r := empty.restore(to, m.Name, true); len(r.Lost) > 0 || len(empty.dangling()) > 0 {
			t.Errorf("%s: %v, %v", m.Name, r.Lost, empty.dangling())
		}
	}
}

// Deletions wait until the backup has copied the blobs of its snapshot.
func TestDeletionsWaitForBackup(t *testing.T) {
	p, to := newPlace(t), open(t, t.TempDir())
	e := p.upload("a", "content")
	p.sql(`delete from jobs`)
	dropped := func() int {
		return storetest.Must[int](t)(p.Store.DeleteUnwantedBlobs(t.Context(), 9, func(key string, _ bool) (bool, error) {
			return true, p.Blobs.Delete(t.Context(), key)
		}))
	}
	m := storetest.Must[backup.Manifest](t)(backup.Write(t.Context(), p.Installation, to, backup.WriteOptions{Snapshot: func() {
		if err := p.Store.DeleteRun(t.Context(), e.RunID, "ann"); err != nil {
			t.Error(err)
		}
		if n := dropped(); n != 0 {
			t.Errorf("%d blobs were deleted during the backup", n)
		}
		if _, err := backup.Write(t.Context(), p.Installation, to, backup.WriteOptions{}); !errors.Is(err, backup.ErrBusy) {
			t.Errorf("a second backup at the same time: %v", err)
		}
	}}))
	if m.Blobs.Copied != 1 || len(m.Lost) != 0 {
		t.Errorf("%+v", m.Blobs)
	}
	if n := dropped(); n != 1 {
		t.Errorf("%d blobs were deleted after the backup", n)
	}
}

// A second backup copies what is new. With verify it also copies anew what was damaged in the place.
func TestBackupIsIncremental(t *testing.T) {
	dir := t.TempDir()
	p, to := newPlace(t), open(t, dir)
	e := p.upload("a", "first")
	if m := p.write(to); m.Blobs.Copied != 1 || m.Blobs.Count != 1 || m.Blobs.Bytes != 5 {
		t.Errorf("%+v", m.Blobs)
	}
	p.upload("b", "second")
	if m := p.write(to); m.Blobs.Copied != 1 || m.Blobs.Count != 2 || m.Blobs.Bytes != 6 {
		t.Errorf("%+v", m.Blobs)
	}
	damage(t, dir, e.SHA256)
	for _, verify := range []bool{false, true, true} {
		m := storetest.Must[backup.Manifest](t)(backup.Write(t.Context(), p.Installation, to, backup.WriteOptions{Verify: verify}))
		want := 0
		if verify && read(t, dir, e.SHA256) == "first" {
			want = m.Blobs.Copied // the first verification has copied it
		}
		if m.Blobs.Copied != want || verify && read(t, dir, e.SHA256) != "first" {
			t.Errorf("verify %t: %+v", verify, m.Blobs)
		}
	}
}

func blobFile(dir, sha string) string {
	return filepath.Join(dir, filepath.FromSlash(blob.ContentKey(sha)))
}

func damage(t *testing.T, dir, sha string) {
	t.Helper()
	if err := os.WriteFile(blobFile(dir, sha), []byte("xxxxx"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, sha string) string {
	t.Helper()
	return string(storetest.Must[[]byte](t)(os.ReadFile(blobFile(dir, sha))))
}

// A blob that is damaged or missing, in the server or in the backup, is named with its file; all else is copied.
func TestLostBlobsAreNamed(t *testing.T) {
	dir := t.TempDir()
	p, to := newPlace(t), open(t, dir)
	a, b, c := p.upload("a", "aaaaa"), p.upload("b", "bbbbb"), p.upload("c", "ccccc")
	damage(t, p.dir, a.SHA256)
	m := p.write(to)
	want := "file a.txt of run 1: is damaged: its 5 bytes have another digest"
	if len(m.Lost) != 1 || !strings.HasPrefix(m.Lost[0].String(), want) || m.Blobs.Copied != 2 {
		t.Errorf("%v, %+v", m.Lost, m.Blobs)
	}
	damage(t, dir, b.SHA256)
	empty := newPlace(t)
	r := empty.restore(to, "", false)
	var lost []string
	for _, l := range r.Lost {
		of, _, _ := strings.Cut(l.String(), " (blob")
		lost = append(lost, of)
	}
	slices.Sort(lost)
	if !slices.Equal(lost, []string{"file a.txt of run 1: is missing", "file b.txt of run 2: is damaged: its 5 bytes have another digest"}) || r.Copied != 1 {
		t.Errorf("%v, %d copied", lost, r.Copied)
	}
	if read(t, empty.dir, c.SHA256) != "ccccc" {
		t.Error("another file was not restored")
	}
	if _, err := os.Stat(blobFile(empty.dir, b.SHA256)); err == nil {
		t.Error("a damaged blob was restored")
	}
}

// A restore refuses a newer schema, a database with data, a damaged table and a place without a backup, and changes
// nothing.
func TestRestoreRefuses(t *testing.T) {
	dir := t.TempDir()
	p, to := newPlace(t), open(t, dir)
	if _, err := backup.Restore(t.Context(), to, "", p.Installation, false); !errors.Is(err, backup.ErrNoBackup) {
		t.Errorf("no backup: %v", err)
	}
	p.upload("a", "first")
	m := p.write(to)
	if _, err := backup.Restore(t.Context(), to, "other", p.Installation, true); !errors.Is(err, backup.ErrNoBackup) {
		t.Errorf("a backup of another name: %v", err)
	}
	if _, err := backup.Restore(t.Context(), to, "", p.Installation, false); !errors.Is(err, backupstore.ErrNotEmpty) {
		t.Errorf("a database with a project: %v", err)
	}
	other := newPlace(t)
	other.sql(`insert into users (name) values ('ann')`)
	if _, err := backup.Restore(t.Context(), to, "", other.Installation, false); !errors.Is(err, backupstore.ErrNotEmpty) {
		t.Errorf("a database with an account: %v", err)
	}
	manifest := filepath.Join(dir, "backups", m.Name, "manifest.json")
	text := string(storetest.Must[[]byte](t)(os.ReadFile(manifest)))
	change := func(old, now string) {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("%s is not in %s", old, text)
		}
		if err := os.WriteFile(manifest, []byte(strings.Replace(text, old, now, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	schema := fmt.Sprintf(`"schema": %d`, store.KnownSchema())
	change(schema, fmt.Sprintf(`"schema": %d`, store.KnownSchema()+1))
	if _, err := backup.Restore(t.Context(), to, "", p.Installation, true); !errors.Is(err, backupstore.ErrNewer) {
		t.Errorf("a newer schema: %v", err)
	}
	change(`"format": 1`, `"format": 2`)
	if _, err := backup.Restore(t.Context(), to, "", p.Installation, true); err == nil || !strings.Contains(err.Error(), "format 2") {
		t.Errorf("another format: %v", err)
	}
	change(schema, schema)
	if err := os.WriteFile(filepath.Join(dir, "backups", m.Name, "runs.copy.zst"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Restore(t.Context(), to, "", p.Installation, true); err == nil || !strings.Contains(err.Error(), "file runs.copy.zst is damaged") {
		t.Errorf("a damaged table: %v", err)
	}
	if got := p.text(`select count(*)::text from evidence`); got != "1" {
		t.Errorf("a restore that is refused has changed the database: %s files", got)
	}
}

// Every table of the database comes back as it was, with its sequences, triggers and keys; tables that are left out are
// empty.
func TestEveryTableComesBack(t *testing.T) {
	p, to := newPlace(t), open(t, t.TempDir())
	p.upload("a", "first")
	e := p.upload("b", "second")
	p.sql(`update evidence set state = 'failed', error = E'a\ttab, a \\ and ü' where id = $1`, e.ID)
	p.sql(`insert into uploads (id, length, target) values ('u', 1, '{}')`)
	m := p.write(to)
	empty := newPlace(t)
	empty.restore(to, "", false)
	for _, table := range m.Tables {
		rows := fmt.Sprintf(`select coalesce(string_agg(t::text, E'\n' order by t::text), '') from %q t`, table.Name)
		if before, after := p.text(rows), empty.text(rows); before != after {
			t.Errorf("%s:\n%s\nwant\n%s", table.Name, after, before)
		}
	}
	if len(m.Tables) < 30 {
		t.Errorf("%d tables", len(m.Tables))
	}
	const objects = `
		select string_agg(what, E'\n' order by what) from (
			select 'key ' || conrelid::regclass || ' ' || pg_get_constraintdef(oid) as what from pg_constraint where connamespace = 'public'::regnamespace
			union all select 'trigger ' || tgname || ' on ' || tgrelid::regclass || tgenabled::text from pg_trigger where not tgisinternal
			union all select 'index ' || indexdef from pg_indexes where schemaname = 'public') o`
	if before, after := p.text(objects), empty.text(objects); before != after {
		t.Errorf("keys, triggers and indexes are\n%s\nwant\n%s", after, before)
	}
	if got := empty.text(`select count(*)::text from uploads`); got != "0" {
		t.Errorf("%s uploads under way came back", got)
	}
	if next := empty.upload("c", "third"); next.ID <= e.ID {
		t.Errorf("the number %d is given again", next.ID)
	}
}

// What was deleted after the backup is deleted again after a restore: by tombstones of the database, of the blobs and of
// later backups. What came later stays.
func TestTombstones(t *testing.T) {
	for _, from := range []string{"database", "blobs", "later backup", "nowhere"} {
		p, to := newPlace(t), open(t, t.TempDir())
		run, file, old, stays := p.upload("run", "r"), p.upload("file", "f"), p.upload("old", "o"), p.upload("stays", "s")
		p.sql(`delete from jobs`)
		p.sql(`update evidence set state = 'read'`)
		second := storetest.Must[store.Evidence](t)(p.Store.CreateEvidence(t.Context(), leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: "file"},
			store.Evidence{Name: "second", SHA256: stays.SHA256, Kind: "umdh-snapshot"}))
		first := p.write(to)
		ctx := t.Context()
		if err := errors.Join(p.Store.DeleteRun(ctx, run.RunID, "ann"), p.Store.DeleteEvidence(ctx, file.RunID, file.ID, "ann")); err != nil {
			t.Fatal(err)
		}
		p.sql(`update evidence set expired_at = now() where id = $1`, old.ID) // as retention does
		n := storetest.Must[int](t)(p.Store.ExportTombstones(ctx, 100, func(list []store.Tombstone) error {
			switch from {
			case "blobs":
				return backup.PutTombstones(ctx, p.Blobs, list)
			case "later backup":
				p.write(to)
			}
			return nil
		}))
		if again := storetest.Must[int](t)(p.Store.ExportTombstones(ctx, 100, func([]store.Tombstone) error { return nil })); n != 4 || again != 0 {
			t.Errorf("%s: %d tombstones exported, then %d", from, n, again) // the run, its file, the file, the old file
		}
		target := p
		if from != "database" {
			target = newPlace(t) // another machine
			if from == "blobs" {
				target.Blobs, target.dir = p.Blobs, p.dir
			}
		}
		r := target.restore(to, first.Name, true)
		got := target.text(`select coalesce(string_agg(r.name || ':' || e.name || case when e.expired_at is null then '' else ' expired' end, ', ' order by e.id), '') from evidence e join runs r on r.id = e.run_id`)
		want := "old:old.txt expired, stays:stays.txt, file:second"
		runs, files := 1, 2
		if from == "nowhere" {
			want, runs, files = "run:run.txt, file:file.txt, old:old.txt, stays:stays.txt, file:second", 0, 0
		}
		if got != want || r.Runs != runs || r.Files != files {
			t.Errorf("%s: %s; %d runs, %d files", from, got, r.Runs, r.Files)
		}
		if has := storetest.Must[bool](t)(target.Store.HasBlob(ctx, blob.ContentKey(second.SHA256))); !has {
			t.Errorf("%s: the content of a file that stays is gone", from)
		}
		// A later upload of the same file to the same run is another one.
		list := []store.Tombstone{{RunID: stays.RunID, SHA256: stays.SHA256, What: "file", DeletedAt: stays.UploadedAt}, {RunID: stays.RunID, What: "run", DeletedAt: stays.UploadedAt.Add(-time.Hour)}}
		if runs, files, err := target.Store.DeleteRestored(ctx, list); runs != 0 || files != 0 || err != nil {
			t.Errorf("%s: what came after a tombstone: %d, %d, %v", from, runs, files, err)
		}
	}
}

// A legal hold does not bring back what was deleted before the hold was placed again by the restore.
func TestTombstonesUnderHold(t *testing.T) {
	p, to := newPlace(t), open(t, t.TempDir())
	e := p.upload("a", "a")
	ctx := t.Context()
	if err := p.Store.CreateRunHold(ctx, e.RunID, "case 7", "ann"); err != nil {
		t.Fatal(err)
	}
	p.write(to)
	if err := errors.Join(p.Store.DeleteRunHold(ctx, e.RunID, "ann"), p.Store.DeleteRun(ctx, e.RunID, "ann")); err != nil {
		t.Fatal(err)
	}
	if r := p.restore(to, "", true); r.Runs != 1 || p.text(`select count(*)::text from runs`) != "0" {
		t.Errorf("%d runs deleted again", r.Runs)
	}
}

// Tombstones are stored in files of bounded length.
func TestTombstonesPerFile(t *testing.T) {
	const perFile = 3
	for n, want := range map[int]int{0: 0, perFile - 1: 1, perFile: 1, perFile + 1: 2, 2*perFile + 1: 3} {
		to := open(t, t.TempDir())
		if err := backup.PutTombstonesBy(t.Context(), to, make([]store.Tombstone, n), perFile); err != nil {
			t.Fatal(err)
		}
		files := 0
		for _, err := range to.List(t.Context(), "tombstones/") {
			if err != nil {
				t.Fatal(err)
			}
			files++
		}
		if files != want {
			t.Errorf("%d tombstones are in %d files, want %d", n, files, want)
		}
	}
}

// A file of tombstones may be larger than a manifest; one that is cut off is refused.
func TestLargeFileOfTombstones(t *testing.T) {
	p, to := newPlace(t), open(t, t.TempDir())
	e := p.upload("a", "a")
	p.write(to)
	const tomb = `{"run": %d, "what": "run", "deleted_at": "2999-01-01T00:00:00Z"}`
	text := "[" + fmt.Sprintf(tomb, e.RunID+1) + "," + strings.Repeat(" ", 65<<20) + fmt.Sprintf(tomb, e.RunID) + "]"
	for _, cut := range []int{1, 0} {
		if _, err := to.Put(t.Context(), "tombstones/a.json", strings.NewReader(text[:len(text)-cut])); err != nil {
			t.Fatal(err)
		}
		target := newPlace(t)
		r, err := backup.Restore(t.Context(), to, "", target.Installation, false)
		if cut > 0 && err == nil || cut == 0 && (err != nil || r.Runs != 1) {
			t.Errorf("%d bytes cut off: %d runs deleted, %v", cut, r.Runs, err)
		}
	}
}

// No run gets the number of another after a restore: a tombstone would delete that one in the next restore. The numbers
// are known from the database that is replaced or from the tombstones of the place.
func TestNumbersOfRunsAreNotUsedTwice(t *testing.T) {
	ctx := t.Context()
	for _, elsewhere := range []bool{false, true} {
		dir := t.TempDir()
		p, to := newPlace(t), open(t, dir)
		p.upload("one", "1")
		b0 := p.write(to)
		good := p.upload("good", "2")
		b1 := p.write(to)
		last := good.RunID
		if elsewhere { // only a tombstone tells of the third run
			last = p.upload("third", "3").RunID
			tomb := store.Tombstone{RunID: last, What: "run", DeletedAt: time.Now()}
			if err := backup.PutTombstones(ctx, to, []store.Tombstone{tomb}); err != nil {
				t.Fatal(err)
			}
			p = newPlace(t)
		}
		p.restore(to, b0.Name, true)
		bad := p.upload("bad", "b")
		if bad.RunID <= last {
			t.Errorf("elsewhere %t: the number %d of a run is given again", elsewhere, bad.RunID)
		}
		if err := p.Store.DeleteRun(ctx, bad.RunID, "ann"); err != nil {
			t.Fatal(err)
		}
		r := p.restore(to, b1.Name, true)
		const names = `select string_agg(name, ' ' order by id) from runs`
		if got := p.text(names); got != "one good" || r.Runs != 0 {
			t.Errorf("elsewhere %t: runs %s; %d deleted", elsewhere, got, r.Runs)
		}
	}
}

// A restore whose rows cannot be loaded loses neither the tombstones of the database that it replaces, nor its
// sequences.
func TestRestoreAfterOneThatFailed(t *testing.T) {
	dir := t.TempDir()
	p, to := newPlace(t), open(t, dir)
	e := p.upload("a", "a")
	p.upload("stays", "s")
	m := p.write(to)
	last := p.upload("later", "l")
	if err := p.Store.DeleteRun(t.Context(), e.RunID, "ann"); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(dir, "backups", m.Name, "manifest.json")
	text := storetest.Must[[]byte](t)(os.ReadFile(manifest))
	var broken map[string]any
	if err := json.Unmarshal(text, &broken); err != nil {
		t.Fatal(err)
	}
	tables, _ := broken["tables"].([]any)
	for _, table := range tables { // what the check of the bytes does not see
		if table, _ := table.(map[string]any); table["name"] == "runs" {
			table["rows"] = 9
		}
	}
	save := func(text []byte) {
		if err := os.WriteFile(manifest, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save(storetest.Must[[]byte](t)(json.Marshal(broken)))
	if _, err := backup.Restore(t.Context(), to, "", p.Installation, true); err == nil ||
		!strings.Contains(err.Error(), "its manifest says 9") {
		t.Fatalf("a table that lacks rows: %v", err)
	}
	save(text)
	r := p.restore(to, "", true)
	if got := p.text(`select string_agg(name, ' ') from runs`); got != "stays" || r.Runs != 1 {
		t.Errorf("runs %s; %d deleted again", got, r.Runs)
	}
	if next := p.upload("next", "n"); next.RunID <= last.RunID {
		t.Errorf("the number %d of a run is given again", next.RunID)
	}
}
