package analysis_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"heapdrift/internal/analysis"
)

// Any report that can be read is written as a report that reads the same.
func FuzzReadJSON(f *testing.F) {
	files, err := filepath.Glob("export/testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"schema":"heapdrift.report/v2","frames":[],"stacks":[[0]],"sites":[]}`))
	f.Add([]byte(`{"sites":[{"stack":7}],"schema":"heapdrift.report/v2"}`))
	f.Add([]byte(`{"schema":"heapdrift.report/v1","sites":[{"stack":[null]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := analysis.ReadJSON(bytes.NewReader(text))
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		if err := r.WriteJSON(&once); err != nil {
			t.Fatal(err)
		}
		again, err := analysis.ReadJSON(bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatalf("%v\n%s", err, once.Bytes())
		}
		if err := again.WriteJSON(&twice); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Errorf("%s\n%s", once.Bytes(), twice.Bytes())
		}
	})
}
