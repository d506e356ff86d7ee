package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"heapdrift/internal/analysis"
)

// The digest of a file is that of its content, however the file is read: in order or not, twice, in part, not at all,
// or by several goroutines.
func TestDigestOfEvidence(t *testing.T) {
	const size = 3<<20 + 77
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(i * i >> 7)
	}
	path := filepath.Join(t.TempDir(), "evidence")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	want := hex.EncodeToString(sum[:])
	at := func(r io.ReaderAt, off, n int64) {
		if _, err := r.ReadAt(make([]byte, n), off); err != nil && err != io.EOF {
			t.Error(err)
		}
	}
	inOrder := func(r io.ReaderAt, from int64) {
		for off := from; off < size; off += 100_000 {
			at(r, off, 100_000)
		}
	}
	for name, read := range map[string]func(io.ReaderAt){
		"not at all":          func(io.ReaderAt) {},
		"in order":            func(r io.ReaderAt) { inOrder(r, 0) },
		"its beginning":       func(r io.ReaderAt) { at(r, 0, 4096) },
		"its beginning twice": func(r io.ReaderAt) { at(r, 0, 4096); at(r, 10, 100); inOrder(r, 0); inOrder(r, 0) },
		"its end first":       func(r io.ReaderAt) { at(r, size-22, 22); inOrder(r, 0) },
		"with a gap":          func(r io.ReaderAt) { at(r, 0, 1000); at(r, 2000, 1000); inOrder(r, 3000) },
		"beyond its end":      func(r io.ReaderAt) { inOrder(r, 0); at(r, size-5, 100); at(r, size+5, 100) },
		"here and there": func(r io.ReaderAt) {
			var all sync.WaitGroup
			for seed := range uint64(4) {
				all.Go(func() {
					random := rand.New(rand.NewPCG(seed, 1))
					for range 50 {
						at(r, random.Int64N(size), random.Int64N(200_000))
					}
				})
			}
			all.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = file.Close() }() // read only
			f := newEvidenceFile(t.Context(), analysis.File{Name: "evidence", Bytes: size}, file)
			read(f.source())
			if err := f.finish(); err != nil || f.SHA256 != want {
				t.Errorf("%s, %v; it is %s", f.SHA256, err, want)
			}
			inOrder(f.source(), 0) // later reads change nothing
			if err := f.finish(); err != nil || f.SHA256 != want {
				t.Errorf("once more %s, %v", f.SHA256, err)
			}
		})
	}
}
