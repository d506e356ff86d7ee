package leaks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// A Policy says when the gate of a run fails. Its zero value fails on nothing and warns of evidence that does not
// decide; a project that has saved none has DefaultPolicy.
type Policy struct {
	FailOn  []FailOn `json:"fail_on"`
	Budgets []Budget `json:"budgets"`
	// Drift limits how much faster a build may grow than the newest pinned release before it; nil for no limit.
	Drift *DriftLimit `json:"drift"`
	// MinimumScore is the least score, 0 to 1, at which a leak counts. A leak without a score always counts.
	MinimumScore float64            `json:"minimum_score"`
	Inconclusive InconclusivePolicy `json:"inconclusive"` // "" for warn
	// AtExit says which leaks at exit fail the gate; "" for new ones.
	AtExit AtExitPolicy `json:"left_at_exit"`
	// Repeat says what becomes of a new leak that an earlier build failed for; "" for until-owned.
	Repeat RepeatPolicy `json:"again"`
	// Noise quarantines signatures that flap; nil for none.
	Noise *FlapRule `json:"noise"`
	// Canary is a signature, or a function, that must be found as a leak; otherwise the gate is not proven. "" for
	// none. The canary itself fails no gate.
	Canary string `json:"canary"`
	// Matters is the growth from which a leak matters, as analysis.ParseThreshold reads it: "1MB/day"; "" for the
	// default.
	Matters string `json:"matters"`
	// Settle is how long growth is ignored at the beginning of the evidence: "10m"; "" for not at all.
	Settle string `json:"settle"`
}

// A Budget limits growth. Findings that leak or grow count, unless they are tolerated or quarantined.
type Budget struct {
	Scope   BudgetScope `json:"of"`
	Name    string      `json:"name"` // of the process or the signature; "" for each signature
	Measure Measure     `json:"in"`
	// Per is "hour", or the name of a unit of work: "document".
	Per   string  `json:"per"`
	Limit float64 `json:"limit"` // bytes or blocks per Per; more than that fails
}

// A BudgetScope says what a budget adds up.
type BudgetScope string

// The scopes of budgets.
const (
	BudgetTotal     BudgetScope = "total"     // all signatures of the run
	BudgetProcess   BudgetScope = "process"   // all signatures of a run that is about the process of some name
	BudgetSignature BudgetScope = "signature" // a signature alone
)

// A Measure is what growth is counted in.
type Measure string

// The measures of growth.
const (
	MeasureBytes  Measure = "bytes"
	MeasureBlocks Measure = "blocks"
)

// A DriftLimit limits growth relative to a release: growth of a few percent per build passes every comparison with the
// previous build.
type DriftLimit struct {
	Percent float64 `json:"percent"` // by how many percent the growth may exceed that of the release
	Measure Measure `json:"in"`
}

// A FlapRule defines when a signature flaps: how often it changes between found and not found over the last runs of its
// scenario that decide about it.
type FlapRule struct {
	Runs    int `json:"runs"`    // how many of the last runs count
	Changes int `json:"changes"` // how many changes among them are a flap
}

// An InconclusivePolicy says what a gate does where evidence does not decide.
type InconclusivePolicy string

// What a gate does where evidence does not decide; "" is InconclusiveWarns.
const (
	InconclusiveFails  InconclusivePolicy = "fail"
	InconclusiveWarns  InconclusivePolicy = "warn"
	InconclusivePasses InconclusivePolicy = "pass"
)

// allInconclusive are all of them, in the order of lists.
var allInconclusive = []InconclusivePolicy{InconclusiveFails, InconclusiveWarns, InconclusivePasses}

// Policies are the policies of a project: one for each scenario that has its own, and one for all others.
type Policies struct {
	Default   Policy            `json:"default"`
	Scenarios map[string]Policy `json:"scenarios"`
}

// DefaultPolicies are the policies of a project that has saved none.
func DefaultPolicies() Policies {
	return Policies{Default: Policy{FailOn: []FailOn{FailOnLeak}}}.filled()
}

// For returns the policy of a scenario: its own, else the default.
func (p *Policies) For(scenario string) *Policy {
	if own, ok := p.Scenarios[scenario]; ok {
		return &own
	}
	return &p.Default
}

// MaxPoliciesBytes is the largest length of a project's policies, as JSON.
const MaxPoliciesBytes = 64 << 10

const (
	maxBudgets   = 100
	maxScenarios = 200
	leastNoise   = 3 // runs: with less nothing can change twice
	maxNoise     = 50
	maxSettle    = 168 * time.Hour
)

// ParsePolicies reads policies as JSON and checks them. An unknown field is refused, because it may be a misspelled one
// that matters. Without fail_on, any leak fails the gate, as without a policy. Its error is a *FieldError.
func ParsePolicies(text []byte) (Policies, error) {
	var p Policies
	if len(text) > MaxPoliciesBytes {
		return p, wrongField("policy", "is longer than %d bytes", MaxPoliciesBytes)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&p)
	if err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("text follows the JSON object")
		}
	}
	if err != nil {
		return p, wrongField("policy", "is not the JSON that openapi.yaml describes: %s",
			strings.TrimPrefix(err.Error(), "json: "))
	}
	p = p.withDefaults().filled()
	return p, p.check()
}

// withDefaults fills in a fail_on that is not written with what a gate without a saved policy fails on: a gate fails on
// nothing only where somebody wrote so.
func (p Policies) withDefaults() Policies {
	fallback := DefaultPolicies().Default.FailOn
	if p.Default.FailOn == nil {
		p.Default.FailOn = fallback
	}
	for name, own := range p.Scenarios {
		if own.FailOn == nil {
			own.FailOn = fallback
			p.Scenarios[name] = own
		}
	}
	return p
}

// JSON is the policies as they are stored and edited.
func (p *Policies) JSON() ([]byte, error) { return json.MarshalIndent(p, "", "  ") }

// filled writes defaults out, so that equal policies have equal texts.
func (p Policies) filled() Policies {
	p.Default = p.Default.filled()
	own := make(map[string]Policy, len(p.Scenarios))
	for name, policy := range p.Scenarios {
		own[name] = policy.filled()
	}
	p.Scenarios = own
	return p
}

func (p Policy) filled() Policy {
	p.FailOn, p.Budgets = append([]FailOn{}, p.FailOn...), append([]Budget{}, p.Budgets...)
	for i := range p.Budgets {
		p.Budgets[i].Measure = orBytes(p.Budgets[i].Measure)
	}
	if p.Drift != nil {
		p.Drift = &DriftLimit{p.Drift.Percent, orBytes(p.Drift.Measure)}
	}
	if p.Inconclusive == "" {
		p.Inconclusive = InconclusiveWarns
	}
	p.Repeat, p.AtExit = cmp.Or(p.Repeat, FailUntilOwned), cmp.Or(p.AtExit, AtExitNew)
	p.Canary, p.Matters, p.Settle = strings.TrimSpace(p.Canary), strings.TrimSpace(p.Matters), strings.TrimSpace(p.Settle)
	return p
}

func orBytes(m Measure) Measure {
	if m == "" {
		return MeasureBytes
	}
	return m
}

func (p *Policies) check() error {
	if err := p.Default.check("default"); err != nil {
		return err
	}
	if len(p.Scenarios) > maxScenarios {
		return wrongField("scenarios", "are more than %d", maxScenarios)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Scenarios)) {
		own := p.Scenarios[name]
		if !anyName.fits(name) {
			return wrongField("scenarios", "%q is not a name: %s", name, anyName.words)
		}
		if err := own.check("scenarios." + name); err != nil {
			return err
		}
	}
	return nil
}

// check refuses a policy that makes no sense. at is its place in the JSON.
func (p *Policy) check(at string) error {
	for _, on := range p.FailOn {
		if !slices.Contains(failOns, on) {
			return wrongField(at+".fail_on", "%q is none of %s", string(on), failOnWords())
		}
	}
	if len(p.Budgets) > maxBudgets {
		return wrongField(at+".budgets", "are more than %d", maxBudgets)
	}
	for _, b := range p.Budgets {
		if err := b.check(at + ".budgets"); err != nil {
			return err
		}
	}
	if err := p.Drift.check(at + ".drift"); err != nil {
		return err
	}
	switch {
	case math.IsNaN(p.MinimumScore) || p.MinimumScore < 0 || p.MinimumScore > 1:
		return wrongField(at+".minimum_score", "is not a number from 0 to 1")
	case !slices.Contains(allInconclusive, p.Inconclusive):
		return wrongField(at+".inconclusive", "%q is none of %s, %s and %s", string(p.Inconclusive), InconclusiveFails,
			InconclusiveWarns, InconclusivePasses)
	case !slices.Contains(atExitPolicies, p.AtExit):
		return wrongField(at+".left_at_exit", "%q is none of %s, %s and %s", string(p.AtExit), AtExitNew, AtExitAny,
			AtExitNone)
	case !slices.Contains(repeatPolicies, p.Repeat):
		return wrongField(at+".again", "%q is none of %s, %s and %s", string(p.Repeat), FailUntilOwned, FailUntilFixed,
			FailOnce)
	}
	if err := p.Noise.check(at + ".noise"); err != nil {
		return err
	}
	if !IsSingleLine(p.Canary) {
		return wrongField(at+".canary", "is not a line of text")
	}
	if err := CheckText(at+".canary", p.Canary, MaxReasonChars); err != nil {
		return err
	}
	var wrong *FieldError
	if _, err := ParseAskedThreshold(p.Matters); errors.As(err, &wrong) {
		return wrongField(at+".matters", "%s", wrong.Message)
	}
	if d, err := time.ParseDuration(cmp.Or(p.Settle, "0s")); err != nil || d < 0 || d > maxSettle {
		return wrongField(at+".settle", "%q is not a time from 0s to %s, such as 10m or 1h30m", p.Settle, maxSettle)
	}
	return nil
}

func (d *DriftLimit) check(at string) error {
	switch {
	case d == nil:
	case !isLimit(d.Percent):
		return wrongField(at+".percent", "is not a number of 0 or more")
	case d.Measure != MeasureBytes && d.Measure != MeasureBlocks:
		return wrongField(at+".in", "%q is neither %s nor %s", string(d.Measure), MeasureBytes, MeasureBlocks)
	}
	return nil
}

func (n *FlapRule) check(at string) error {
	switch {
	case n == nil:
	case n.Runs < leastNoise || n.Runs > maxNoise:
		return wrongField(at+".runs", "is not a whole number from %d to %d", leastNoise, maxNoise)
	case n.Changes < 2 || n.Changes >= n.Runs:
		return wrongField(at+".changes", "is not a whole number from 2 to %d: %d runs change no oftener",
			n.Runs-1, n.Runs)
	}
	return nil
}

func (b *Budget) check(at string) error {
	switch {
	case b.Scope != BudgetTotal && b.Scope != BudgetProcess && b.Scope != BudgetSignature:
		return wrongField(at, "of: %q is none of %s, %s and %s", string(b.Scope), BudgetTotal, BudgetProcess, BudgetSignature)
	case b.Scope == BudgetTotal && b.Name != "":
		return wrongField(at, "name: a budget of all signatures takes no name")
	case b.Scope == BudgetProcess && b.Name == "":
		return wrongField(at, "name: is missing: name the process, as in app.exe")
	case !IsSingleLine(b.Name) || len(b.Name) > MaxReasonChars:
		return wrongField(at, "name: is not a line of at most %d characters", MaxReasonChars)
	case b.Measure != MeasureBytes && b.Measure != MeasureBlocks:
		return wrongField(at, "in: %q is neither %s nor %s", string(b.Measure), MeasureBytes, MeasureBlocks)
	case !anyName.fits(b.Per):
		return wrongField(at, "per: %q is neither hour nor the name of a unit of work", b.Per)
	case !isLimit(b.Limit):
		return wrongField(at, "limit: is not a number of 0 or more")
	}
	return nil
}

func isLimit(x float64) bool { return x >= 0 && !math.IsInf(x, 0) }

// Flaps counts the changes between found and not found over the last runs that decide, the oldest first, and reports
// whether they are too many.
func (n *FlapRule) Flaps(past []bool) (changes int, flaps bool) {
	if n == nil {
		return 0, false
	}
	past = past[max(0, len(past)-n.Runs):]
	for i := 1; i < len(past); i++ {
		if past[i] != past[i-1] {
			changes++
		}
	}
	return changes, changes >= n.Changes
}

// TightenedFailOn is what a gate fails on if a call asks for more: all that the policy or the call names. A project
// without a saved policy, of version 0, has nothing to tighten: there the call alone decides.
func (p *Policy) TightenedFailOn(version int, asked []FailOn) []FailOn {
	if version == 0 && len(asked) > 0 {
		return asked
	}
	var list []FailOn
	for _, on := range failOns {
		if slices.Contains(p.FailOn, on) || slices.Contains(asked, on) {
			list = append(list, on)
		}
	}
	return list
}

// NamesProcess reports whether a budget of the policy is for one process, so that a case needs to know the process of
// its run.
func (p *Policy) NamesProcess() bool {
	return slices.ContainsFunc(p.Budgets, func(b Budget) bool { return b.Scope == BudgetProcess })
}
