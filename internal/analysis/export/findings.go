package export

import (
	"fmt"
	"strings"

	"heapdrift/ingest/figures"
	"heapdrift/internal/analysis"
)

// noteworthy is what a format for reading shows of the findings: those that leak or grow, and what may be taken for it.
func noteworthy(r *analysis.Report, opt Options) (shown []analysis.Finding, left int) {
	for i := range r.Findings {
		switch v := r.Findings[i].Verdict; {
		case !v.IsSuspect() && v != analysis.ClassCache && v != analysis.ClassOneTime:
		case opt.Top > 0 && len(shown) == opt.Top:
			left++
		default:
			shown = append(shown, r.Findings[i])
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
		f := &shown[i]
		p.line("")
		p.line("%s  %s  %s", classNote(f.Verdict, f.Score), f.Title, f.Signature)
		p.line("    %s of %s%s%s", heldNote(&f.Amounts), figures.Plural(f.Sites, "site"),
			growthNote(growthOf(&f.Amounts)), rateNote(f))
		for _, note := range attributes(f) {
			p.line("    %s", note)
		}
		for _, c := range f.Clauses {
			p.line("    %s %s", mark(c.Holds), c.Text)
		}
		for _, w := range f.Witnesses[min(1, len(f.Witnesses)):] {
			p.line("    also in %s: %s", w.Kind, classNote(w.Verdict, w.Score))
		}
	}
	if left > 0 {
		p.line("")
		p.line("%s; --top 0 or --format json shows all.", figures.Plural(left, "more finding"))
	}
}

// classNote prints a class with how sure it is that it is a leak.
func classNote(class analysis.Class, score *float64) string {
	if score == nil || *score < 0.005 { // next to certainly none
		return string(class)
	}
	return string(class) + " " + figures.Score(*score)
}

func rateNote(f *analysis.Finding) string {
	if f.Rate == nil {
		return ""
	}
	return fmt.Sprintf(", %s per %s", figures.Bytes(int64(f.Rate.Bytes)), f.Rate.Unit)
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
		f := &shown[i]
		score, growth, rate := "–", "–", "–"
		if f.Score != nil {
			score = figures.Score(*f.Score)
		}
		if f.Growth != nil {
			growth = change(f.BeforeExit().Bytes)
		}
		if _, ended := f.HeldBeforeExit(); ended {
			growth = heldNote(&f.Amounts)
		}
		if f.Rate != nil {
			rate = strings.TrimPrefix(rateNote(f), ", ")
		}
		p.line("| %s | %s | %s | %s | %s | %s |", f.Verdict, score, code(f.Title), growth, rate, code(f.Signature))
	}
	if left > 0 {
		p.line("")
		p.line("%s.", figures.Plural(left, "more finding"))
	}
	p.line("")
	for i := range shown {
		f := &shown[i]
		if len(f.Clauses) == 0 || !f.Verdict.IsSuspect() {
			continue
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
}
