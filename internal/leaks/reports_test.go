package leaks_test

import (
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

// place is a finding of shop.exe as its report has it.
func place(name string, class analysis.Class, kept int64) analysis.Finding {
	f := analysis.Finding{Signature: "sig1:" + name, Title: "shop!" + name, Kind: "heap", Verdict: class, Certain: class == leak,
		Frames: []string{"shop!" + name, "shop!Serve", "shop!main", "a!b", "c!d"}, Sites: 1,
		Evidence: &score.Evidence{LogOdds: -6}, Stayed: score.StayedBlocks{kept / 4, kept / 4, kept / 4, kept / 4}}
	f.Growth = &analysis.Amount{Count: kept, Bytes: 1024 * kept}
	if class.IsSuspect() {
		f.Score, f.Evidence.LogOdds = new(0.99), 4
		f.Rate = &score.Rate{Unit: "hour", Count: float64(kept) / 2, Bytes: 512 * float64(kept), Over: 2, Dispersion: 1}
		f.Clauses = []score.Clause{{Rule: "growth", Text: "it grew"},
			{Rule: "next", Text: "Record longer, or mark it known: a cache that is still filling looks the same."}}
	}
	return f
}

// reportOf is a report on two hours of shop.exe whose evidence suffices.
func reportOf(findings ...analysis.Finding) *analysis.Report {
	r := &analysis.Report{Process: analysis.Process{Name: "shop.exe"}, Findings: findings,
		Snapshots:   make([]analysis.Snapshot, 12),
		PartLengths: &score.PartLengths{Unit: "hour", Over: [score.RunParts]float64{0.5, 0.5, 0.5, 0.5}},
		Verdict:     analysis.EvidenceVerdict{Status: analysis.StatusNoLeak, Sentence: "It is said.", Suffices: new(true)}}
	for i := range findings {
		if findings[i].Certain {
			r.Verdict.Status = analysis.StatusLeak
			r.Verdict.Leaks++
		}
	}
	return r
}

func insufficient(r *analysis.Report) *analysis.Report {
	r.Verdict.Status, r.Verdict.Suffices = analysis.StatusInconclusive, new(false)
	return r
}

// baselineOf names reports A, B, C and so on.
func baselineOf(reports ...*analysis.Report) (list []leaks.BaselineReport) {
	for i, r := range reports {
		list = append(list, leaks.BaselineReport{Name: string(rune('A' + i)), Kind: analysis.BaselineReport, Report: r})
	}
	return list
}

// The gate by the reports of earlier runs.
func TestCompareReports(t *testing.T) {
	grown := place("X", leak, 400)
	unsure := place("X", leak, 400)
	unsure.Certain = false
	unnamed := place("X", leak, 400)
	unnamed.Frames[0] = "shop!<unknown>+0x10"
	image := func(r *analysis.Report, id string) *analysis.Report {
		r.Modules = []analysis.Module{{Name: "shop.exe", DebugID: id}}
		return r
	}
	for _, c := range []struct {
		name     string
		head     *analysis.Report
		baseline []*analysis.Report
		gate     leaks.Gate
		why      string
		change   string // of the first row
	}{
		{"new", reportOf(place("X", leak, 400)), []*analysis.Report{reportOf()}, leaks.GateFailed, "1 new leak", "new"},
		{"persisting", reportOf(place("X", leak, 400)), []*analysis.Report{reportOf(place("X", leak, 400))}, leaks.GatePassed,
			"no leak is new; 1 leak is also in the baseline, not certainly faster now", "persisting"},
		{"grown", reportOf(grown), []*analysis.Report{reportOf(place("X", leak, 100))}, leaks.GateFailed, "1 grown leak", "grown"},
		{"as fast as in one of two", reportOf(grown),
			[]*analysis.Report{reportOf(place("X", leak, 100)), reportOf(place("X", leak, 400))}, leaks.GatePassed,
			"no leak is new; 1 leak is also in the 2 baselines, not certainly faster now", "persisting"},
		{"gone", reportOf(place("X", stable, 0)), []*analysis.Report{reportOf(place("X", leak, 400))}, leaks.GatePassed,
			"no site leaks", "fixed"},
		{"a baseline that decides nothing", reportOf(grown), []*analysis.Report{insufficient(reportOf())}, leaks.GateInconclusive,
			"the evidence of the baseline does not decide whether 1 leak is new", "new"},
		{"an onset that the run before tells", reportOf(unsure), []*analysis.Report{reportOf()}, leaks.GateFailed, "1 new leak", "new"},
		{"an onset that the run before cannot tell", reportOf(unsure), []*analysis.Report{insufficient(reportOf())},
			leaks.GateInconclusive, "shop!X could be a new leak (99 %)", "new"},
		{"one of two decides", reportOf(grown), []*analysis.Report{insufficient(reportOf()), reportOf()}, leaks.GateFailed,
			"1 new leak", "new"},
		{"a baseline of which only another site is undecided", reportOf(grown), []*analysis.Report{func() *analysis.Report {
			r := reportOf(place("Y", grows, 40))
			r.Verdict.Status = analysis.StatusInconclusive
			return r
		}()}, leaks.GateFailed, "1 new leak", "new"},
		{"a run that decides nothing", insufficient(reportOf(place("X", grows, 400))), []*analysis.Report{reportOf()},
			leaks.GateInconclusive, "shop!X could be a new leak (99 %); the evidence does not decide", "new"},
		{"no symbols", reportOf(unnamed), []*analysis.Report{reportOf()}, leaks.GateInconclusive,
			"the evidence of the baseline does not decide whether 1 leak is new", "new"},
		{"no symbols, of one image", image(reportOf(unnamed), "1"), []*analysis.Report{image(reportOf(), "1")}, leaks.GateFailed,
			"1 new leak", "new"},
		{"no symbols, of two images", image(reportOf(unnamed), "1"), []*analysis.Report{image(reportOf(), "2")},
			leaks.GateInconclusive, "the evidence of the baseline does not decide whether 1 leak is new", "new"},
		{"no symbols, of images of which one is another", image(reportOf(unnamed), "1"),
			[]*analysis.Report{image(reportOf(), "1"), image(reportOf(), "2")}, leaks.GateInconclusive,
			"the evidence of the 2 baselines does not decide whether 1 leak is new", "new"},
	} {
		leaks.CompareReports(c.head, baselineOf(c.baseline...))
		got := c.head.Compared
		if got.Gate != string(c.gate) || got.Why != c.why || len(got.Changes) == 0 || got.Changes[0].Change != c.change ||
			got.Exit != c.gate.ExitCode() {
			t.Errorf("%s: %+v", c.name, got)
		}
		fails := 0
		if c.gate == leaks.GateFailed {
			fails = 1
		}
		if c.head.Verdict.Leaks != fails || !strings.HasSuffix(c.head.Verdict.Sentence, " This run alone: It is said.") {
			t.Errorf("%s: the verdict is %+v", c.name, c.head.Verdict)
		}
	}
}

// What earlier builds showed stands among the reasons, before what to record next.
func TestHistoryOfReports(t *testing.T) {
	r := func(class analysis.Class, kept int64) *analysis.Report { return reportOf(place("X", class, kept)) }
	for _, c := range []struct {
		baseline []*analysis.Report
		says     string
		holds    *bool
	}{
		{[]*analysis.Report{r(leak, 400)}, "", nil},
		{[]*analysis.Report{r(leak, 400), r(grows, 400), r(leak, 400)}, "grew in 3 of 3 baselines", nil},
		{[]*analysis.Report{r(cache, 400), r(cache, 400)}, "levelled off in 2 of 2 baselines", new(false)},
		{[]*analysis.Report{r(cache, 8), r(cache, 8)}, "levelled off in 2 of 2 baselines", nil},
		{[]*analysis.Report{reportOf(), reportOf(), reportOf()}, "in none of 3 baselines", new(true)},
		{[]*analysis.Report{reportOf(), r(stable, 0)},
			"did not keep growing in 1 of 2 baselines, was not in 1 of 2 baselines", new(true)},
		{[]*analysis.Report{r(leak, 400), r(cache, 400), r(analysis.ClassUnknown, 0), r(analysis.ClassOneTime, 4)},
			"grew in 1 of 4 baselines, levelled off in 1 of 4 baselines, did not keep growing in 1 of 4 baselines, was not decided in 1 of 4 baselines",
			nil},
	} {
		head := reportOf(place("X", leak, 400))
		leaks.CompareReports(head, baselineOf(c.baseline...))
		clauses := head.Findings[0].Clauses
		i := slices.IndexFunc(clauses, func(c score.Clause) bool { return c.Rule == "baselines" })
		switch {
		case head.Compared.Changes[0].History != c.says, clauses[len(clauses)-1].Rule != "next":
			t.Errorf("%q, want %q; %+v", head.Compared.Changes[0].History, c.says, clauses)
		case c.says == "" && i >= 0, c.says != "" && (i < 0 || clauses[i].Text != strings.ToUpper(c.says[:1])+c.says[1:]+"."):
			t.Errorf("%q: %+v", c.says, clauses)
		case i >= 0 && (clauses[i].Holds == nil) != (c.holds == nil), i >= 0 && c.holds != nil && *clauses[i].Holds != *c.holds:
			t.Errorf("%q: the clause is %+v", c.says, clauses[i])
		}
	}
}

// What the baseline has as well is named with what it may be instead and the run that would tell; what is new is not.
func TestStandingLeaks(t *testing.T) {
	expires := place("X", leak, 400)
	expires.Clauses[1].Text = "Blocks are freed at that age."
	trace := reportOf(place("X", leak, 400))
	trace.Trace, trace.Window = &analysis.Trace{}, &analysis.Window{DurationNS: 30e9}
	const filling = "shop!X: leak, or a cache that is still filling. "
	for name, c := range map[string]struct {
		head *analysis.Report
		says string
	}{
		"snapshots": {reportOf(place("X", leak, 400)), filling + "Run twice as long, with 24 snapshots, or mark it known."},
		"a trace":   {trace, filling + "Record 60 seconds or more, or mark it known."},
		"what expires": {reportOf(expires),
			"shop!X: leak, or growth that one run cannot distinguish from a leak. Blocks are freed at that age."},
		"new":         {reportOf(place("Y", leak, 400)), ""},
		"not certain": {reportOf(place("X", grows, 400)), ""},
	} {
		base := place("X", leak, 400)
		if name == "not certain" {
			base = place("X", grows, 400)
			base.Evidence, c.head.Findings[0].Evidence = nil, nil // alone, either may be a leak
		}
		leaks.CompareReports(c.head, baselineOf(reportOf(base)))
		var says []string
		for _, s := range c.head.Compared.Standing {
			says = append(says, s.Sentence)
		}
		if strings.Join(says, "\n") != c.says {
			t.Errorf("%s: %q, want %q", name, says, c.says)
		}
	}
}

// Warnings limit what a comparison says.
func TestBaselineWarnings(t *testing.T) {
	file := func(r *analysis.Report, digest string) *analysis.Report {
		r.Evidence = []analysis.Evidence{{File: "1.txt", SHA256: digest}}
		return r
	}
	old := reportOf()
	old.Verdict.Suffices = nil
	for name, c := range map[string]struct {
		baseline []*analysis.Report
		codes    string
		runs     int
	}{
		"none":             {[]*analysis.Report{file(reportOf(), "b")}, "", 1},
		"not enough":       {[]*analysis.Report{insufficient(reportOf())}, "A baseline-inconclusive", 1},
		"an older version": {[]*analysis.Report{old}, "A baseline-old-report", 1},
		"the same file":    {[]*analysis.Report{reportOf(), file(reportOf(), "a")}, "B baseline-same-file", 2},
		"twice":            {[]*analysis.Report{file(reportOf(), "b"), file(reportOf(), "b"), reportOf()}, "B baseline-repeated", 2},
		"without digests":  {[]*analysis.Report{reportOf(), reportOf(), file(reportOf(), ""), file(reportOf(), "")}, "", 4},
	} {
		head := file(reportOf(place("X", leak, 400)), "a")
		leaks.CompareReports(head, baselineOf(c.baseline...))
		var codes []string
		for _, w := range head.Compared.Warnings {
			codes = append(codes, w.Run+" "+w.Code)
		}
		if strings.Join(codes, ", ") != c.codes || len(head.Compared.Runs) != c.runs {
			t.Errorf("%s: %q, %d runs", name, codes, len(head.Compared.Runs))
		}
	}
}

// A report that was compared itself stands for its own evidence when it is a baseline.
func TestComparedReportAsBaseline(t *testing.T) {
	base := reportOf(place("X", leak, 400))
	leaks.CompareReports(base, baselineOf(reportOf(place("X", leak, 400))))
	head := reportOf(place("X", leak, 400), place("Y", leak, 400))
	leaks.CompareReports(head, baselineOf(base))
	if run := head.Compared.Runs[0]; base.Verdict.Status != analysis.StatusNoLeak || run.Status != analysis.StatusLeak ||
		run.Sentence != "It is said." || head.Compared.OwnVerdict.Leaks != 2 || head.Compared.Why != "1 new leak" {
		t.Errorf("%+v", head.Compared)
	}
	open := insufficient(reportOf(place("X", leak, 400)))
	leaks.CompareReports(open, baselineOf(reportOf()))
	head = reportOf(place("X", leak, 400), place("Y", leak, 400))
	leaks.CompareReports(head, baselineOf(open))
	if open.Verdict.Status != analysis.StatusLeak || head.Compared.Gate != string(leaks.GateInconclusive) {
		t.Errorf("after a gate that failed on evidence that does not suffice: %+v", head.Compared)
	}
}
