package main

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// heldFiles are the files whose text keeps the rules, as patterns of path.Match. A file is listed when it has been
// mended; the list only grows. Files that a pattern matches and that users do not read (tests, generated code) are
// left out by notRead.
var heldFiles = []string{
	"CONTRIBUTING.md",
	"README.md",
	"cmd/heapdrift/*.go",
	"docs/adding-a-format.md",
	"docs/allocations.md",
	"docs/api.md",
	"docs/architecture.md",
	"docs/ci.md",
	"docs/dumps.md",
	"docs/evidence.md",
	"docs/getting-started.md",
	"docs/hdsnap.md",
	"docs/kits.md",
	"docs/leaks-at-exit.md",
	"docs/leaks.md",
	"docs/limits.md",
	"docs/operations.md",
	"docs/performance.md",
	"docs/profiles.md",
	"docs/recording.md",
	"docs/reports.md",
	"docs/security.md",
	"docs/symbols.md",
	"docs/traces.md",
	"docs/umdh.md",
	"ingest/*.go",
	"ingest/*/*.go",
	"internal/analysis/*.go",
	"internal/analysis/*/*.go",
	"internal/leaks/*.go",
	"internal/symbols/*.go",
	"web/api/*.go",
	"web/api/openapi.yaml",
	"web/pages/account/*.go",
	"web/pages/account/*.templ",
	"web/pages/leaks/*.go",
	"web/pages/leaks/*.templ",
	"web/pages/operators/*.go",
	"web/pages/operators/*.templ",
	"web/pages/project/*.go",
	"web/pages/project/*.templ",
	"web/pages/run/*.go",
	"web/pages/run/*.templ",
	"web/pages/search/*.go",
	"web/pages/search/*.templ",
	"web/pages/settings/*.go",
	"web/pages/settings/*.templ",
	"web/pages/symbols/*.go",
	"web/pages/symbols/*.templ",
	"web/pages/ui/*.go",
	"web/pages/ui/*.templ",
	"web/pages/upload/*.go",
	"web/pages/upload/*.templ",
	"web/problem/*.go",
}

// notRead are the ends of names that hold no text for users, although a pattern matches them.
var notRead = []string{"_templ.go", "_test.go"}

// A filesystem lists and reads files.
type filesystem = fs.FS

// match lists the files that the patterns name, in order. A pattern that names no file is an error: the file has moved.
func match(files filesystem, patterns []string) ([]string, error) {
	var names []string
	for _, pattern := range patterns {
		matched, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pattern, err)
		}
		if len(matched) == 0 {
			return nil, fmt.Errorf("%s: no file has this name", pattern)
		}
		for _, name := range matched {
			if !slices.ContainsFunc(notRead, func(end string) bool { return strings.HasSuffix(name, end) }) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// readers find the texts of a file, by the end of its name.
var readers = map[string]func(name string, content []byte) ([]text, error){
	".templ": readTempl,
	".go":    readGo,
	".md":    readMarkdown,
	".yaml":  readOpenAPI,
}

func read(files filesystem, name string) ([]text, error) {
	reader := readers[path.Ext(name)]
	if reader == nil {
		return nil, fmt.Errorf("%s: no reader for such files", name)
	}
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	texts, err := reader(name, content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return texts, nil
}
