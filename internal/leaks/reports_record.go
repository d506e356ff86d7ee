package leaks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/analysis/score"
)

// The codes of what limits a comparison of reports. They are stable.
const (
	WarnBaselineInconclusive = "baseline-inconclusive" // its evidence does not tell what is new
	WarnBaselineOld          = "baseline-old-report"   // an older version wrote the report
	WarnBaselineSameFile     = "baseline-same-file"    // a file of it is evidence of the run as well
	WarnBaselineRepeated     = "baseline-repeated"     // it rests on the same files as another one, and counts once
)

// statusOf is the verdict that stands for a gate.
var statusOf = map[Gate]analysis.VerdictStatus{GateFailed: analysis.StatusLeak, GatePassed: analysis.StatusNoLeak,
	GateInconclusive: analysis.StatusInconclusive}

// record writes the verdict into the report of the run.
func (o *runReports) record(v *RunVerdict) {
	made := &analysis.Compared{Gate: string(v.Gate), Exit: v.Gate.ExitCode(), FailOn: []string{}, Why: v.Why,
		Sentence: v.Compared.Sentence, Reasons: []analysis.GateReason{}, Changes: []analysis.FindingChange{},
		Standing: []analysis.StandingLeak{}, Warnings: o.warnings(), OwnVerdict: o.OwnVerdict()}
	for _, on := range v.Decision.FailOn {
		made.FailOn = append(made.FailOn, string(on))
	}
	for i := range o.baseline {
		b := &o.baseline[i]
		alone := b.OwnVerdict()
		made.Runs = append(made.Runs, analysis.BaselineRun{Name: b.Name, Kind: b.Kind, Process: b.Process.Name,
			Status: alone.Status, Suffices: b.Suffices(), Sentence: alone.Sentence})
	}
	for _, r := range v.Decision.Reasons {
		made.Reasons = append(made.Reasons, analysis.GateReason{Effect: string(r.Effect), Code: string(r.Code),
			Signature: r.Signature, Sentence: r.Sentence})
	}
	o.recordChanges(made, v)
	o.Compared = made
	fails := 0
	for i := range made.Changes {
		if made.Changes[i].Fails {
			fails++
		}
	}
	o.Verdict.Status, o.Verdict.Leaks = statusOf[v.Gate], fails
	o.Verdict.Sentence = fmt.Sprintf("%s. %s This run alone: %s", capital(v.Why), made.Sentence, made.OwnVerdict.Sentence)
}

// recordChanges writes what became of each finding that leaks or grows, here or in the baseline.
func (o *runReports) recordChanges(made *analysis.Compared, v *RunVerdict) {
	failed, here := v.Decision.FailedSignatures(), map[string]*analysis.Finding{}
	for i := range o.Findings {
		here[o.Findings[i].Signature] = &o.Findings[i]
	}
	for i := range v.Compared.Rows {
		row := &v.Compared.Rows[i]
		f := row.HeadOrBase()
		ch := analysis.FindingChange{Signature: f.Signature, Title: f.Title, Change: string(row.Change),
			Why: row.Why + renamed(row, v.Compared), Fails: slices.Contains(failed, f.Signature)}
		ch.Doubtful = slices.ContainsFunc(v.Decision.Undecided,
			func(u UndecidedFinding) bool { return u.Signature == f.Signature })
		if row.Base != nil {
			ch.Was = row.Base.Class
		}
		if own := here[f.Signature]; row.Head != nil && own != nil {
			ch.Class, ch.Score, ch.Certain = row.Head.Class, row.Head.Score, row.Head.Certain
			own.Change = ch.Change
			if row.Head.Class.IsSuspect() {
				past := o.history(own, row.Head.Class)
				ch.History = past.Text
				if past.Text != "" {
					past.Text = capital(past.Text) + "."
					own.Clauses = beforeNext(own.Clauses, past)
				}
			}
			if FailsGate(row.Head) && !ch.Fails && row.Change != compare.ChangeNew && row.Change != compare.ChangeGrown {
				made.Standing = append(made.Standing, analysis.StandingLeak{Signature: f.Signature,
					Sentence: nameOf(f) + ": " + o.unless(own)})
			}
		}
		made.Changes = append(made.Changes, ch)
	}
}

// renamed names the leak of the other build that may be this one under another name.
func renamed(row *compare.Row, c *RunComparison) string {
	other := func(signature string) string {
		for i := range c.Rows {
			if f := c.Rows[i].HeadOrBase(); f.Signature == signature {
				return nameOf(f)
			}
		}
		return signature
	}
	for _, r := range c.Renames {
		switch {
		case row.Base == nil && r.Head == row.Head.Signature:
			return fmt.Sprintf("; it may be %s of %s under another name: %s", other(r.Base), c.Base.Name(), r.Why)
		case row.Head == nil && r.Base == row.Base.Signature:
			return fmt.Sprintf("; it may be %s of %s under another name: %s", other(r.Head), c.Head.Name(), r.Why)
		}
	}
	return ""
}

// ruleBaselines names the clause that says what earlier builds showed of a finding.
const ruleBaselines = "baselines"

// history says what several runs of the baseline show of a finding; nothing of one run, of which the change says it.
// Growth that levelled off in all of them speaks against a leak, unless all runs together say that it is one now.
func (o *runReports) history(f *analysis.Finding, judged analysis.Class) score.Clause {
	clause, n := score.Clause{Rule: ruleBaselines}, len(o.baseline)
	if n < 2 {
		return clause
	}
	counts := map[string]int{}
	for _, shown := range o.shown {
		counts[pastWord(shown.of(f))]++
	}
	if counts[pastAbsent] == n {
		clause.Holds, clause.Text = new(true), fmt.Sprintf("in none of %d baselines", n)
		return clause
	}
	var parts []string
	for _, word := range pastWords {
		if counts[word] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d of %d baselines", word, counts[word], n))
		}
	}
	clause.Text = strings.Join(parts, ", ")
	switch {
	case counts[pastAbsent]+counts[pastSteady] == n:
		clause.Holds = new(true)
	case counts[pastLevel] == n && judged != analysis.ClassLeak:
		clause.Holds = new(false)
	}
	return clause
}

// What runs of the baseline show of a finding.
const (
	pastGrew   = "grew in"
	pastLevel  = "levelled off in"
	pastSteady = "did not keep growing in"
	pastOpen   = "was not decided in"
	pastAbsent = "was not in"
)

var pastWords = []string{pastGrew, pastLevel, pastSteady, pastOpen, pastAbsent}

// pastWord is what one run shows of a finding, nil for nothing.
func pastWord(f *analysis.Finding) string {
	switch {
	case f == nil:
		return pastAbsent
	case f.Verdict.IsSuspect():
		return pastGrew
	case f.Verdict == analysis.ClassCache:
		return pastLevel
	case f.Verdict == analysis.ClassUnknown:
		return pastOpen
	}
	return pastSteady
}

// unless says what a leak may be instead, and which run would show it.
func (o *runReports) unless(f *analysis.Finding) string {
	longer := "Run twice as long"
	if n := len(o.Snapshots); o.Trace == nil && n > 1 {
		longer = fmt.Sprintf("Run twice as long, with %s", quantity.Plural(2*n, "snapshot"))
	} else if o.Window != nil {
		longer = "Record " + quantity.LongDuration(2*time.Duration(o.Window.DurationNS)) + " or more"
	}
	if n := len(f.Clauses); n > 0 && f.Clauses[n-1].Rule == score.RuleNext {
		if next := f.Clauses[n-1].Text; next != score.StillFilling {
			return "leak, or growth that one run cannot distinguish from a leak. " + next
		}
	}
	return "leak, or a cache that is still filling. " + longer + ", or mark it known."
}

// warnings say what limits the comparison.
func (o *runReports) warnings() []analysis.BaselineWarning {
	list := []analysis.BaselineWarning{}
	digests := map[string]string{}
	for _, e := range o.Evidence {
		if e.SHA256 != "" {
			digests[e.SHA256] = e.File
		}
	}
	for _, again := range o.repeated {
		list = append(list, analysis.BaselineWarning{Code: WarnBaselineRepeated, Run: again,
			Message: "it has the same files as another baseline and counts once"})
	}
	for i := range o.baseline {
		b := &o.baseline[i]
		warn := func(code, format string, args ...any) {
			list = append(list, analysis.BaselineWarning{Code: code, Run: b.Name, Message: fmt.Sprintf(format, args...)})
		}
		if !o.results[i].Decides() {
			warn(WarnBaselineInconclusive, "its evidence does not suffice to detect new leaks")
		}
		if b.Verdict.Suffices == nil {
			warn(WarnBaselineOld,
				"write this report again with analyze --format json: an older version wrote it, without the blocks that stayed over time")
		}
		for _, e := range b.Evidence {
			if file, same := digests[e.SHA256]; same && e.SHA256 != "" {
				warn(WarnBaselineSameFile, "%s is also evidence of this run, as %s; give the evidence of an earlier run", e.File, file)
				break
			}
		}
	}
	return list
}

// capital begins a sentence.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
