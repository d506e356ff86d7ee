package export

import (
	"slices"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export/outcome"
)

// title is what a report for reading begins with: the gate where there is a baseline, else the verdict.
func title(r *analysis.Report) string {
	if r.Compared != nil {
		return "gate " + r.Compared.Gate
	}
	return string(r.Verdict.Status)
}

// textCompared writes what became of the findings since the baseline, and what the gate says of it.
func textCompared(p *printer, r *analysis.Report, opt Options) {
	c := r.Compared
	if c == nil {
		return
	}
	for _, s := range c.Standing {
		p.line("%s", s.Sentence)
	}
	p.line("")
	for i := range c.Runs {
		b := &c.Runs[i]
		p.line("baseline   %s (%s): %s; %s", b.Name, b.Kind, b.Status, b.Sentence)
	}
	for _, w := range c.Warnings {
		p.line("warning: %s: %s [%s]", w.Run, w.Message, w.Code)
	}
	for _, reason := range c.Reasons {
		p.line("gate       %s: %s [%s]", reason.Effect, reason.Sentence, reason.Code)
	}
	shown, left := changesShown(c, opt)
	if len(shown) > 0 {
		p.line("")
	}
	for _, ch := range shown {
		p.line("%-13s %s  %s", ch.Change, ch.Title, ch.Signature)
		p.line("    %s", ch.Why)
		if ch.History != "" {
			p.line("    %s", ch.History)
		}
	}
	if left > 0 {
		p.line("")
		p.line("%s; show all with --top 0 or --format json.", quantity.Plural(left, "more change"))
	}
}

// changesShown are the changes that a format for reading lists.
func changesShown(c *analysis.Compared, opt Options) (shown []analysis.FindingChange, left int) {
	shown = c.Changes
	if opt.Top > 0 && len(shown) > opt.Top {
		shown, left = shown[:opt.Top], len(shown)-opt.Top
	}
	return shown, left
}

// markdownCompared writes the same as a table.
func markdownCompared(p *printer, r *analysis.Report, opt Options) {
	c := r.Compared
	if c == nil {
		return
	}
	for _, s := range c.Standing {
		p.line("- %s", cell(s.Sentence))
	}
	for i := range c.Runs {
		b := &c.Runs[i]
		p.line("- baseline %s: %s; %s", code(b.Name), b.Status, cell(b.Sentence))
	}
	for _, w := range c.Warnings {
		p.line("- ⚠ %s: %s (`%s`)", code(w.Run), cell(w.Message), w.Code)
	}
	for _, reason := range c.Reasons {
		p.line("- %s: %s (`%s`)", reason.Effect, cell(reason.Sentence), reason.Code)
	}
	p.line("")
	shown, left := changesShown(c, opt)
	if len(shown) == 0 {
		return
	}
	p.line("| Change | Leak | Why | Signature |")
	p.line("| --- | --- | --- | --- |")
	for _, ch := range shown {
		why := ch.Why
		if ch.History != "" {
			why += "; " + ch.History
		}
		p.line("| %s | %s | %s | %s |", ch.Change, code(ch.Title), cell(why), code(ch.Signature))
	}
	if left > 0 {
		p.line("")
		p.line("%s.", quantity.Plural(left, "more change"))
	}
	p.line("")
}

// changed are the words that outcomes have for changes. What is clean here is not fixed, and what was not exercised is
// neither.
var changed = map[string]string{"new": outcome.ChangeNew, "grown": outcome.ChangeGrown,
	"persisting": outcome.ChangePersisting, "shrunk": outcome.ChangePersisting, "fixed": outcome.ChangeFixed}

// compareOutcome makes the outcome of a report that of its comparison with a baseline. A finding may leak by what runs
// of the baseline add, and not by the run itself.
func compareOutcome(o *outcome.Outcome, r *analysis.Report) {
	c := r.Compared
	o.Gate, o.Why, o.Baseline = c.Gate, c.Why, baselineNames(c)
	at := map[string]int{}
	for i := range o.Leaks {
		o.Leaks[i].Fails = false
		at[o.Leaks[i].Signature] = i
	}
	for i := range c.Changes {
		ch := &c.Changes[i]
		k, here := at[ch.Signature]
		if !here {
			k = len(o.Leaks)
			f := slices.IndexFunc(r.Findings, func(f analysis.Finding) bool { return f.Signature == ch.Signature })
			switch {
			case ch.Class.IsSuspect() && f >= 0:
				o.Leaks = append(o.Leaks, leakOf(&r.Findings[f]))
			case changed[ch.Change] == outcome.ChangeFixed:
				o.Leaks = append(o.Leaks, outcome.Leak{Signature: ch.Signature, Title: ch.Title, Class: string(ch.Was)})
			default:
				continue
			}
		}
		l := &o.Leaks[k]
		if l.Known == "" {
			l.Change = changed[ch.Change]
		}
		if ch.Class.IsSuspect() {
			l.Class, l.Certain, l.Score = string(ch.Class), ch.Certain, ch.Score
		}
		l.Fails, l.Doubtful = ch.Fails, ch.Doubtful
		l.Reasons = append(l.Reasons, ch.Change+": "+ch.Why)
	}
}

// baselineNames names the runs of the baseline.
func baselineNames(c *analysis.Compared) string {
	names := make([]string, len(c.Runs))
	for i := range c.Runs {
		names[i] = c.Runs[i].Name
	}
	return strings.Join(names, ", ")
}
