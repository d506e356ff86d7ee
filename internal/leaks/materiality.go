package leaks

import (
	"fmt"
	"strings"
	"time"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// DecisionThreshold is the growth from which a leak matters in a run, and what its undecided findings are expected to
// leak.
type DecisionThreshold struct {
	analysis.Growth
	Source   analysis.ThresholdSource `json:"source"`
	Sentence string                   `json:"sentence"`
	// Limit is the growth from which a leak keeps the run from passing: what matters or, where the evidence could not
	// have shown that, the smallest leak that it would have shown. Expected is what the undecided findings are expected
	// to leak together. Both are nil for a run that must be analysed again to know them.
	Limit    *analysis.Growth `json:"limit"`
	Expected *analysis.Growth `json:"expected"`
}

// ParseAskedThreshold reads the growth from which a call wants a leak to matter: "1MB/day"; nil for "". Its error is a
// *FieldError.
func ParseAskedThreshold(text string) (*analysis.Threshold, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if err := CheckText("matters", text, MaxReasonChars); err != nil {
		return nil, err
	}
	t, err := analysis.ParseThreshold(text)
	if err != nil {
		return nil, wrongField("matters", "%v", err)
	}
	return &t, nil
}

// RequestedThreshold is the threshold that the policy of a scenario sets; nil for the default.
func (p *Policies) RequestedThreshold(scenario string) *analysis.RequestedThreshold {
	threshold, err := analysis.ParseThreshold(p.For(scenario).Matters)
	if err != nil {
		return nil // it is empty: ParsePolicies has refused what is no growth
	}
	if _, own := p.Scenarios[scenario]; own {
		return &analysis.RequestedThreshold{Threshold: threshold, Source: analysis.ThresholdOfScenario,
			By: "set for the scenario " + scenario}
	}
	return &analysis.RequestedThreshold{
		Threshold: threshold, Source: analysis.ThresholdOfProject, By: "set for the project",
	}
}

// Settle is how long growth is ignored at the beginning of the evidence of a scenario; 0 for not at all.
func (p *Policies) Settle(scenario string) time.Duration { return p.For(scenario).settle() }

func (p *Policy) settle() time.Duration {
	d, err := time.ParseDuration(p.Settle)
	if err != nil {
		return 0 // it is empty: ParsePolicies has refused what is no duration
	}
	return d
}

// mattersSentence says what matters under a policy.
func (p *Policy) mattersSentence() string {
	const means = "Growing sites that could leak less do not block a gate. A call may only tighten this."
	threshold, err := analysis.ParseThreshold(p.Matters)
	if err != nil {
		return fmt.Sprintf("What matters: leaks of more than %s (the default). %s", analysis.DefaultThresholdText(), means)
	}
	return fmt.Sprintf("What matters: leaks of more than %s. %s", threshold, means)
}

// callAsks is what the call asks for; nil for nothing.
func (c *GateCase) callAsks() *analysis.RequestedThreshold {
	if c.AskedMatters == nil {
		return nil
	}
	return &analysis.RequestedThreshold{Threshold: *c.AskedMatters, Source: analysis.ThresholdOfCall,
		By: "asked for by the call"}
}

// weigh finds the counted findings that need not be decided under what matters now. What is not counted is decided: it
// adds nothing to what is expected.
func (d *decider) weigh() {
	d.immaterialOf = map[string]bool{}
	switch {
	case d.Observation == nil:
		for _, f := range d.counted {
			d.immaterialOf[f.Signature] = f.Immaterial
		}
		d.matters = d.asAnalysed()
		return
	case !d.Observation.Weighed:
		return
	}
	matters := d.Observation.ChooseThreshold(d.Matters, d.callAsks())
	var risks []analysis.Risk
	var of []*compare.Finding // by risk, those of Others left out
	for _, f := range d.counted {
		if FailsGate(f) {
			continue
		}
		d.immaterialOf[f.Signature] = true
		if f.Risk != nil {
			risks, of = append(risks, *f.Risk), append(of, f)
		}
	}
	limit := d.Observation.FailingBytes(matters.Growth)
	w := analysis.SelectRisks(append(risks, d.OtherRisks...), limit)
	for i, f := range of {
		d.immaterialOf[f.Signature] = !w.MustDecide[i]
	}
	d.matters = &DecisionThreshold{Growth: matters.Growth, Source: matters.Source, Sentence: matters.Sentence,
		Limit:    new(d.Observation.GrowthPerUnit(limit, matters.Growth)),
		Expected: new(d.Observation.GrowthPerUnit(w.ExpectedBytes, matters.Growth))}
}

// asAnalysed is what mattered in a run whose numbers were not stored: the default.
func (d *decider) asAnalysed() *DecisionThreshold {
	sentence := fmt.Sprintf("What matters here: %s (the default)", analysis.DefaultThresholdText())
	var asked []string
	for _, a := range []*analysis.RequestedThreshold{d.Matters, d.callAsks()} {
		if a != nil {
			asked = append(asked, fmt.Sprintf("%s, %s", a.Threshold, a.By))
		}
	}
	if len(asked) > 0 {
		sentence = fmt.Sprintf("What matters here: %s (the default at the time of the analysis; analyse the run again to apply %s)",
			analysis.DefaultThresholdText(), strings.Join(asked, ", and by "))
	}
	return &DecisionThreshold{Source: analysis.ThresholdOfDefault, Sentence: sentence}
}
