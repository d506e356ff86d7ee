package symsrv_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/symbols/symsrv"
)

// crowd makes a store with n modules, their folders in upper case.
func crowd(b *testing.B, n int) string {
	b.Helper()
	root := b.TempDir()
	for i := range n {
		name := fmt.Sprintf("module%d.pdb", i)
		dir := filepath.Join(root, strings.ToUpper(name), key)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(right), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	settled := time.Now().Add(-time.Hour) // listings of folders that have just changed are not reused
	if err := os.Chtimes(root, settled, settled); err != nil {
		b.Fatal(err)
	}
	return root
}

func BenchmarkFind(b *testing.B) {
	p := parse(b, "srv*"+crowd(b, 2000), symsrv.Options{})
	for name, id := range map[string]symsrv.Identity{
		"present": {Name: "Module77.pdb", DebugID: key},
		"absent":  {Name: "other.pdb", DebugID: key},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _, _ = p.Find(b.Context(), id)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lookups/s")
		})
	}
}

func BenchmarkDownload(b *testing.B) {
	content := strings.Repeat(right, 1<<18)
	files := make(map[string]string)
	w := serve(b, files, nil)
	opt := online(b, w)
	opt.Check = nil
	p := parse(b, "srv*"+w.URL, opt)
	id := symsrv.Identity{Name: "app.pdb", DebugID: key}
	files[id.Path()] = content
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		found, _, err := p.Find(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		w.questions()
		if err := os.Remove(found.Path); err != nil {
			b.Fatal(err)
		}
	}
}
