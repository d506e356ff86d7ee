package cab_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"heapdrift/internal/corpus"
	"heapdrift/internal/symbols/cab"
)

// TestStoreFiles unpacks what symbol stores hold compressed and compares it with the plain file, or with its digest.
func TestStoreFiles(t *testing.T) {
	const id = "A62592418D7807494C4C44205044422E1"
	for _, c := range []struct{ packed, plain, name, sum string }{
		// The store's plain PDB is not the one that was packed: 74 bytes of its source index differ.
		{"symsrv-store/ShowSSEConfig.pdb/" + id + "/ShowSSEConfig.pd_", "", "ShowSSEConfig.pdb",
			"a27d126406d03980503176ff3f27125dc31c0002a01b8434193d2593502f7b52"},
		{"symsrv-store/ShowSSEConfig.exe/63E6C7F78000/ShowSSEConfig.ex_",
			"symsrv-store/ShowSSEConfig.exe/63E6C7F78000/ShowSSEConfig.exe", "ShowSSEConfig.exe", ""},
		{"mozilla/basic32.pd_", "", "basic32.pdb", "4895f5b09ed06dcc8f3e146a0c5b3af120930633b0b9b54f8049fee48e0a5a03"},
	} {
		t.Run(filepath.Base(c.packed), func(t *testing.T) {
			packed, err := os.ReadFile(corpus.Path(t, "symbols", c.packed))
			if err != nil {
				t.Fatal(err)
			}
			r, err := cab.Open(bytes.NewReader(packed), int64(len(packed)))
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Files()) != 1 || r.Files()[0].Name != c.name {
				t.Fatalf("the cabinet holds %+v", r.Files())
			}
			f := r.Files()[0]
			in, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(in)
			if err != nil || int64(len(got)) != f.Size {
				t.Fatalf("%d bytes of %d: %v", len(got), f.Size, err)
			}
			if c.sum != "" { // of what cabextract makes of it
				if sum := fmt.Sprintf("%x", sha256.Sum256(got)); sum != c.sum {
					t.Errorf("%s has the digest %s, want %s", c.packed, sum, c.sum)
				}
				return
			}
			want, err := os.ReadFile(corpus.Path(t, "symbols", c.plain))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs from %s", c.packed, c.plain)
			}
		})
	}
}
