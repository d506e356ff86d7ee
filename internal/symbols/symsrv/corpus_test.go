package symsrv_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/corpus"
	"heapdrift/internal/symbols/symsrv"
)

// TestStore finds the files of a real store: plain files where they lie, and cabinets through a server that has nothing
// else, as Mozilla's. The sums are those of the cabinets' contents as zlib unpacks them. The PDB in the cabinet names
// another revision of its sources than the plain one, under the same key.
func TestStore(t *testing.T) {
	store := corpus.Path(t, "symbols", "symsrv-store")
	for _, c := range []struct {
		want  symsrv.Identity
		plain string
		sum   string
	}{
		{
			symsrv.Identity{Name: `Z:\task\ShowSSEConfig.pdb`, DebugID: "a6259241-8d78-0749-4c4c-44205044422e-1"},
			"ShowSSEConfig.pdb/A62592418D7807494C4C44205044422E1/ShowSSEConfig.pdb",
			"a27d126406d03980503176ff3f27125dc31c0002a01b8434193d2593502f7b52",
		},
		{
			symsrv.Identity{Name: "ShowSSEConfig.exe", Timestamp: 0x63E6C7F7, SizeOfImage: 0x8000},
			"ShowSSEConfig.exe/63E6C7F78000/ShowSSEConfig.exe",
			"07be07cebf690226c6d614d1e65e56c8fb1689aed6d49cbfc89a669593d11531",
		},
	} {
		if found, lines := find(t, parse(t, store, symsrv.Options{}), c.want); found != filepath.Join(store,
			filepath.FromSlash(c.plain)) {
			t.Errorf("%s: found %q: %q", c.want.Name, found, lines)
		}
		files := http.FileServer(http.Dir(store))
		w := serve(t, nil, func(rw http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "_") {
				http.NotFound(rw, r)
				return
			}
			files.ServeHTTP(rw, r)
		})
		opt := online(t, w)
		opt.Check = nil
		want := c.want
		want.DebugID = strings.ToUpper(want.DebugID) // the files lie on a system that minds the case
		kept, lines := find(t, parse(t, "srv*"+w.URL, opt), want)
		if kept != filepath.Join(opt.Cache, filepath.FromSlash(c.plain)) {
			t.Errorf("%s from its cabinet: %q: %q", want.Name, kept, lines)
			continue
		}
		if sum := sha256.Sum256([]byte(read(t, kept))); hex.EncodeToString(sum[:]) != c.sum {
			t.Errorf("%s from its cabinet is %x", want.Name, sum)
		}
	}
}
