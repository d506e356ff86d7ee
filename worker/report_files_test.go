package worker

import (
	"errors"
	"io"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/worker/task"
)

// The task that makes a report opens the artifacts, the names and the tables of its run by their numbers, and nothing
// else. Its table is one of its run.
func TestFilesOfAReport(t *testing.T) {
	blobs := newBlobs(t)
	for _, key := range []string{"first", "second", "names", "table"} {
		if _, err := blobs.Put(t.Context(), key, strings.NewReader("content of "+key)); err != nil {
			t.Fatal(err)
		}
	}
	files := []store.EvidenceFile{{Name: "a.etl"}}
	in := store.AnalysisInput{NamesKey: "names", Captures: []store.CaptureRef{
		{ArtifactKey: "first", Files: files, Table: store.AllocationTable{Key: "table", Sites: 3}}, {ArtifactKey: "second", Files: files},
		{ArtifactKey: "deleted", Files: files, Table: store.AllocationTable{Key: "deleted-table"}},
	}}
	of := reportTask(&in)
	for file, want := range map[int]string{-1: "no file", 0: "first", 1: "second", 2: "not found", of.NamesFile(): "names",
		of.TableFile(0): "table", of.TableFile(1): "no file", of.TableFile(3): "no file"} {
		got := ""
		content, err := openInput(t.Context(), blobs, &in, file)
		if err == nil {
			text, _ := io.ReadAll(io.NewSectionReader(content, 0, content.Size()))
			got = strings.TrimPrefix(string(text), "content of ")
			_ = content.Close()
		} else if got = "no file"; errors.Is(err, blob.ErrNotFound) {
			got = "not found"
		}
		if got != want {
			t.Errorf("file %d is %s, want %s", file, got, want)
		}
	}
	if _, err := openInput(t.Context(), blobs, &in, of.TableFile(2)); !errors.Is(err, analysis.ErrTableMissing) {
		t.Errorf("a table that was deleted: %v", err)
	}
	if in.NamesKey = ""; !of.HasNames || reportTask(&in).HasNames {
		t.Error("before a search for symbols there are no names")
	}
	for made, want := range map[string]int{"table": 3, "": 0, "of another run": -1} {
		table, ok := tableOf(task.Made{Table: made}, in.Captures)
		if ok != (want >= 0) || ok && table.Sites != want {
			t.Errorf("%q: %+v, %t", made, table, ok)
		}
	}
}
