package analysis

import (
	"testing"

	"heapdrift/internal/analysis/score"
)

// Among many sites that keep memory a leak must be surer to be certain, and says why it is not.
func TestDoubtAmongMany(t *testing.T) {
	of := func(class Class, logOdds float64) Finding {
		return Finding{Verdict: class, Certain: true, Evidence: &score.Evidence{Kind: score.KindFollowed, Snapshots: 12, LogOdds: logOdds}}
	}
	for name, test := range map[string]struct {
		finding Finding
		sites   int
		certain bool
	}{
		"few sites":             {of(ClassLeak, 2.5), 36, true},
		"many sites":            {of(ClassLeak, 2.5), 300, false},
		"many, and sure":        {of(ClassLeak, 4), 300, true},
		"a block that grows":    {of(ClassGrowingBlock, 2.5), 300, true},
		"judged by no evidence": {Finding{Verdict: ClassLeak, Certain: true}, 300, true},
	} {
		d := &draft{findings: []*draftFinding{{Finding: test.finding}}}
		for range test.sites - d.chances() {
			d.findings = append(d.findings, &draftFinding{Finding: Finding{Verdict: ClassCache, Evidence: &score.Evidence{}}})
		}
		for range 300 { // count for nothing
			d.findings = append(d.findings, &draftFinding{Finding: Finding{Verdict: ClassStable}})
		}
		d.doubtAmongMany()
		f := d.findings[0]
		said := len(f.Clauses) == 1 && f.Clauses[0].Rule == ruleManySites && !*f.Clauses[0].Holds
		if f.Certain != test.certain || said == test.certain {
			t.Errorf("%s: certain %t, %+v", name, f.Certain, f.Clauses)
		}
	}
}

// A finding that was told keeps how much longer a run would decide.
func TestLongerOfWhatWasTold(t *testing.T) {
	told := &Finding{Clauses: []score.Clause{{Rule: "score"}, {Rule: score.RuleNext, LengthFactor: 3}}}
	if got := longerFor(told); got != 3 {
		t.Errorf("%v", got)
	}
	if longerFor(nil) != 0 || longerFor(&Finding{}) != 0 {
		t.Error("of nothing")
	}
}
