package leaks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/analysis/score"
)

// A BaselineReport is the report of an earlier run, in the role of a build where there is no server.
type BaselineReport struct {
	Name string // as the command line names it
	Kind string // BaselineReport or BaselineEvidence of package analysis
	*analysis.Report
}

// headLabel is what sentences call the run that is compared.
const headLabel = "this run"

// CompareReports compares a run with a baseline, given as the reports of earlier runs, oldest first, and decides its
// gate: it fails if a certain leak is new, or grows faster than in any of them. The reports must have all findings in
// full. The result goes into r.Compared; the verdict of r then counts what is new or faster.
func CompareReports(r *analysis.Report, baseline []BaselineReport) {
	o := reportsOf(r, baseline)
	base, head := o.base(), o.head()
	policy := DefaultPolicies().Default
	c := &GateCase{Policy: &policy, Asked: []FailOn{FailOnNew, FailOnGrown}, Suffices: r.Suffices(),
		Process: r.Process.Name, Head: head, BaselineNamed: true,
		Compared: &RunComparison{Base: base, Head: head, Comparison: compare.Compare(base, head)}}
	alone := r.OwnVerdict()
	v := Judge(&RunResult{RunFacts: RunFacts{Analysed: true}, Status: alone.Status, Sentence: alone.Sentence}, c)
	o.record(&v)
}

// runReports are the reports of a run and of its baseline.
type runReports struct {
	*analysis.Report
	baseline []BaselineReport
	repeated []string               // names of those that rest on the same files as one before
	results  []*compare.BuildResult // of the baseline
	shown    []shownFindings        // of the baseline
	runs     PoolRuns               // those that suffice, the run last; nil where it does not
	pooled   []int                  // the baseline's runs in runs, as indexes of baseline
}

func reportsOf(r *analysis.Report, baseline []BaselineReport) *runReports {
	o := &runReports{Report: r}
	seen := map[string]bool{}
	for i := range baseline {
		files := digestsOf(baseline[i].Report)
		if files != "" && seen[files] {
			o.repeated = append(o.repeated, baseline[i].Name)
			continue
		}
		seen[files] = true
		o.baseline = append(o.baseline, baseline[i])
	}
	names := headNamesOf(r, o.baseline)
	for i := range o.baseline {
		b := &o.baseline[i]
		side := compare.ResultOf(b.Name, b.Report)
		side.Statuses = []analysis.VerdictStatus{b.OwnVerdict().Status}
		side.Findings = names.rename(side.Findings)
		shown := shownIn(b.Report)
		names.add(shown)
		o.results, o.shown = append(o.results, side), append(o.shown, shown)
		if b.Suffices() {
			o.runs, o.pooled = append(o.runs, poolRun(b.Name, i, b.Report)), append(o.pooled, i)
		}
	}
	if o.runs = append(o.runs, poolRun(headLabel, len(o.baseline), r)); !r.Suffices() {
		o.runs = nil
	}
	return o
}

// digestsOf identifies the evidence of a report; "" where a file has no digest.
func digestsOf(r *analysis.Report) string {
	var all []string
	for _, e := range r.Evidence {
		if e.SHA256 == "" {
			return ""
		}
		all = append(all, e.SHA256)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func poolRun(name string, at int, r *analysis.Report) PoolRun {
	run := PoolRun{RunID: int64(at), Build: name, Rank: LineRank(at), HoldingSites: CountHoldingFindings(r.Findings)}
	if r.PartLengths != nil {
		run.PartLengths = *r.PartLengths
	}
	return run
}

// shownFindings are the findings of a report by signature, and by that which evidence without inlined calls gives.
type shownFindings map[string]*analysis.Finding

func shownIn(r *analysis.Report) shownFindings {
	s := shownFindings{}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Outline != "" && s[f.Outline] == nil {
			s[f.Outline] = f
		}
	}
	for i := range r.Findings {
		s[r.Findings[i].Signature] = &r.Findings[i]
	}
	return s
}

// of is what the report shows of a finding of another report; nil for nothing.
func (s shownFindings) of(f *analysis.Finding) *analysis.Finding {
	if same := s[f.Signature]; same != nil || f.Outline == "" {
		return same
	}
	return s[f.Outline]
}

// base is the baseline as one build's result: of several runs, each finding with its gravest judgement and its largest
// figures.
func (o *runReports) base() *compare.BuildResult {
	all := &compare.BuildResult{Label: "the baseline", Build: imageOf(o.baseline[0].Report)}
	if n := len(o.baseline); n > 1 {
		all.Label = fmt.Sprintf("the %d baselines", n)
	}
	var list []ComparedFinding
	ids := map[string]int64{}
	for i, side := range o.results {
		run := int64(i + 1)
		AddRun(all, ComparedRun{ID: run, Status: side.Statuses[0], Trace: side.Trace, Lossy: side.Lossy,
			Suffices: side.Suffices,
			Power:    side.Power})
		all.Seen = append(all.Seen, side.Seen...)
		for _, f := range side.Findings {
			if ids[f.Signature] == 0 {
				ids[f.Signature] = int64(len(ids) + 1)
			}
			list = append(list, ComparedFinding{RunID: run, LeakID: ids[f.Signature], Finding: f})
		}
		if imageOf(o.baseline[i].Report) != all.Build {
			all.Build = ""
		}
	}
	all.Findings = MergeFindings(list)
	all.Build = cmp.Or(all.Build, "baseline")
	return all
}

// head is the run as a build's result, each finding judged together with what the runs of the baseline show of it.
func (o *runReports) head() *compare.BuildResult {
	side := compare.ResultOf(cmp.Or(imageOf(o.Report), "run"), o.Report)
	side.Label, side.Statuses = headLabel, []analysis.VerdictStatus{o.OwnVerdict().Status}
	for i := range o.Findings {
		f, out := &o.Findings[i], &side.Findings[i]
		rating, pooled := o.rate(f)
		out.Class, out.Score, out.Certain = rating.Class, rating.Score, rating.Certain
		if pooled != nil {
			out.Onset = pooled.Onset
			f.Clauses = beforeNext(f.Clauses, pooled.Clauses(ratingOf(f).Rating)...)
		}
	}
	return side
}

// imageOf identifies the image of a report's process, "" where the evidence does not: signatures without symbols hold
// for one image.
func imageOf(r *analysis.Report) string {
	i := slices.IndexFunc(r.Modules, func(m analysis.Module) bool { return IsSameProgram(m.Name, r.Process.Name) })
	if i < 0 || r.Modules[i].DebugID == "" {
		return ""
	}
	return r.Modules[i].Name + " " + r.Modules[i].DebugID
}

// IsSameProgram reports whether two names are of one program, as the system or as debuggers print it.
func IsSameProgram(a, b string) bool {
	stem := func(s string) string { return strings.TrimSuffix(strings.ToLower(s), ".exe") }
	return stem(a) == stem(b)
}

// rate judges a finding of the run together with what the runs of the baseline show of it.
func (o *runReports) rate(f *analysis.Finding) (Rating, *PooledRating) {
	own := ratingOf(f)
	if len(o.runs) < 2 {
		return own.Rating, nil
	}
	pool := Pool{
		Runs: o.runs, RatingByRun: make([]*RunRating, len(o.runs)), Absent: map[string]bool{}, Judge: score.JudgeTogether,
	}
	for k, i := range o.pooled {
		by := compare.ShownBy{Held: f.Verdict != analysis.ClassLeftAtExit, Listed: f.LeftAtExit.Listed().Alone()}
		if there := o.shown[i].of(f); there != nil {
			pool.RatingByRun[k] = ratingOf(there)
		} else if o.results[i].WhyGone(f.Frames, by) != nil {
			pool.Absent[o.baseline[i].Name] = true
		}
	}
	at := len(o.runs) - 1
	pool.RatingByRun[at] = own
	return pool.Rate(at, own)
}

func ratingOf(f *analysis.Finding) *RunRating {
	return &RunRating{Rating: Rating{f.Verdict, f.Score, f.Certain}, Evidence: f.Evidence, Rate: f.Rate, Stayed: f.Stayed,
		Held: max(f.MostHeld, f.Outstanding.Count)}
}

// beforeNext adds clauses before the one that says what to record next, which stands last.
func beforeNext(clauses []score.Clause, more ...score.Clause) []score.Clause {
	at := len(clauses)
	if at > 0 && clauses[at-1].Rule == score.RuleNext {
		at--
	}
	return slices.Insert(clauses, at, more...)
}
