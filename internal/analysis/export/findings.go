package export

import (
	"fmt"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
)

// A row is what is listed as one: a finding, or all findings of a cause.
type row struct {
	cause    *analysis.LostTogether // nil for one finding
	findings []*analysis.Finding
}

// noteworthy is what a format for reading shows of the findings: those that leak or grow, and what may be taken for it.
// left counts the sites of those that it leaves out.
func noteworthy(r *analysis.Report, opt Options) (shown []row, left int) {
	at := map[int]int{} // by number of a cause: its row, −1 where it is left out
	for i := range r.Findings {
		f := &r.Findings[i]
		if v := f.Verdict; !v.IsSuspect() && v != analysis.ClassCache && v != analysis.ClassOneTime {
			continue
		}
		cause := r.FindLostTogether(f)
		k, listed := -1, false
		if cause != nil {
			k, listed = at[cause.Number]
		}
		switch {
		case listed && k >= 0:
			shown[k].findings = append(shown[k].findings, f)
			continue
		case listed:
			left += f.Sites
			continue
		}
		if k = len(shown); opt.Top > 0 && k == opt.Top {
			left += f.Sites
			k = -1
		} else {
			shown = append(shown, row{cause, []*analysis.Finding{f}})
		}
		if cause != nil {
			at[cause.Number] = k
		}
	}
	return shown, left
}

// textFindings writes what grows, each with its evidence line by line.
func textFindings(p *printer, r *analysis.Report, opt Options) {
	if r.Power != nil {
		p.line("")
		p.line("power      %s", r.Power.Sentence)
	}
	shown, left := noteworthy(r, opt)
	for i := range shown {
		p.line("")
		indent := ""
		if c := shown[i].cause; c != nil {
			textCause(p, c)
			indent = "    "
		}
		for _, f := range shown[i].findings {
			textFinding(p, f, indent)
		}
	}
	if left > 0 {
		p.line("")
		p.line("%s; show all with --top 0 or --format json.", quantity.Plural(left, "more site"))
	}
}

// textCause writes what is said of findings that are lost together.
func textCause(p *printer, c *analysis.LostTogether) {
	p.line("%s  %s  %s", c.Verdict, c.Title, c.CountText())
	rate := ""
	if c.Rate != nil {
		rate = c.Rate.State(&c.Amounts).TextBeside()
	}
	p.line("    %s came and stayed; its stacks hold %s%s%s", quantity.Plural(c.Objects, "object"), heldNote(&c.Amounts),
		growthNote(growthOf(&c.Amounts)), rate)
	for _, m := range c.Members {
		p.line("    of each %s", partNote(&m))
	}
}

// partNote says what a finding is of the objects of its cause.
func partNote(m *analysis.LostTogetherPart) string {
	s := fmt.Sprintf("%s of %s", quantity.Plural(m.Blocks, "block"), quantity.Bytes(int64(m.BytesPerBlock)))
	if m.Type != "" {
		s += ", " + m.Type
	}
	return s + ": " + m.Title
}

func textFinding(p *printer, f *analysis.Finding, indent string) {
	p.line("%s%s  %s  %s", indent, classNote(f.Verdict, f.Score), f.Title, f.Signature)
	p.line("%s    %s of %s%s%s", indent, heldNote(&f.Amounts), quantity.Plural(f.Sites, "site"),
		growthNote(growthOf(&f.Amounts)), rateNote(f))
	for _, note := range attributes(f) {
		p.line("%s    %s", indent, note)
	}
	for _, c := range f.Clauses {
		p.line("%s    %s %s", indent, mark(c.Holds), c.Text)
	}
	for _, w := range f.ByKind[min(1, len(f.ByKind)):] {
		p.line("%s    also in %s: %s", indent, w.Kind, classNote(w.Verdict, w.Score))
	}
}

// classNote prints a class with how sure it is that it is a leak.
func classNote(class analysis.Class, score *float64) string {
	if score == nil || *score < 0.005 { // next to certainly none
		return string(class)
	}
	return string(class) + " " + quantity.Score(*score)
}

func rateNote(f *analysis.Finding) string {
	if f.Rate == nil {
		return ""
	}
	return f.StateRate().TextBeside()
}

// attributes are what the project's rules say of a finding, and what else there is to know.
func attributes(f *analysis.Finding) []string {
	var list []string
	for _, a := range [][2]string{{"", f.Change}, {"owner ", f.Owner}, {"known: ", f.Known}, {"group ", f.Group}} {
		if a[1] != "" {
			list = append(list, a[0]+a[1])
		}
	}
	if f.Provisional {
		list = append(list, "provisional: symbols will give it another signature")
	}
	return list
}

// mark shows whether a clause holds.
func mark(holds *bool) string {
	switch {
	case holds == nil:
		return "?"
	case *holds:
		return "✓"
	}
	return "✗"
}

// markdownFindings writes a table of what leaks or grows, with the evidence folded.
func markdownFindings(p *printer, r *analysis.Report, opt Options) {
	shown, left := noteworthy(r, opt)
	if len(shown) == 0 {
		return
	}
	p.line("| Class | Score | Leak | Growth | Rate | Signature |")
	p.line("| --- | ---: | --- | ---: | ---: | --- |")
	for i := range shown {
		below := ""
		if c := shown[i].cause; c != nil {
			growth, rate := "–", "–"
			if c.Growth != nil {
				growth = change(c.GrowthBeforeExit().Bytes)
			}
			if c.Rate != nil {
				rate = c.Rate.State(&c.Amounts).Text()
			}
			p.line("| **%s** | | **%s**, %s, %s | %s | %s | |", c.Verdict, cell(c.Title), c.Ratio, c.CountText(), growth, rate)
			below = "↳ "
		}
		for _, f := range shown[i].findings {
			markdownFinding(p, f, below)
		}
	}
	if left > 0 {
		p.line("")
		p.line("%s.", quantity.Plural(left, "more site"))
	}
	p.line("")
	for i := range shown {
		for _, f := range shown[i].findings {
			markdownClauses(p, f)
		}
	}
}

func markdownFinding(p *printer, f *analysis.Finding, below string) {
	score, growth, rate := "–", "–", "–"
	if f.Score != nil {
		score = quantity.Score(*f.Score)
	}
	if f.Growth != nil {
		growth = change(f.GrowthBeforeExit().Bytes)
	}
	if _, ended := f.HeldBeforeExit(); ended {
		growth = heldNote(&f.Amounts)
	}
	if f.Rate != nil {
		rate = f.StateRate().Text()
	}
	p.line("| %s | %s | %s%s | %s | %s | %s |", f.Verdict, score, below, code(f.Title), growth, rate, code(f.Signature))
}

func markdownClauses(p *printer, f *analysis.Finding) {
	if len(f.Clauses) == 0 || !f.Verdict.IsSuspect() {
		return
	}
	p.line("<details><summary>Why %s: %s</summary>", f.Verdict, cell(f.Title))
	p.line("")
	for _, c := range f.Clauses {
		p.line("- %s %s", mark(c.Holds), cell(c.Text))
	}
	p.line("")
	p.line("</details>")
	p.line("")
}
