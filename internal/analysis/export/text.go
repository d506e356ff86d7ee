package export

import (
	"fmt"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
)

// text writes a report for a terminal.
func text(p *printer, r *analysis.Report, opt Options) {
	p.line("%s", strings.ToUpper(title(r)))
	p.line("%s", r.Verdict.Sentence)
	if r.Verdict.MattersSentence != "" {
		p.line("%s.", r.Verdict.MattersSentence)
	}
	textCompared(p, r, opt)
	p.line("")
	textProcess(p, r)
	if r.Trace != nil {
		textTrace(p, r)
	} else {
		textSnapshots(p, r)
	}
	textSymbols(p, r.Modules)
	if len(r.Warnings) > 0 {
		p.line("")
	}
	for _, w := range r.Warnings {
		p.line("warning: %s", WarningText(w))
	}
	textReported(p, r, opt)
	textMemory(p, r, opt)
	textFindings(p, r, opt)
	shown, left := top(r, opt)
	for i := range shown {
		textSite(p, i+1, r, &shown[i])
	}
	if left > 0 {
		p.line("")
		p.line("%s; show all with --top 0 or --format json.", quantity.Plural(left, "more site"))
	}
}

// textProcess writes what is known of the process.
func textProcess(p *printer, r *analysis.Report) {
	text := orUnknown(r.Process.Name)
	if r.Process.PID != 0 {
		text += fmt.Sprintf(", pid %d", r.Process.PID)
	}
	if r.Process.Bits != 0 {
		text += fmt.Sprintf(", %d bit", r.Process.Bits)
	}
	p.line("process    %s", text)
}

// textSnapshots writes the instants of a series and the heaps at the last one.
func textSnapshots(p *printer, r *analysis.Report) {
	for i, s := range r.Snapshots {
		bound := ""
		if s.LowerBound {
			bound = "  (cut short: lower bound)"
		}
		held := fmt.Sprintf("%10s in %s", quantity.Bytes(s.Bytes), quantity.Plural(s.Count, "block"))
		if len(r.Sites) == 0 && len(r.Memory) > 0 && s.Count == 0 { // not known is not zero
			held = "lists no allocations"
		}
		p.line("snapshot %d %s  %-19s %s%s", i+1, s.File, orUnknown(s.TakenAt), held, bound)
	}
	if g := r.Totals.Heap.Growth; g != nil {
		p.line("growth     %s, %s blocks", change(g.Bytes), changeCount(g.Count))
		if v := r.Totals.Virtual.Growth; v != nil && v.Bytes != 0 {
			p.line("growth     %s of virtual memory", change(v.Bytes))
		}
	}
	for _, h := range r.Heaps {
		p.line("heap %-18s %10s in %s%s", h.Handle, quantity.Bytes(h.Outstanding.Bytes),
			quantity.Plural(h.Outstanding.Count, "block"), growthNote(h.Growth))
	}
}

// textSymbols says of each module that the stacks run through what its names rest on.
func textSymbols(p *printer, modules []analysis.Module) {
	first := true
	for _, m := range modules {
		if m.Frames == 0 || m.Match == "" {
			continue
		}
		if first {
			p.line("")
			first = false
		}
		p.line("symbols %-20s %-8s %s of %s named: %s", m.Name, m.Symbols, quantity.Count(m.Frames-m.Unnamed),
			quantity.Plural(m.Frames, "frame"), m.Match)
	}
}

// WarningText prints a warning on one line with its place.
func WarningText(w analysis.Warning) string {
	place := ""
	if w.File != "" && !strings.Contains(w.Message, w.File) {
		place = w.File + ": "
	}
	if w.Place != "" {
		place += w.Place + ": "
	}
	return fmt.Sprintf("%s%s [%s]", place, w.Message, w.Code)
}

func textSite(p *printer, number int, r *analysis.Report, s *analysis.Site) {
	p.line("")
	flags := ""
	if len(s.Flags) > 0 {
		flags = "  [" + strings.Join(s.Flags, ", ") + "]"
	}
	heap := ""
	if s.Heap != "" {
		heap = "  heap " + s.Heap
	}
	p.line("#%d %s  %s%s  %s%s%s", number, s.Where(), heldNote(&s.Amounts), growthNote(growthOf(&s.Amounts)),
		classNote(s.Verdict, s.Score), heap, flags)
	p.line("    %s", s.Signature)
	if note := lifetimeNote(&s.Amounts); note != "" {
		p.line("%s", note)
	} else if len(s.Series) > 2 {
		var points []string
		for _, pt := range s.Series {
			points = append(points, quantity.Bytes(pt.Bytes))
		}
		p.line("    series %s", strings.Join(points, ", "))
	}
	for _, f := range r.Stack(s.Stack) {
		p.line("    %s", frameText(f))
	}
	for _, alias := range s.AliasStacks {
		p.line("    or, under the same id:")
		for _, f := range r.Stack(alias) {
			p.line("    %s", frameText(f))
		}
	}
}

// frameText prints a frame with what sets it apart.
func frameText(f *analysis.Frame) string {
	text := f.Text()
	if f.Inline {
		text += "  [inline]"
	}
	if f.Approx {
		text += "  [nearest symbol]"
	}
	if f.Type != "" {
		text += "  allocates " + f.Type
	}
	return text
}

// heldNote says what is held, or was until the process ended: a leak of a process that has ended holds nothing any
// more.
func heldNote(a *analysis.Amounts) string {
	held, ended := a.HeldBeforeExit()
	s := quantity.Bytes(held.Bytes) + " in " + quantity.Plural(held.Count, "block")
	if ended {
		s += " before exit"
	}
	return s
}

// growthOf is growth as of the same instant as heldNote; nil where there is nothing to compare with.
func growthOf(a *analysis.Amounts) *analysis.Amount {
	if a.Growth == nil {
		return nil
	}
	return new(a.GrowthBeforeExit())
}

func growthNote(g *analysis.Amount) string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf("  %s (%s)", change(g.Bytes), changeCount(g.Count))
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
