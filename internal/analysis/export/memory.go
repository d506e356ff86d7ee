package export

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// textMemory writes what the evidence says beside sites. Of evidence of one kind the last is written whole: it has the growth.
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
		p.line("    %-50s %10s in %s, of %s in %s", u.Where, analysis.Bytes(u.Unreachable.Bytes), analysis.Plural(u.Unreachable.Count, "block"),
			analysis.Bytes(u.Outstanding.Bytes), analysis.Count(u.Outstanding.Count))
	}
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
			p.line("    managed %-14s %10s%s", h.Name, analysis.Bytes(h.Bytes), guessed(h.Guess))
		}
		if m.Reach != nil {
			searched := ""
			if m.Reach.Scanned > 0 {
				searched = fmt.Sprintf(", in %s searched", analysis.Bytes(m.Reach.Scanned))
			}
			p.line("    no pointer to %s (%s) of %s%s; %s", analysis.Plural(m.Reach.Unreachable.Count, "block"), analysis.Bytes(m.Reach.Unreachable.Bytes),
				analysis.Count(m.Reach.Blocks.Count), searched, m.Reach.Note)
		}
		textGroups(p, m, opt)
		textClaims(p, m, opt)
		textSamples(p, m.Samples, opt)
		textHandles(p, m.Handles)
		for k := range m.Gaps {
			if k == shownGaps {
				p.line("    not walked: %d more", len(m.Gaps)-shownGaps)
				break
			}
			g := &m.Gaps[k]
			p.line("    not walked: %s %v, %s: %s", g.What, g.Address, analysis.Bytes(g.Bytes), g.Why)
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
	p.line("    %-14s %-12s %10s %10s %10s %8s", "use", "WinDbg", "reserved", "committed", "private", "regions")
	for _, u := range s.Uses {
		word := analysis.WordOf(u.Name)
		p.line("    %-14s %-12s %10s %10s %10s %8s", word.Title, word.WinDbg, known(u.Reserved), known(u.Committed), known(u.Private), knownCount(u.Regions))
	}
	if part, ok := analysis.Fragmentation(s); ok {
		p.line("    largest free block %s at %v, fragmentation %.1f %%", analysis.Bytes(s.LargestFree), s.LargestFreeAt, 100*part)
	}
	if private, rest, ok := analysis.Unexplained(s); ok {
		p.line("    private bytes %s by the system, %s by the regions, %s in none of them", analysis.Bytes(s.PrivateBytes), analysis.Bytes(private), analysis.Bytes(rest))
	}
	for i := range min(len(s.Largest), 3) {
		l := &s.Largest[i]
		p.line("    reservation %v %s, %s committed", l.Address, analysis.Bytes(l.Reserved), analysis.Bytes(l.Committed))
	}
	for i := range min(len(s.Repeated), 3) {
		l := &s.Repeated[i]
		p.line("    %s reservations of %s, %s committed", analysis.Count(l.Count), analysis.Bytes(l.Reserved), analysis.Bytes(l.Committed))
	}
}

// known prints a size that is 0 where nobody says.
func known(n int64) string {
	if n == 0 {
		return "–"
	}
	return analysis.Bytes(n)
}

func knownCount(n int64) string {
	if n == 0 {
		return "–"
	}
	return analysis.Count(n)
}

func textHeaps(p *printer, heaps []capture.HeapFacts) {
	for i := range heaps {
		h := &heaps[i]
		note := ""
		if h.Growth != nil {
			note = fmt.Sprintf("  committed %s", change(h.Growth.Committed))
			if h.Growth.Busy != nil {
				note += ", busy " + change(h.Growth.Busy.Bytes)
			}
		}
		if h.Busy.Count > 0 {
			note = fmt.Sprintf(" %10s busy in %s, virtual blocks with it%s", analysis.Bytes(h.Busy.Bytes), analysis.Plural(h.Busy.Count, "block"), note)
		}
		p.line("    heap %-18v %-12s %10s reserved %10s committed%s", h.Handle, h.Kind, known(h.Reserved), known(h.Committed), note)
	}
}

// groupWords are how ways of grouping are called.
var groupWords = map[string]string{
	capture.BySize: "by size", capture.ByType: "by what they point to first", capture.ByContent: "by content", capture.ByManager: "by memory manager",
}

func textGroups(p *printer, m *analysis.Memory, opt Options) {
	shown := map[string]int{}
	together := slices.ContainsFunc(m.Groups, func(g capture.Group) bool { return g.Heap == 0 && g.By == capture.BySize })
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
		p.line("        %-32s %10s in %s%s%s", analysis.NameOfGroup(g), analysis.Bytes(g.Usage.Bytes), analysis.Plural(g.Usage.Count, "block"), usageNote(g.Growth), unreachableNote(g.Unreachable))
	}
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
	return fmt.Sprintf(", no pointer to %s of them", analysis.Count(u.Count))
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
		p.line("    %s: %s in %s, %s%s", c.Where, analysis.Bytes(c.Bytes), analysis.Count(c.Count), c.Type, percent)
	}
}

// textSamples writes the blocks whose stacks the evidence shows.
func textSamples(p *printer, samples []analysis.Sample, opt Options) {
	shown := 0
	for i := range samples {
		s := &samples[i]
		if len(s.Stack) == 0 || opt.Top > 0 && shown == opt.Top {
			continue
		}
		shown++
		p.line("    block %s %s %s", s.Address, known(s.Size), oneLine(s.Title+" "+s.Note))
		for _, f := range s.Stack {
			p.line("        %s", f.Text())
		}
	}
}

func textHandles(p *printer, types []capture.HandleType) {
	var parts []string
	for i := range min(len(types), 6) {
		parts = append(parts, fmt.Sprintf("%s %s", analysis.Count(types[i].Count), types[i].Type))
	}
	if len(parts) > 0 {
		p.line("    handles: %s", strings.Join(parts, ", "))
	}
}
