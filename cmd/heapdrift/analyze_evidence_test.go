package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/ingest"
)

// Of several files that cannot be read the error names the first, whichever fails first in time; the others that were
// read are kept, to be closed.
func TestReadEvidenceNamesTheFirst(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	good := filepath.Join("..", "..", "ingest", "umdh", "testdata", "snapshot64.txt")
	dir := t.TempDir()
	bad := func(name string, size int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Repeat(name+" is no evidence\n", size)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	large, small := bad("large", 200_000), bad("small", 1)
	for range 20 {
		for first, paths := range map[string][]string{
			"large": {good, large, small, good}, "small": {good, small, large, good}, "": {good, good, good},
		} {
			e, err := readEvidence(t.Context(), paths, ingest.Options{}, streams{err: io.Discard})
			if first == "" && err != nil || first != "" && (err == nil || !strings.Contains(err.Error(), first)) {
				t.Errorf("%v: %v, not of %q", paths, err, first)
			}
			if len(e.readings) == 0 || len(e.given[0]) != 1 || e.given[0][0].Name != "snapshot64.txt" {
				t.Errorf("%v: the first file's reading is lost", paths)
			}
			e.close()
		}
	}
}

// Large pages are asked for from 16 MiB of evidence on, for four times as much.
func TestRoomForEvidence(t *testing.T) {
	file := func(size int64) string {
		path := filepath.Join(t.TempDir(), "evidence")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const large = 16 << 20
	for _, test := range []struct {
		paths []string
		want  int64
	}{
		{nil, 0},
		{[]string{file(large - 1)}, 0},
		{[]string{file(large)}, 4 * large},
		{[]string{file(large + 1)}, 4*large + 4},
		{[]string{file(large - 1), file(1), "not there", t.TempDir()}, 4 * large},
	} {
		if got := roomFor(test.paths); int64(got) != test.want {
			t.Errorf("%d files: %d bytes, not %d", len(test.paths), got, test.want)
		}
	}
}
