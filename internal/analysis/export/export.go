// Package export writes a report in the formats that people and other tools read. In come a Report and Options, out go
// the bytes of a file. FindFormat looks a Format up by its name.
package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
)

// Options shape the formats that people read. JSON, folded and CSV always have every site.
type Options struct {
	Top int // how many sites text and markdown show; 0 for all
	// Project, Build and Scenario are those of the run, for CI systems; "" where the report is of no server.
	Project, Build, Scenario string
}

// A Format is one way to write a report.
type Format struct {
	Name        string // "text", "json"; FindFormat finds it by this
	ContentType string
	Extension   string // of file names, with the dot
	cutToTop    bool   // no more than Options.Top sites and findings are written
	write       func(*printer, *analysis.Report, Options)
	document    func(io.Writer, *analysis.Report, Options) error // instead of write: of formats that are one document
}

// ShownRows is how many findings and sites of a report the format needs in full, for analysis.Options.ShownRows; 0 for
// all. JSON computes each as it writes it.
func (f Format) ShownRows(opt Options) int {
	switch {
	case f.document != nil:
		return 0
	case f.write == nil:
		return 1
	case f.cutToTop:
		return opt.Top
	}
	return 0
}

// Write writes the report.
func (f Format) Write(w io.Writer, r *analysis.Report, opt Options) error {
	switch {
	case f.document != nil:
		out := bufio.NewWriterSize(w, 64<<10)
		if err := f.document(out, r, opt); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return fmt.Errorf("export: write %s: %w", f.Name, err)
		}
		return nil
	case f.write == nil:
		return r.WriteJSON(w)
	}
	p := &printer{w: bufio.NewWriterSize(w, 64<<10)}
	f.write(p, r, opt)
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("export: write %s: %w", f.Name, err)
	}
	return nil
}

// Formats are the formats this version writes, the first is the default of the command line.
var Formats = []Format{
	{Name: "text", ContentType: plainText, Extension: ".txt", cutToTop: true, write: text},
	{Name: "json", ContentType: "application/json", Extension: ".json"},
	{Name: "markdown", ContentType: "text/markdown; charset=utf-8", Extension: ".md", cutToTop: true, write: markdown},
	{Name: "folded", ContentType: plainText, Extension: ".folded", write: folded},
	{Name: "umdh-text", ContentType: plainText, Extension: ".umdh.txt", write: umdh},
	{Name: "csv", ContentType: "text/csv; charset=utf-8", Extension: ".csv", write: csv},
	{Name: "pprof", ContentType: "application/octet-stream", Extension: ".pb.gz", document: pprof},
	{Name: "speedscope", ContentType: "application/vnd.speedscope+json", Extension: ".speedscope.json", document: speedscope},
	{Name: "sarif", ContentType: "application/sarif+json", Extension: ".sarif", document: sarif},
	{Name: "junit", ContentType: "application/xml", Extension: ".junit.xml", document: junit},
}

const plainText = "text/plain; charset=utf-8"

// FindFormat returns the format of that name; its error lists the formats that exist.
func FindFormat(name string) (Format, error) {
	var names []string
	for _, f := range Formats {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("export: unknown format %q; known are %s", name, strings.Join(names, ", "))
}

// printer collects output; bufio keeps the first error for the end.
type printer struct{ w *bufio.Writer }

// line writes a line. Texts come from evidence: what would steer a terminal is taken out of them.
func (p *printer) line(format string, args ...any) {
	_, _ = p.w.WriteString(strings.Map(plain, fmt.Sprintf(format, args...)))
	_ = p.w.WriteByte('\n')
}

// plain drops control characters but tabs and line ends.
func plain(r rune) rune {
	if r != '\t' && r != '\n' && (r < ' ' || r >= 0x7F && r < 0xA0) {
		return -1
	}
	return r
}

// top is the sites that a format for reading shows, and how many it leaves out.
func top(r *analysis.Report, opt Options) (shown []analysis.Site, left int) {
	n := len(r.Sites)
	if opt.Top > 0 {
		n = min(n, opt.Top)
	}
	return r.Sites[:n], len(r.Sites) - n
}

// change prints a growth with its sign in words of the design: a glyph and a true minus.
func change(n int64) string {
	switch {
	case n > 0:
		return "+" + quantity.Bytes(n)
	case n < 0:
		return quantity.Bytes(n)
	}
	return "0 B"
}

func changeCount(n int64) string {
	if n > 0 {
		return "+" + quantity.Count(n)
	}
	return quantity.Count(n)
}
