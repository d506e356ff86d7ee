package leaks

import (
	"fmt"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/analysis/compare"
)

// A leak falls silent by its stacks that rules tolerate after a change only, and counts again by those that they
// tolerated before only. What the team says of a leak stays.
func TestStandingsOfRules(t *testing.T) {
	type stack struct {
		signature, was, then, to string // to: another signature, which the team tolerates if it begins with "known"
		told                     bool
	}
	for name, test := range map[string]struct {
		stacks          []stack
		silenced, heard string
	}{
		"nothing changes":         {[]stack{{"a", "cache", "cache", "", false}, {"b", "", "", "", false}}, "[]", "[]"},
		"a rule is new":           {[]stack{{"a", "", "cache", "", false}, {"a", "", "", "", false}}, "[a known-by-rule cache 1/2]", "[]"},
		"a rule is gone":          {[]stack{{"a", "cache", "", "", false}, {"a", "", "", "", false}}, "[]", "[a known-by-rule 1/2]"},
		"one of each":             {[]stack{{"a", "", "cache", "", false}, {"a", "cache", "", "", false}}, "[a known-by-rule cache 1/2]", "[a known-by-rule 1/2]"},
		"another reason":          {[]stack{{"a", "cache", "pool", "", false}}, "[]", "[]"},
		"the team tolerates it":   {[]stack{{"a", "", "cache", "", true}, {"b", "cache", "", "", true}}, "[]", "[]"},
		"it joins a known leak":   {[]stack{{"a", "", "", "known b", false}}, "[a known it becomes part of a known leak 1/1]", "[]"},
		"it joins another leak":   {[]stack{{"a", "", "", "b", false}}, "[]", "[]"},
		"it joins and was silent": {[]stack{{"a", "cache", "", "known b", false}}, "[]", "[]"},
	} {
		trial := &RuleTrial{Tolerated: map[string]bool{"known b": true, "a": true}}
		var was, then []blame.RuleResult
		for _, s := range test.stacks {
			trial.Stacks = append(trial.Stacks, RuleStack{Signature: s.signature, Tolerated: s.told})
			before, after := blame.RuleResult{Known: s.was}, blame.RuleResult{Known: s.then}
			before.Signature.ID, after.Signature.ID = s.signature, s.signature
			if s.to != "" {
				after.Signature.ID = s.to
			}
			was, then = append(was, before), append(then, after)
		}
		silenced, heard := trial.standings(was, then).changes()
		var gotSilenced, gotHeard []string
		for _, s := range silenced {
			gotSilenced = append(gotSilenced, fmt.Sprintf("%s %s %s %d/%d", s.Signature, s.To, s.Why, s.Changed, s.ChangedOf))
		}
		for _, s := range heard {
			gotHeard = append(gotHeard, fmt.Sprintf("%s %s %d/%d", s.Signature, s.From, s.Changed, s.ChangedOf))
		}
		if fmt.Sprint(gotSilenced) != test.silenced || fmt.Sprint(gotHeard) != test.heard {
			t.Errorf("%s: silenced %v, heard %v, want %s and %s", name, gotSilenced, gotHeard, test.silenced, test.heard)
		}
	}
}

// A finding stands as rules say after the change, unless the team tolerates it or no stack of the trial shows it.
func TestFindingsUnderOtherRules(t *testing.T) {
	all := &ruleStandings{by: map[string]*ruleStanding{
		"silent": {after: "a cache"}, "heard": {}, "joins": {joins: true}, "told": {told: true, after: "a cache"},
	}}
	for name, test := range map[string]struct {
		finding compare.Finding
		known   string
		byRule  bool
		state   State
	}{
		"a rule is new":              {compare.Finding{Signature: "silent"}, "a cache", true, ""},
		"a rule is gone":             {compare.Finding{Signature: "heard", Known: "a pool", ByRule: true, State: string(StateKnown)}, "", false, StateOngoing},
		"no rule before":             {compare.Finding{Signature: "heard", State: string(StateNew)}, "", false, StateNew},
		"it joins":                   {compare.Finding{Signature: "joins"}, "it becomes part of a known leak", false, ""},
		"the team says so":           {compare.Finding{Signature: "told", Known: "told", State: string(StateKnown)}, "told", false, StateKnown},
		"tolerated by nobody's rule": {compare.Finding{Signature: "silent", Known: "told", State: string(StateKnown)}, "told", false, StateKnown},
		"another rule":               {compare.Finding{Signature: "silent", Known: "a pool", ByRule: true}, "a cache", true, ""},
		"not in the trial":           {compare.Finding{Signature: "other", Known: "a pool", ByRule: true}, "a pool", true, ""},
	} {
		got := all.finding(&test.finding)
		if got.Known != test.known || got.ByRule != test.byRule || got.State != string(test.state) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A case under other rules has them on every side of it, and the case itself stays as it was.
func TestCaseUnderOtherRules(t *testing.T) {
	all := &ruleStandings{by: map[string]*ruleStanding{"a": {after: "a cache"}}}
	side := func(build string) *compare.BuildResult {
		return &compare.BuildResult{Build: build, Findings: []compare.Finding{{Signature: "a", Class: analysis.ClassLeak}, {Signature: "b"}}}
	}
	head := side("3")
	c := &GateCase{Head: head, Release: side("1"), Compared: &RunComparison{Base: side("2"), Head: head,
		Comparison: &compare.Comparison{Rows: []compare.Row{{Change: compare.ChangeNew, Head: &head.Findings[0]}, {Change: compare.ChangeFixed}}}}}
	known := func(c *GateCase) string {
		text := fmt.Sprint(c.Head.Findings[0].Known, "|", c.Head.Findings[1].Known)
		if c.Release != nil {
			text += "|" + c.Release.Findings[0].Known
		}
		if c.Compared != nil {
			text += "|" + c.Compared.Base.Findings[0].Known + "|" + c.Compared.Head.Findings[0].Known + "|" +
				c.Compared.Rows[0].Head.Known
		}
		return text
	}
	if got := known(all.apply(&PastCase{GateCase: c})); got != "a cache||a cache|a cache|a cache|a cache" {
		t.Error(got)
	}
	if got := known(c); got != "|||||" {
		t.Errorf("the case itself is changed: %s", got)
	}
	if got := known(all.apply(&PastCase{GateCase: &GateCase{Head: head}})); got != "a cache|" {
		t.Errorf("without a release and a baseline: %s", got)
	}
}
