package ui_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"heapdrift/web/pages/ui"
)

func TestFailuresSayWhatHappenedAndWhatToDo(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{ui.FilesFailure(1, "no-memory-events"), "The file has no heap events"},
		{ui.FilesFailure(3, "no-memory-events"), "Each of 3 files has no heap events"},
		{ui.FilesFailure(3, ""), "3 files could not be used, for different reasons"},
		{ui.FilesFailure(1, "from-another-version"), "The file could not be read"},
		{ui.FileFailure("a.dmp", "no-heap"), "a.dmp is a dump without heap memory"},
		{ui.AnalysisFailure("memory-exceeded", "x"), "The analysis needs more memory than a job may use"},
		{ui.AnalysisFailure("no-heap", "It did not produce a report"), "It did not produce a report"},
		{ui.AfterFailure("empty-file"), "Check that the tool finished, then upload the file again."},
		{ui.AfterFailure("from-another-version"), ""},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
	if !ui.IsFileRead("no-umdh-data") || ui.IsFileRead("truncated") || ui.IsFileRead("from-another-version") {
		t.Error("a file that was read to its end is told from one that was not")
	}
}

// notShown are codes that no page shows: codes of warnings, of parts that are left out, and of wrong calls.
var notShown = []string{
	"unknown-base", "bad-stream", "bad-entry", "bad-name", "too-many", "overlap", "repeated", "no-stream", "no-registers",
	"bad-process", "no-source",
	"sink-failed", "finished",
}

// Every code that a reader declares has its words.
func TestEveryCodeOfAReaderHasWords(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^(?:const )?\s*Code\w+\s*= "([a-z0-9.-]+)"`)
	var files []string
	for _, pattern := range []string{"evidence/error.go", "umdh/error.go", "etl/error.go", "etl/tracecapture/read.go",
		"etl/lifetimes/error.go", "minidump/error.go",
		"ntheap/error.go", "debugdiag/error.go", "windbg/error.go", "vmmap/error.go", "appverifier/error.go", "leakdiag/error.go"} {
		files = append(files, filepath.Join("..", "..", "..", "ingest", filepath.FromSlash(pattern)))
	}
	files = append(files, filepath.Join("..", "..", "..", "internal", "sandbox", "sandbox.go"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		codes := declared.FindAllStringSubmatch(string(text), -1)
		if len(codes) == 0 {
			t.Errorf("%s declares no code", file)
		}
		for _, code := range codes {
			if ui.AfterFailure(code[1]) == "" && !slices.Contains(notShown, code[1]) {
				t.Errorf("%s: %s has no words", file, code[1])
			}
		}
	}
}
