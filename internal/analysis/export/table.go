package export

import (
	stdcsv "encoding/csv"
	"slices"
	"strconv"
	"strings"

	"heapdrift/internal/analysis"
)

// folded writes one line per stack, outermost frame first, as flame graph tools read it. The number is growth
// in bytes where there is any to show, else outstanding bytes; stacks that shrank or hold nothing are left out,
// because the format has no negative widths.
func folded(p *printer, r *analysis.Report, _ Options) {
	safe := strings.NewReplacer(";", ",", "\n", " ", "\r", " ")
	for i := range r.Sites {
		s := &r.Sites[i]
		bytes := s.Outstanding.Bytes
		if s.Growth != nil {
			bytes = s.GrowthBeforeExit().Bytes
		}
		if bytes <= 0 {
			continue
		}
		names := []string{s.Kind}
		for _, f := range slices.Backward(r.Stack(s.Stack)) {
			names = append(names, safe.Replace(f.Name()))
		}
		if s.Stack == 0 {
			names = append(names, "[no stack]")
		}
		p.line("%s %d", strings.Join(names, ";"), bytes)
	}
}

// csv writes one row per site with stable column names.
func csv(p *printer, r *analysis.Report, _ Options) {
	w := stdcsv.NewWriter(p.w)
	_ = w.Write([]string{"signature", "kind", "heap", "verdict", "growth_bytes", "growth_count",
		"outstanding_bytes", "outstanding_count",
		"blame_module", "blame_function", "blame_file", "blame_line", "flags", "stack",
		"allocated_bytes", "allocated_count", "freed_bytes", "freed_count", "aifo_bytes", "aifo_count",
		"aifi_bytes", "aifi_count",
		"aofi_bytes", "aofi_count", "aofo_bytes", "aofo_count", "at_exit_bytes", "at_exit_count", "peak_bytes", "score",
		"before_exit_bytes", "before_exit_count"})
	for i := range r.Sites {
		s := &r.Sites[i]
		row := []string{CSVCell(s.Signature), CSVCell(s.Kind), CSVCell(s.Heap), string(s.Verdict), "", "",
			number(s.Outstanding.Bytes),
			number(s.Outstanding.Count),
			"", "", "", "", CSVCell(strings.Join(s.Flags, " ")), CSVCell(stackText(r.Stack(s.Stack)))}
		if s.Growth != nil {
			row[4], row[5] = number(s.Growth.Bytes), number(s.Growth.Count)
		}
		if b := s.Blame; b != nil {
			row[8], row[9], row[10], row[11] = CSVCell(b.Module), CSVCell(b.Function), CSVCell(b.File), number(int64(b.Line))
		}
		score := ""
		if s.Score != nil {
			score = strconv.FormatFloat(*s.Score, 'f', 4, 64)
		}
		before := []string{"", ""}
		if held, ended := s.HeldBeforeExit(); ended {
			before = []string{number(held.Bytes), number(held.Count)}
		}
		_ = w.Write(slices.Concat(row, lifetimeCells(s.Lifetimes), []string{score}, before)) // the error stays in the writer below
	}
	w.Flush()
}

// lifetimeCells are the columns that only traces fill.
func lifetimeCells(l *analysis.Lifetimes) []string {
	cells := make([]string, 15)
	if l == nil {
		return cells
	}
	for i, a := range []analysis.Amount{l.Allocated, l.Freed, l.AIFO, l.AIFI, l.AOFI, l.AOFO, l.AtExit} {
		cells[2*i], cells[2*i+1] = number(a.Bytes), number(a.Count)
	}
	if l.Peak != nil {
		cells[14] = number(l.Peak.Bytes)
	}
	return cells
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// CSVCell makes a text safe for a cell of CSV: one that a spreadsheet would run as a formula gets an apostrophe in
// front. Names come from outside.
func CSVCell(text string) string {
	if text != "" && strings.ContainsAny(text[:1], "=+-@\t\r") {
		return "'" + text
	}
	return text
}

func stackText(stack []*analysis.Frame) string {
	names := make([]string, len(stack))
	for i, f := range stack {
		names[i] = f.Text()
	}
	return strings.Join(names, " < ")
}
