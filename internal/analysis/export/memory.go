package export

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/footprint"
)

// textReported writes the leaks that Application Verifier reports.
func textReported(p *printer, r *analysis.Report, opt Options) {
	for i := range r.Reported {
		if opt.Top > 0 && i == opt.Top {
			p.line("    %s; --top 0 or --format json shows all.",
				quantity.Plural(len(r.Reported)-i, "more reported leak"))
			break
		}
		l := &r.Reported[i]
		if i == 0 {
			p.line("")
			p.line("leaks that Application Verifier reports")
		}
		p.line("    %s", reportedLine(l))
		p.line("        %s", oneLine(l.Note))
		for _, f := range r.Stack(l.Stack) {
			p.line("        %s", f.Text())
		}
	}
}

// reportedLine tells one leak: what, where, how much.
func reportedLine(l *analysis.ReportedLeaks) string {
	s := l.Title
	if l.Where != "" {
		s += ", from " + l.Where
	}
	if l.Bytes > 0 {
		s += ", " + quantity.Bytes(l.Bytes)
	}
	if l.Count > 1 {
		s += fmt.Sprintf(", %s times", quantity.Count(l.Count))
	}
	if len(l.Addresses) > 0 {
		s += ", at " + strings.Join(l.Addresses, ", ")
		if l.Count > int64(len(l.Addresses)) {
			s += " and others"
		}
	}
	return s
}

// markdownReported writes them as a table.
func markdownReported(p *printer, r *analysis.Report, opt Options) {
	if len(r.Reported) == 0 {
		return
	}
	p.line("| Application Verifier | Where | Address | Size | Leaks |")
	p.line("| --- | --- | --- | ---: | ---: |")
	for i := range r.Reported {
		if opt.Top > 0 && i == opt.Top {
			p.line("")
			p.line("%s.", quantity.Plural(len(r.Reported)-i, "more reported leak"))
			break
		}
		l := &r.Reported[i]
		where := "–"
		if l.Where != "" {
			where = code(l.Where)
		}
		p.line("| %s | %s | %s | %s | %s |", cell(l.Title+": "+oneLine(l.Note)), where, cell(strings.Join(l.Addresses, ", ")),
			known(l.Bytes), quantity.Count(l.Count))
	}
	p.line("")
}

// textMemory writes what the evidence says beside sites. Of evidence of one kind the last is written whole: it has the
// growth.
func textMemory(p *printer, r *analysis.Report, opt Options) {
	for i := range r.Unreachable {
		if opt.Top > 0 && i == opt.Top {
			break
		}
		u := &r.Unreachable[i]
		if i == 0 {
			p.line("")
			p.line("no pointer was found to blocks of")
		}
		p.line("    %-50s %10s in %s, of %s in %s", u.Where, quantity.Bytes(u.Unreachable.Bytes),
			quantity.Plural(u.Unreachable.Count, "block"),
			quantity.Bytes(u.Outstanding.Bytes), quantity.Count(u.Outstanding.Count))
	}
	textMemoryHistory(p, r.MemoryHistory)
	for i := range r.Memory {
		m := &r.Memory[i]
		if isRepeated(r.Memory[i+1:], m) {
			continue
		}
		p.line("")
		p.line("memory     %s, %s", m.Source, m.File)
		for _, n := range m.Notes {
			p.line("    %s: %s", n.Topic, oneLine(n.Text))
			if n.Advice != "" {
				p.line("        %s", oneLine(n.Advice))
			}
		}
		if m.Space != nil {
			textSpace(p, m.Space)
		}
		textHeaps(p, m.Heaps)
		for _, h := range m.Managed {
			p.line("    managed %-14s %10s%s", h.Name, quantity.Bytes(h.Bytes), guessed(h.Guess))
		}
		if m.Reach != nil {
			searched := ""
			if m.Reach.Scanned > 0 {
				searched = fmt.Sprintf(", in %s searched", quantity.Bytes(m.Reach.Scanned))
			}
			p.line("    no pointer to %s (%s) of %s%s; %s", quantity.Plural(m.Reach.Unreachable.Count, "block"),
				quantity.Bytes(m.Reach.Unreachable.Bytes),
				quantity.Count(m.Reach.Blocks.Count), searched, m.Reach.Note)
		}
		textGroups(p, m, opt)
		textClaims(p, m, opt)
		textSamples(p, r, m.Samples, opt)
		textHandles(p, m.Handles)
		for k := range m.Gaps {
			if k == shownGaps {
				p.line("    not walked: %d more", len(m.Gaps)-shownGaps)
				break
			}
			g := &m.Gaps[k]
			p.line("    not walked: %s %v, %s: %s", g.What, g.Address, quantity.Bytes(g.Bytes), g.Why)
		}
	}
}

// shownGaps is how many of what could not be walked are written; json has all.
const shownGaps = 10

// isRepeated reports whether later evidence of the same kind says the same things.
func isRepeated(later []analysis.Memory, m *analysis.Memory) bool {
	for i := range later {
		if later[i].Kind == m.Kind && later[i].Source == m.Source {
			return true
		}
	}
	return false
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func guessed(guess bool) string {
	if guess {
		return "  (a guess, by what it looks like)"
	}
	return ""
}

func textSpace(p *printer, s *capture.Space) {
	if len(s.Uses) == 0 { // an excerpt has the other tables
		for _, shares := range [][]capture.Share{s.States, s.Types, s.Protections} {
			for _, share := range shares {
				p.line("    %-27s %10s", share.Name, quantity.Bytes(share.Bytes))
			}
		}
		return
	}
	p.line("    %-14s %-12s %10s %10s %10s %8s", "use", "WinDbg", "reserved", "committed", "private", "regions")
	for _, u := range s.Uses {
		word := footprint.NamesOfUse(u.Name)
		p.line("    %-14s %-12s %10s %10s %10s %8s", word.Title, word.WinDbg, known(u.Reserved), known(u.Committed),
			known(u.Private), knownCount(u.Regions))
	}
	if s.Limit > 0 {
		p.line("    the 32-bit program may use %s of address space; %s are taken", quantity.Bytes(s.Limit),
			quantity.Bytes(footprint.UsedBelowLimit(s)))
	}
	if part, ok := footprint.Fragmentation(s); ok {
		p.line("    largest free block %s at %v, fragmentation %.1f %%", quantity.Bytes(s.LargestFree),
			s.LargestFreeAt, 100*part)
	}
	if explained, unexplained, ok := footprint.Unexplained(s); ok {
		p.line("    private bytes %s by the system, %s by the regions, %s in none of them", quantity.Bytes(s.PrivateBytes),
			quantity.Bytes(explained), quantity.Bytes(unexplained))
	}
	for i := range min(len(s.Largest), 3) {
		l := &s.Largest[i]
		p.line("    reservation %v %s, %s committed", l.Address, quantity.Bytes(l.Reserved), quantity.Bytes(l.Committed))
	}
	for i := range min(len(s.Repeated), 3) {
		l := &s.Repeated[i]
		p.line("    %s reservations of %s, %s committed", quantity.Count(l.Count), quantity.Bytes(l.ReservedEach),
			quantity.Bytes(l.CommittedTotal))
	}
}

// known prints a size that is 0 where nobody says.
func known(n int64) string {
	if n == 0 {
		return "–"
	}
	return quantity.Bytes(n)
}

func knownCount(n int64) string {
	if n == 0 {
		return "–"
	}
	return quantity.Count(n)
}

func textHeaps(p *printer, heaps []capture.HeapFacts) {
	if text := footprint.DescribeHeapFree(heaps); text != "" {
		p.line("    %s", text)
	}
	for i := range heaps {
		h := &heaps[i]
		note := ""
		if h.Growth != nil {
			note = "  since the first: " + analysis.HeapChangeText(h)
		} else if h.Blocks.Count > 0 {
			note = "  " + quantity.Plural(h.Blocks.Count, "virtual block")
			if h.Blocks.Bytes > 0 {
				note += " of " + quantity.Bytes(h.Blocks.Bytes)
			}
		}
		if h.Doubtful {
			note += "  (a size that cannot be)"
		}
		if h.Busy.Count > 0 {
			note = fmt.Sprintf(" %10s busy in %s, virtual blocks with it%s", quantity.Bytes(h.Busy.Bytes),
				quantity.Plural(h.Busy.Count, "block"), note)
		}
		p.line("    heap %-18v %-12s %10s reserved %10s committed%s", h.Handle, h.Kind, known(h.Reserved),
			known(h.Committed), note)
	}
}

// groupWords are how ways of grouping are called.
var groupWords = map[string]string{
	capture.BySize: "by size", capture.ByType: "by what they point to first", capture.ByContent: "by content",
	capture.ByManager: "by memory manager",
}

func textGroups(p *printer, m *analysis.Memory, opt Options) {
	shown := map[string]int{}
	together := slices.ContainsFunc(m.Groups,
		func(g capture.BlockGroup) bool { return g.Heap == 0 && g.By == capture.BySize && g.Key == "" })
	limit := opt.Top
	if limit == 0 || limit > 10 {
		limit = 10
	}
	for i := range m.Groups {
		g := &m.Groups[i]
		if g.Heap != 0 && g.By == capture.BySize && together || shown[g.By] >= limit { // all heaps together say it
			continue
		}
		if shown[g.By]++; shown[g.By] == 1 {
			p.line("    blocks %s", groupWords[g.By])
		}
		p.line("        %-32s %10s in %s%s%s%s", analysis.NameOfGroup(g), quantity.Bytes(g.Usage.Bytes),
			quantity.Plural(g.Usage.Count, "block"), shareNote(m, g), usageNote(g.Growth), unreachableNote(g.Unreachable))
	}
}

// shareNote says which part of its heap a size is.
func shareNote(m *analysis.Memory, g *capture.BlockGroup) string {
	if g.Doubtful {
		return ", which cannot be"
	}
	share := analysis.PercentOfHeap(&m.Memory, g)
	if share == 0 {
		return ""
	}
	return fmt.Sprintf(", %.2f %% of the heap", share)
}

func usageNote(u *capture.Usage) string {
	if u == nil {
		return ""
	}
	return fmt.Sprintf(", %s", change(u.Bytes))
}

func unreachableNote(u *capture.Usage) string {
	if u == nil || u.Count == 0 {
		return ""
	}
	return fmt.Sprintf(", no pointer to %s of them", quantity.Count(u.Count))
}

func textClaims(p *printer, m *analysis.Memory, opt Options) {
	for i := range m.Claims {
		if opt.Top > 0 && i == opt.Top {
			p.line("    %d more functions", len(m.Claims)-i)
			break
		}
		c := &m.Claims[i]
		percent := ""
		if c.Percent != nil {
			percent = fmt.Sprintf(", leak probability %d %% by %s", *c.Percent, m.Source)
		}
		p.line("    %s: %s in %s, %s%s", c.Where, quantity.Bytes(c.Bytes), quantity.Count(c.Count), c.Type, percent)
	}
}

// textSamples writes the blocks whose stacks the evidence shows.
func textSamples(p *printer, r *analysis.Report, samples []analysis.Sample, opt Options) {
	shown := 0
	for i := range samples {
		s := &samples[i]
		if s.Stack == 0 || opt.Top > 0 && shown == opt.Top {
			continue
		}
		shown++
		p.line("    block %s %s %s", s.Address, known(s.Size), oneLine(s.Title+" "+s.Note))
		for _, f := range r.Stack(s.Stack) {
			p.line("        %s", f.Text())
		}
	}
}

func textHandles(p *printer, types []capture.HandleType) {
	var parts []string
	for i := range min(len(types), 6) {
		parts = append(parts, fmt.Sprintf("%s %s", quantity.Count(types[i].Count), types[i].Type))
	}
	if len(parts) > 0 {
		p.line("    handles: %s", strings.Join(parts, ", "))
	}
}
