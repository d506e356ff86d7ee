package main

import (
	"os"
	"path/filepath"
	"testing"

	"heapdrift/ingest"
)

const root = "../.."

// The generated regions of the documents agree with the rows.
func TestFresh(t *testing.T) {
	for name, text := range regions {
		file, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		renewed, err := renew(string(file), text(ingest.Formats()))
		if err != nil || renewed != string(file) {
			t.Errorf("%s differs from the rows in ingest/formats.go (%v): run make generate", name, err)
		}
	}
}

func TestRenew(t *testing.T) {
	for file, want := range map[string]string{
		"a\n<!-- formats:begin, see x -->\nold\nolder\n<!-- formats:end -->\nb\n": "a\n<!-- formats:begin, see x -->\nnew\n<!-- formats:end -->\nb\n",
		"    # formats:begin\n    # formats:end\n":                                "    # formats:begin\nnew\n    # formats:end\n",
		"formats:begin\nold\n": "",
		"old\nformats:end\n":   "",
		"":                     "",
	} {
		if got, err := renew(file, "new\n"); got != want || (err == nil) != (want != "") {
			t.Errorf("%q gives %q, %v", file, got, err)
		}
	}
}
