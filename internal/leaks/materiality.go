package leaks

import (
	"fmt"
	"strings"
	"time"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// Matters is from which growth on a leak matters in a run, and what its undecided findings are expected to leak.
type Matters struct {
	analysis.Growth
	Source   analysis.MattersSource `json:"source"`
	Sentence string                 `json:"sentence"`
	// Limit is the growth from which a leak keeps the run from passing: what matters or, where the evidence could not have
	// shown that, the least leak that it would have shown. Expected is what the findings that are not decided are expected
	// to leak together. Both are nil of a run that must be analysed again for them.
	Limit    *analysis.Growth `json:"limit"`
	Expected *analysis.Growth `json:"expected"`
}

// ParseMatters reads from which growth on a call wants a leak to matter: "1MB/day"; nil where it says nothing. Its
// error is a *FieldError.
func ParseMatters(text string) (*analysis.Threshold, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if err := CheckText("matters", text, MaxReason); err != nil {
		return nil, err
	}
	t, err := analysis.ParseThreshold(text)
	if err != nil {
		return nil, wrongField("matters", "%v", err)
	}
	return &t, nil
}

// Matters is what the policy of a scenario sets; nil for the default.
func (p *Policies) Matters(scenario string) *analysis.RequestedThreshold {
	threshold, err := analysis.ParseThreshold(p.For(scenario).Matters)
	if err != nil {
		return nil // it is empty: ParsePolicies has refused what is no growth
	}
	if _, own := p.Scenarios[scenario]; own {
		return &analysis.RequestedThreshold{Threshold: threshold, Source: analysis.MattersScenario,
			By: "set for the scenario " + scenario}
	}
	return &analysis.RequestedThreshold{Threshold: threshold, Source: analysis.MattersProject, By: "set for the project"}
}

// Settle is the time at the beginning of the evidence of a scenario in which growth counts for nothing; 0 for none.
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
		return fmt.Sprintf("What matters: leaks of more than %s (the default). %s", analysis.DefaultMatters(), means)
	}
	return fmt.Sprintf("What matters: leaks of more than %s. %s", threshold, means)
}

// callAsks is what the call asks for; nil for nothing.
func (c *Case) callAsks() *analysis.RequestedThreshold {
	if c.AskedMatters == nil {
		return nil
	}
	return &analysis.RequestedThreshold{Threshold: *c.AskedMatters, Source: analysis.MattersCall,
		By: "asked for by the call"}
}

// weigh finds the counted findings that need not be decided under what matters now. What is not counted is decided: it
// adds nothing to what is expected.
func (d *decider) weigh() {
	d.immaterialOf = map[string]bool{}
	switch {
	case d.Watch == nil:
		for _, f := range d.counted {
			d.immaterialOf[f.Signature] = f.Immaterial
		}
		d.matters = d.asAnalysed()
		return
	case !d.Watch.Weighed:
		return
	}
	matters := d.Watch.Matters(d.Matters, d.callAsks())
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
	limit := d.Watch.Limit(matters.Growth)
	w := analysis.SelectRisks(append(risks, d.Others...), limit)
	for i, f := range of {
		d.immaterialOf[f.Signature] = !w.MustDecide[i]
	}
	d.matters = &Matters{Growth: matters.Growth, Source: matters.Source, Sentence: matters.Sentence,
		Limit: new(d.Watch.Growth(limit, matters.Growth)), Expected: new(d.Watch.Growth(w.Expected, matters.Growth))}
}

// asAnalysed is what mattered in a run whose numbers were not stored: the default.
func (d *decider) asAnalysed() *Matters {
	sentence := fmt.Sprintf("What matters here: %s (the default)", analysis.DefaultMatters())
	var asked []string
	for _, a := range []*analysis.RequestedThreshold{d.Matters, d.callAsks()} {
		if a != nil {
			asked = append(asked, fmt.Sprintf("%s, %s", a.Threshold, a.By))
		}
	}
	if len(asked) > 0 {
		sentence = fmt.Sprintf("What matters here: %s (the default at the time of the analysis; analyse the run again to apply %s)",
			analysis.DefaultMatters(), strings.Join(asked, ", and by "))
	}
	return &Matters{Source: analysis.MattersDefault, Sentence: sentence}
}
