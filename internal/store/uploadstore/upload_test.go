package uploadstore_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/store/uploadstore"
	"heapdrift/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m, store.Migrate) }

// An upload has one writer at a time, keeps what it has received, and is stale when nobody touches it.
func TestUploads(t *testing.T) {
	s, conn := storetest.Open(t)
	if err := uploadstore.CreateUpload(t.Context(), s,
		uploadstore.Upload{ID: "u1", Length: 10, Target: []byte(`{"project":"p"}`)}); err != nil {
		t.Fatal(err)
	}
	// What happens to an upload happens to no other.
	if err := uploadstore.CreateUpload(t.Context(), s,
		uploadstore.Upload{ID: "other", Length: 20, Target: []byte(`{"project":"q"}`)}); err != nil {
		t.Fatal(err)
	}
	untouched := storetest.Must[uploadstore.Upload](t)(uploadstore.FindUpload(t.Context(), storetest.Now(t, s), "other"))
	lock := storetest.Must[*uploadstore.LockedUpload](t)(uploadstore.LockUpload(t.Context(), s, "u1"))
	if _, err := uploadstore.LockUpload(t.Context(), s, "u1"); !errors.Is(err, uploadstore.ErrBusy) {
		t.Errorf("a second writer got %v", err)
	}
	if err := lock.Advance(t.Context(), 4, 1, []byte("state")); err != nil {
		t.Fatal(err)
	}
	lock.Release(t.Context())
	lock = storetest.Must[*uploadstore.LockedUpload](t)(uploadstore.LockUpload(t.Context(), s, "u1"))
	if lock.Received != 4 || lock.Parts != 1 || string(lock.HashState) != "state" {
		t.Errorf("%+v", lock.Upload)
	}
	if err := lock.Complete(t.Context(), map[string]int{"run": 3}); err != nil {
		t.Fatal(err)
	}
	lock.Release(t.Context())
	if u := storetest.Must[uploadstore.Upload](t)(uploadstore.FindUpload(t.Context(), storetest.Now(t, s),
		"u1")); string(u.Result) != `{"run": 3}` {
		t.Errorf("result %s", u.Result)
	}
	if _, err := uploadstore.LockUpload(t.Context(), s, "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such upload: %v", err)
	}
	if _, err := conn.Exec(t.Context(), `update uploads set touched_at = now() - interval '2 days' where id = 'u1'`); err != nil {
		t.Fatal(err)
	}
	if stale := storetest.Must[[]uploadstore.Upload](t)(uploadstore.ListStaleUploads(t.Context(), storetest.Now(t, s),
		24*time.Hour)); len(stale) != 1 || stale[0].ID != "u1" {
		t.Errorf("stale uploads: %+v", stale)
	}
	if err := uploadstore.DeleteUpload(t.Context(), s, "u1"); err != nil {
		t.Fatal(err)
	}
	if _, err := uploadstore.FindUpload(t.Context(), storetest.Now(t, s), "u1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
	if other := storetest.Must[uploadstore.Upload](t)(uploadstore.FindUpload(t.Context(), storetest.Now(t, s), "other")); !reflect.DeepEqual(other, untouched) {
		t.Errorf("another upload became %+v", other)
	}
}
