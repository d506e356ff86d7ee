package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/await"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// expire has files expire that are older than so many days, and returns how many did.
func (l *lab) expire(days int64) int64 {
	l.Helper()
	return must[store.Removal](l)(l.ExpireEvidence(l.Context(), store.RetentionDefaults{EvidenceDays: days}, 100)).Files
}

// unwanted lists the blobs that nothing refers to any more.
func (l *lab) unwanted() string {
	l.Helper()
	var keys []string
	if _, err := l.DeleteUnwantedBlobs(l.Context(), 100, func(key string, _ bool) (bool, error) {
		keys = append(keys, key)
		return false, nil
	}); err != nil {
		l.Fatal(err)
	}
	return strings.Join(keys, " ")
}

// oldest stores a run for each name, with a file of that name and of 5 bytes; the files are a day apart and the first,
// of one day, is the youngest.
func (l *lab) oldest(names ...string) {
	l.Helper()
	for i, name := range names {
		e := addEvidence(l, l.Store, leaks.UploadTarget{Project: "demo", Build: name}, name)
		l.sql(`delete from jobs where run_id = $1`, e.RunID)
		l.sql(`update runs set created_at = now() - interval '99 days' where id = $1`, e.RunID)
		l.sql(`update evidence set state = 'read', bytes = 5, uploaded_at = now() - $2::int * interval '1 day' where id = $1`, e.ID, i+1)
	}
}

const expiredNames = `select coalesce(string_agg(name, ' ' order by name), '') from evidence where expired_at is not null`

// What was read of an expired file stays; the file is unwanted once every run that has it has lost it.
func TestExpireEvidence(t *testing.T) {
	l := newLab(t)
	one, two := l.run("1", leaksReport(finding{signature: "A", class: leak})), l.run("2", leaksReport(finding{signature: "A", class: leak})) // of the same file
	l.sql(`update evidence set uploaded_at = now() - interval '9 days'`)
	l.sql(`insert into jobs (kind, run_id) values ('analyse', $1)`, two)
	if n := l.expire(1); n != 1 || l.unwanted() != "" { // run 2 refers to it
		t.Errorf("%d, %q", n, l.unwanted())
	}
	l.sql(`delete from jobs`)
	if n := l.expire(1); n != 1 || l.unwanted() != "sha256/a./a.txt-sha" {
		t.Errorf("%d, %q", n, l.unwanted())
	}
	if n := l.expire(1); n != 0 {
		t.Errorf("a second time: %d", n)
	}
	for _, run := range []int64{one, two} {
		list := must[[]store.Evidence](t)(l.now().ListEvidence(t.Context(), run))
		if len(list) != 1 || list[0].ExpiredAt == nil || list[0].State != "read" || len(input(t, l.Store, run).Captures) != 1 {
			t.Errorf("%+v", list)
		}
	}
	// The file is uploaded again: it is wanted, and as old as the new upload.
	addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: "2"}, "a.txt")
	if n := l.expire(1); n != 0 || l.unwanted() != "" {
		t.Errorf("uploaded again: %d, %q", n, l.unwanted())
	}
}

// Each condition by which evidence expires, alone: the file is a day old and the limit is a day.
func TestWhatExpires(t *testing.T) {
	l := newLab(t)
	for what, test := range map[string]struct {
		change  string
		expired int64
	}{
		"as it is":               {``, 1},
		"its reading failed":     {`update evidence set state = 'failed'`, 1},
		"it was never read":      {`update evidence set state = 'stored'`, 1},
		"a minute too young":     {`update evidence set uploaded_at = now() - interval '1 day' + interval '1 minute'`, 0},
		"the run is complete":    {`update runs set completed_at = now(), analysed_at = now()`, 1},
		"a job waits":            {`insert into jobs (kind, run_id) select 'analyse', id from runs`, 0},
		"a job runs":             {`insert into jobs (kind, run_id, state) select 'analyse', id, 'running' from runs`, 0},
		"a job has ended":        {`insert into jobs (kind, run_id, state) select 'analyse', id, 'done' from runs`, 1},
		"a job has failed":       {`insert into jobs (kind, run_id, state) select 'analyse', id, 'failed' from runs`, 1},
		"it has expired before":  {`update evidence set expired_at = now() - interval '1 day'`, 0},
		"the run is held":        {`update runs set held_at = now()`, 0},
		"the project is held":    {`update projects set held_at = now()`, 0},
		"the project keeps more": {`update projects set retention = '{"evidence_days": 2}'`, 0},
		"the project keeps all":  {`update projects set retention = '{"evidence_days": 0}'`, 0},
		"another setting":        {`update projects set retention = '{"run_days": 2}'`, 1},
		"within its bytes":       {`update projects set retention = '{"evidence_days": 0, "evidence_bytes": 5}'`, 0},
		"a byte more":            {`update projects set retention = '{"evidence_days": 0, "evidence_bytes": 4}'`, 1},
		"any number of bytes":    {`update projects set retention = '{"evidence_days": 0, "evidence_bytes": 0}'`, 0},
	} {
		l := l.emptied(t)
		l.oldest("a")
		if test.change != "" {
			l.sql(test.change)
		}
		if n := l.expire(1); n != test.expired {
			t.Errorf("%s: %d files expired, want %d", what, n, test.expired)
		}
	}
}

// The oldest uploads go first, in whichever order they were recorded, and no more than asked for.
func TestOldestExpiresFirst(t *testing.T) {
	l := newLab(t)
	l.oldest("young", "middle", "old")
	for _, want := range []string{"old", "middle old", "middle old young", "middle old young"} {
		must[store.Removal](t)(l.ExpireEvidence(t.Context(), store.RetentionDefaults{EvidenceDays: 1}, 1))
		if got := l.text(expiredNames); got != want {
			t.Errorf("expired are %s, want %s", got, want)
		}
	}
}

// The newest files of each project stay, up to its bytes. A file that is held counts, and stays.
func TestExpiryBySize(t *testing.T) {
	l := newLab(t)
	for _, test := range []struct {
		most int64
		held string
		want string
	}{
		{20, "", ""}, {19, "", "oldest"}, {10, "", "old oldest"}, {9, "", "middle old oldest"}, {19, "oldest", ""}, {9, "old", "middle oldest"},
	} {
		l := l.emptied(t)
		l.oldest("young", "middle", "old", "oldest")
		other := addEvidence(l, l.Store, leaks.UploadTarget{Project: "other", Build: "1"}, "other")
		l.sql(`delete from jobs`)
		l.sql(`update evidence set bytes = 5 where id = $1`, other.ID)
		l.sql(`update runs set held_at = now() where id in (select run_id from evidence where name = $1)`, test.held)
		got := must[store.Removal](t)(l.ExpireEvidence(t.Context(), store.RetentionDefaults{EvidenceBytes: test.most}, 100))
		if names := l.text(expiredNames); names != test.want || got.Bytes != 5*got.Files || int(got.Files) != len(strings.Fields(test.want)) {
			t.Errorf("%d bytes, %q held: %q, %+v, want %q", test.most, test.held, names, got, test.want)
		}
	}
}

// Content stays while anything refers to it: evidence that has not expired, or a symbol file with the same bytes.
func TestExpiredContentIsReferredTo(t *testing.T) {
	l := newLab(t)
	l.oldest("app.pdb")
	must[store.CreatedSymbolFile](t)(l.CreateSymbolFile(t.Context(), appPDBOf("app.pdb-sha")))
	if n := l.expire(1); n != 1 || l.unwanted() != "" {
		t.Errorf("%d expired, to be dropped are %q", n, l.unwanted())
	}
	l.sql(`delete from symbol_files`)
	if got := l.unwanted(); got != "sha256/ap/app.pdb-sha" {
		t.Errorf("to be dropped are %q", got)
	}
}

// appPDBOf is a symbol file with this content, of 9 bytes.
func appPDBOf(sha string) store.SymbolFile {
	return store.SymbolFile{Kind: "pdb", Name: "app.pdb", Key: "K1", DebugID: "D1", SHA256: sha, Bytes: 9, Origin: store.OriginUpload}
}

// Each condition by which a run with its report is deleted, alone: its upload is a day old and the limit is a day.
func TestOldRuns(t *testing.T) {
	l := newLab(t)
	for what, test := range map[string]struct {
		change  string
		deleted bool
	}{
		"as it is":                  {``, true},
		"a minute too young":        {`update evidence set uploaded_at = now() - interval '1 day' + interval '1 minute'`, false},
		"without files, and young":  {`with gone as (delete from evidence) update runs set created_at = now()`, false},
		"without files, and old":    {`delete from evidence`, true},
		"a job waits":               {`insert into jobs (kind, run_id) select 'analyse', id from runs`, false},
		"the run is held":           {`update runs set held_at = now()`, false},
		"the project is held":       {`update projects set held_at = now()`, false},
		"its build is pinned":       {`update builds set pinned = true`, false},
		"its build is the baseline": {`update projects set baseline_id = (select id from builds)`, false},
		"the project keeps more":    {`update projects set retention = '{"run_days": 2}'`, false},
		"the project keeps all":     {`update projects set retention = '{"run_days": 0}'`, false},
		"another setting":           {`update projects set retention = '{"evidence_days": 2}'`, true},
		"within its bytes":          {`update projects set retention = '{"run_days": 0, "run_bytes": 12}'`, false},
		"a byte more":               {`update projects set retention = '{"run_days": 0, "run_bytes": 11}'`, true},
	} {
		l := l.emptied(t)
		l.oldest("a")
		l.sql(`insert into captures (evidence_id, ordinal, kind, process, pid, bits, artifact, artifact_bytes, table_bytes, outstanding_count, outstanding_bytes)
			select id, 0, 'umdh-snapshot', 'app.exe', 1, 64, 'art', 5, 4, 1, 1 from evidence`)
		l.sql(`update runs set table_bytes = 3`)
		if test.change != "" {
			l.sql(test.change)
		}
		d := store.RetentionDefaults{RunDays: 1}
		listed := must[[]int64](t)(l.now().ListOldRuns(t.Context(), d, 10))
		run := must[int64](t)(scan[int64](l, `select id from runs`))
		deleted := must[bool](t)(l.DeleteOldRun(t.Context(), run, d))
		if left := l.text(`select count(*)::text from runs`); (len(listed) == 1) != test.deleted || deleted != test.deleted || (left == "0") != test.deleted {
			t.Errorf("%s: listed %v, deleted %t, %s left; want %t", what, listed, deleted, left, test.deleted)
		}
	}
}

// A run that was to go for its size stays where evidence, or a limit, comes before nobody else can change it.
func TestOldRunIsNewAgain(t *testing.T) {
	l := newLab(t)
	for what, test := range map[string]struct {
		change  string
		deleted bool
	}{
		"nothing came":    {`select`, true},
		"evidence came":   {`update evidence set uploaded_at = now()`, false},
		"a limit came":    {`update projects set retention = '{"run_bytes": 99}'`, false},
		"a hold came":     {`update runs set held_at = now()`, false},
		"a job came":      {`insert into jobs (kind, run_id) select 'analyse', id from runs`, false},
		"a baseline came": {`update projects set baseline_id = (select id from builds)`, false},
	} {
		l := l.emptied(t)
		l.oldest("a")
		l.sql(`update runs set table_bytes = 5`)
		d := store.RetentionDefaults{RunBytes: 4}
		listed := must[[]int64](t)(l.now().ListOldRuns(t.Context(), d, 10))
		if len(listed) != 1 {
			t.Fatalf("%s: listed %v", what, listed)
		}
		beside := must[labTx](t)(l.begin())
		if err := errors.Join(beside.Exec(`select from projects for update`), beside.Exec(test.change)); err != nil {
			t.Fatal(err)
		}
		deleted := make(chan bool, 1)
		go func() {
			gone, err := l.DeleteOldRun(t.Context(), listed[0], d)
			if err != nil {
				t.Error(err)
			}
			deleted <- gone
		}()
		await.Until(t, "the wait for the project", func() bool {
			return must[int](t)(scan[int](l, `select count(*)::int from pg_stat_activity
				where wait_event_type = 'Lock' and datname = current_database()`)) == 1
		})
		if err := beside.Commit(); err != nil {
			t.Fatal(err)
		}
		if gone := <-deleted; gone != test.deleted {
			t.Errorf("%s: deleted %t", what, gone)
		}
	}
}

func scan[T any](l *lab, query string) (value T, err error) {
	err = l.conn.QueryRow(l.Context(), query).Scan(&value)
	return value, err
}

// The oldest runs go first, and the newest stay, up to the bytes of the project.
func TestOldestRunsFirst(t *testing.T) {
	l := newLab(t)
	l.oldest("young", "middle", "old")
	l.sql(`update runs set table_bytes = 5`)
	names := func(d store.RetentionDefaults, limit int) string {
		var list []string
		for _, id := range must[[]int64](t)(l.now().ListOldRuns(t.Context(), d, limit)) {
			list = append(list, l.text(fmt.Sprintf(`select b.name from runs r join builds b on b.id = r.build_id where r.id = %d`, id)))
		}
		return strings.Join(list, " ")
	}
	for _, test := range []struct {
		d     store.RetentionDefaults
		limit int
		want  string
	}{
		{store.RetentionDefaults{RunDays: 1}, 9, "old middle young"}, {store.RetentionDefaults{RunDays: 1}, 2, "old middle"},
		{store.RetentionDefaults{RunBytes: 15}, 9, ""}, {store.RetentionDefaults{RunBytes: 14}, 9, "old"}, {store.RetentionDefaults{}, 9, ""},
	} {
		if got := names(test.d, test.limit); got != test.want {
			t.Errorf("%+v: %q, want %q", test.d, got, test.want)
		}
	}
}

// Each condition by which a symbol file is deleted, alone: it is a day old and has 9 bytes.
func TestOldSymbolFiles(t *testing.T) {
	l := newLab(t)
	day, bytes := store.RetentionDefaults{SymbolDays: 1}, store.RetentionDefaults{SymbolBytes: 8}
	for _, test := range []struct {
		what, change string
		d            store.RetentionDefaults
		deleted      int64
	}{
		{"as it is", ``, day, 1}, {"for ever", ``, store.RetentionDefaults{}, 0},
		{"a minute too young", `update symbol_files set uploaded_at = now() - interval '1 day' + interval '1 minute'`, day, 0},
		{"a byte too many", ``, bytes, 1}, {"within the bytes", ``, store.RetentionDefaults{SymbolBytes: 9}, 0},
		{"of a build of a held run", `with held as (update runs set held_at = now()) insert into build_symbols select b.id, f.id from builds b, symbol_files f`, day, 0},
		{"of a build of a held project", `with held as (update projects set held_at = now()) insert into build_symbols select b.id, f.id from builds b, symbol_files f`, day, 0},
		{"of a build", `insert into build_symbols select b.id, f.id from builds b, symbol_files f`, day, 1},
		{"of a module of a held run", `with held as (update runs set held_at = now()) insert into run_modules select id, 0, 'app.exe', 'app', 'app.pdb', 'd1', 1, 64, 'private', '', true, false, 1, 0, 0, 0, '[]' from runs`, day, 0},
		{"of another module of a held run", `with held as (update runs set held_at = now()) insert into run_modules select id, 0, 'app.exe', 'app', 'app.pdb', 'd2', 1, 64, 'private', '', true, false, 1, 0, 0, 0, '[]' from runs`, day, 1},
	} {
		l := l.emptied(t)
		l.oldest("a")
		must[store.CreatedSymbolFile](t)(l.CreateSymbolFile(t.Context(), appPDBOf("pdb-sha")))
		l.sql(`update symbol_files set uploaded_at = now() - interval '1 day'`)
		if test.change != "" {
			l.sql(test.change)
		}
		got := must[store.Removal](t)(l.DeleteOldSymbolFiles(t.Context(), test.d, 10))
		if got.Files != test.deleted || got.Bytes != 9*test.deleted || (l.unwanted() != "") != (test.deleted == 1) {
			t.Errorf("%s: %+v, unwanted %q", test.what, got, l.unwanted())
		}
	}
}

// The oldest symbol files go first, and no more than asked for.
func TestOldestSymbolFilesFirst(t *testing.T) {
	l := newLab(t)
	for i, name := range []string{"a.pdb", "b.pdb", "c.pdb"} {
		f := appPDBOf(name)
		f.Name = name
		must[store.CreatedSymbolFile](t)(l.CreateSymbolFile(t.Context(), f))
		l.sql(`update symbol_files set uploaded_at = now() - $2::int * interval '1 day' where name = $1`, name, 3-i)
	}
	for _, want := range []string{"b.pdb c.pdb", "c.pdb", "c.pdb"} {
		must[store.Removal](t)(l.DeleteOldSymbolFiles(t.Context(), store.RetentionDefaults{SymbolBytes: 9}, 1))
		if got := l.text(`select string_agg(name, ' ' order by name) from symbol_files`); got != want {
			t.Errorf("left are %s, want %s", got, want)
		}
	}
}

// A deletion that the database ends to resolve a deadlock begins anew.
func TestRetentionBehindDeadlock(t *testing.T) {
	l := newLab(t)
	l.oldest("a")
	must[store.CreatedSymbolFile](t)(l.CreateSymbolFile(t.Context(), appPDBOf("pdb-sha")))
	l.sql(`update symbol_files set uploaded_at = now() - interval '2 days'`)
	l.sql(`create sequence turns`) // a sequence keeps its value when a transaction ends without effect
	l.sql(`create function deadlock() returns trigger language plpgsql as $$ begin
		if nextval('turns') % 2 = 1 then raise 'deadlock detected' using errcode = '40P01'; end if;
		return coalesce(new, old); end $$`)
	l.sql(`create trigger deadlock before update on evidence for each row execute function deadlock()`)
	l.sql(`create trigger deadlock before delete on symbol_files for each row execute function deadlock()`)
	d := store.RetentionDefaults{EvidenceDays: 1, SymbolDays: 1}
	for what, step := range map[string]func(context.Context, store.RetentionDefaults, int) (store.Removal, error){
		"evidence": l.ExpireEvidence, "symbol files": l.DeleteOldSymbolFiles,
	} {
		l.sql(`alter sequence turns restart`)
		if got, err := step(t.Context(), d, 10); err != nil || got.Files != 1 {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

// A project says how long it keeps what it has, and its audit records who said so.
func TestUpdateRetention(t *testing.T) {
	l := newLab(t)
	l.oldest("a")
	days, minus, many := int64(7), int64(-1), int64(36501)
	for _, wrong := range []leaks.Retention{{EvidenceDays: &minus}, {EvidenceBytes: &minus}, {RunDays: &many}, {RunBytes: &minus}} {
		var field *leaks.FieldError
		if err := l.UpdateRetention(t.Context(), "demo", wrong, "ann"); !errors.As(err, &field) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	if err := l.UpdateRetention(t.Context(), "none", leaks.Retention{}, "ann"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if err := l.UpdateRetention(t.Context(), "demo", leaks.Retention{EvidenceDays: &days}, "ann"); err != nil {
		t.Fatal(err)
	}
	if r := must[leaks.Retention](t)(l.now().FindRetention(t.Context(), "demo")); r.EvidenceDays == nil || *r.EvidenceDays != 7 || r.RunDays != nil {
		t.Errorf("%+v", r)
	}
	audit := must[[]store.AuditRow](t)(l.now().ListProjectChanges(t.Context(), "demo", store.AuditPage{Limit: 1}))
	if len(audit) != 1 || audit[0].Action != "retention" || string(audit[0].After) != `{"evidence_days": 7}` {
		t.Errorf("%+v", audit)
	}
}
