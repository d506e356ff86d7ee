package push_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/push"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

// The symbols of a push are said to be its build's, those that were sent and those that the server had, before the run
// is complete; an older server is no failure.
func TestSendSymbolsOfBuild(t *testing.T) {
	program := pdbtest.Program{GUID: [16]byte{3: 7}, Age: 1, Sections: pdbtest.Standard(0x1000)}
	pdb, err := program.PDB()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "app.pdb")
	if err := os.WriteFile(path, pdb, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{http.StatusOK, http.StatusNotFound, http.StatusMethodNotAllowed} {
		f := newFake(t)
		var order []string
		f.before = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/complete") {
				order = append(order, "complete")
			}
			if r.URL.EscapedPath() != "/api/v1/projects/shop/builds/b1/symbols" {
				return false
			}
			var body struct {
				Files []struct{ Name, Key string }
			}
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Files) != 1 || r.Method != http.MethodPost {
				t.Errorf("%s %+v %v", r.Method, body, err)
				return false
			}
			order = append(order, body.Files[0].Name+" "+body.Files[0].Key)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			return true
		}
		c, _ := f.client()
		noted := ""
		c.Note = func(text string) { noted = text }
		p := files(t, map[string]int{"a.txt": 10})
		p.Symbols = []push.File{{Path: path, Bytes: int64(len(pdb))}}
		if _, err := c.Send(t.Context(), p, &fileLog{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(order, ", "); got != "app.pdb 070000000000000000000000000000001, complete" ||
			(noted == "") != (status == http.StatusOK) {
			t.Errorf("%d: %s; %s", status, got, noted)
		}
	}
}
