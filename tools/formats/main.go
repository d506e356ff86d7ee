// Command formats rewrites what documents and the API's description say of the formats of evidence, from the rows in
// ingest/formats.go. "make generate" runs it at the root of the repository:
//
//	go run ./tools/formats
//
// It replaces what stands between a line with "formats:begin" and the next one with "formats:end", and nothing else.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"heapdrift/ingest"
	"heapdrift/ingest/evidence"
)

// regions are the files with a region, and what belongs there.
var regions = map[string]func(evidence.Formats) string{
	"docs/evidence.md":     table,
	"web/api/openapi.yaml": enum,
}

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "formats:", err)
		os.Exit(1)
	}
}

// run rewrites the regions of the repository at root.
func run(root string) error {
	for name, text := range regions {
		path := filepath.Join(root, filepath.FromSlash(name))
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		renewed, err := renew(string(old), text(ingest.Formats()))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if renewed == string(old) {
			continue
		}
		if err := os.WriteFile(path, []byte(renewed), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// renew replaces the region of a file's text.
func renew(file, text string) (string, error) {
	before, rest, begins := strings.Cut(file, "formats:begin")
	marker, rest, whole := strings.Cut(rest, "\n")
	_, after, ends := strings.Cut(rest, "formats:end")
	if !begins || !whole || !ends {
		return "", fmt.Errorf("no region between the markers formats:begin and formats:end")
	}
	line := rest[:len(rest)-len(after)] // its last line is that of the marker
	line = line[strings.LastIndex(line, "\n")+1:]
	return before + "formats:begin" + marker + "\n" + text + line + after, nil
}

// table is what users read about formats, in Markdown.
func table(formats evidence.Formats) string {
	var b strings.Builder
	b.WriteString("\n| kind | what it is | written by | files | captures | rank |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, f := range formats {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %d |\n", f.Kind, f.Name, f.Tools, quoted(f.Extensions),
			quoted(f.CaptureKinds), f.Rank)
	}
	b.WriteString("\n")
	return b.String()
}

// enum is the schema of the kinds, in YAML, with the indentation of components.schemas.
func enum(formats evidence.Formats) string {
	var b strings.Builder
	b.WriteString("    EvidenceKind:\n      type: string\n      description: Format of the file, or of the files in it.\n      enum:\n")
	for _, f := range formats {
		fmt.Fprintf(&b, "        - %s # %s\n", f.Kind, f.Name)
	}
	return b.String()
}

// quoted lists words as code; "any" for none.
func quoted(words []string) string {
	if len(words) == 0 {
		return "any"
	}
	return "`" + strings.Join(words, "`, `") + "`"
}
