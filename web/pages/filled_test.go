package pages_test

import (
	"io/fs"
	"os"
	"sync"
	"testing"
	"testing/fstest"

	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/testdb"
)

// A filling is what tests store once and look at many times.
type filling struct {
	runs  []int64
	blobs fstest.MapFS
}

var fillings sync.Map // *filling by name

// openFilled starts a server that has what fill stores. fill runs once for all tests that give the same name, each of
// which gets a copy and the runs that fill returned.
func openFilled(t testing.TB, name string, fill func(s *store.Store) []int64) (*site, []int64) {
	t.Helper()
	beside(t)
	made, _ := fillings.LoadOrStore(name, &filling{blobs: fstest.MapFS{}})
	f := made.(*filling)
	url := testdb.Copy(t, name, func(url string) { f.make(t, url, fill) })
	dir := t.TempDir()
	if err := os.CopyFS(dir, f.blobs); err != nil {
		t.Fatal(err)
	}
	return openAt(t, url, dir), f.runs
}

func (f *filling) make(t testing.TB, url string, fill func(s *store.Store) []int64) {
	t.Helper()
	s := must[*store.Store](t)(store.Open(t.Context(), url))
	defer s.Close()
	defer storetest.End(s)
	dir := t.TempDir()
	blobsOf.Store(s, must[blob.Store](t)(blob.Open(t.Context(), "file://"+dir)))
	f.runs = fill(s)
	stored := os.DirFS(dir)
	if err := fs.WalkDir(stored, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(stored, path)
		f.blobs[path] = &fstest.MapFile{Data: text, Mode: 0o600}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// openShop starts a server that has one run of the shop, which it returns.
func openShop(t testing.TB) (*site, int64) {
	t.Helper()
	s, runs := openFilled(t, "shop", func(s *store.Store) []int64 {
		return []int64{addRun(t, s, target, capturesOf(shop, 11))}
	})
	return s, runs[0]
}
