package pagestest

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
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
func openFilled(t testing.TB, name string, fill func(s *store.Store) []int64) (*Server, []int64) {
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
	s := Must[*store.Store](t)(store.Open(t.Context(), url))
	defer s.Close()
	defer storetest.End(s)
	dir := t.TempDir()
	blobsOf.Store(s, Must[blob.Store](t)(blob.Open(t.Context(), "file://"+dir)))
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

// OpenShop starts a server that has one run of the shop, which it returns.
func OpenShop(t testing.TB) (*Server, int64) {
	t.Helper()
	s, runs := openFilled(t, "shop", func(s *store.Store) []int64 {
		return []int64{AddRun(t, s, DefaultTarget, CapturesOf(Shop, 11))}
	})
	return s, runs[0]
}

// AppendLine is the leak that came with build 4812.
const AppendLine = "Receipt::AppendLine"

// OpenHistory starts a server that has three builds of the shop: in 4811 receipts are freed, in 4812 they leak, in 4813
// the audit log is fixed. It returns the runs, oldest first.
func OpenHistory(t testing.TB) (*Server, []int64) {
	t.Helper()
	return openFilled(t, "history", func(s *store.Store) (runs []int64) {
		calm, fixed := slices.Clone(Shop), slices.Clone(Shop)
		calm[0].Blocks, fixed[1].Blocks = ConstantBlocks(140), ConstantBlocks(140)
		for i, samples := range [][]Sample{calm, Shop, fixed} {
			to := DefaultTarget
			to.Build = fmt.Sprint(4811 + i)
			runs = append(runs, AddRun(t, s, to, CapturesOf(samples, 11)))
		}
		return runs
	})
}

// SignatureOf finds the signature of a leak by its title.
func SignatureOf(t testing.TB, s *Server, text string) store.Signature {
	t.Helper()
	page := Must[*store.SignaturePage](t)(storetest.Now(t, s.Store).ListSignatures(t.Context(),
		store.SignatureQuery{Project: "shopd", Text: text, Class: "all", Limit: 2}))
	if len(page.Rows) != 1 {
		t.Fatalf("%d signatures are called %s", len(page.Rows), text)
	}
	return page.Rows[0].Signature
}
