package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"heapdrift/ingest/figures"
	"heapdrift/internal/analysis/score"
)

// Growth is an amount of bytes for each unit.
type Growth struct {
	Bytes float64 `json:"bytes"`
	Unit  string  `json:"unit"` // "day", "hour", "run" or a unit of work
}

// String says it as in "1.2 MB per day".
func (g Growth) String() string {
	return fmt.Sprintf("%s per %s", figures.Bytes(int64(g.Bytes)), g.Unit)
}

// Undecided says what a run could leak that its evidence does not decide.
type Undecided struct {
	// Sites are the findings that must be decided before the run passes.
	Sites int `json:"sites"`
	// Limit is the growth from which a leak keeps the run from passing: what matters or, where the evidence could not have
	// shown that, the least leak that it would have shown.
	Limit Growth `json:"limit"`
	// Expected is the sum, over all findings that are no certain leak, of the probability of a leak times the most that it
	// could leak.
	Expected Growth `json:"expected"`
	// Largest has the largest part of that sum, among those that must be decided where there are any; nil where nothing
	// could leak.
	Largest *Stake `json:"largest,omitempty"`
}

// A Stake is what one finding could leak.
type Stake struct {
	Signature   string  `json:"signature"`
	Probability float64 `json:"probability"` // that it leaks, among the findings of this run
	Growth              // the most that it could leak

	where string // its frame to blame
}

const (
	// expectedLeaks is how many leaks a run has on average before anything is known of its places: one run in two has one.
	expectedLeaks = 0.5
	// generatedShare is the share of leaks among the generated places that have a score.
	generatedShare = 1.0 / 5
	// resizedScore is the score of a block that is resized to ever more bytes, which its rule does not give.
	resizedScore = 0.9
	// undecidedScore is the score from which a finding whose leak would matter must be decided.
	undecidedScore = 0.5
)

// What matters where nobody has said it: a service that leaks 10 MB a day grows by 300 MB in a month. Evidence without
// times has a limit for the whole run, which is what that makes in about a minute.
var (
	mattersByDay = Growth{10 << 20, perDay}
	mattersByRun = Growth{8 << 10, perRun}
)

// Units of growth beside hours and units of work.
const (
	perDay = "day"
	perRun = "run"
)

// nothingCame is how many bytes may have come in the whole run, of all findings together, for evidence that is too
// short to tell a leak from a cache to say that there is none.
const nothingCame = 1 << 10

// most is how many bytes of all findings together came in the run and stayed at most, whatever they are.
func (r *Report) most() (bytes float64) {
	for i := range r.Findings {
		f := &r.Findings[i]
		most := f.most
		if f.Growth != nil {
			most = max(most, float64(f.Growth.Bytes))
		}
		bytes += most
	}
	return bytes
}

// weigh says what the findings of a report that are no certain leak could leak, and marks those that must be decided:
// each that is a leak rather than not and whose leak would matter, and as many others as it takes until the rest is not
// expected to leak what matters. Growth that the evidence could not have shown anyway makes nothing undecided.
func weigh(r *Report) (matters Growth, u *Undecided) {
	var runs float64 // that make a unit of what matters
	matters, runs = r.matters()
	limit := matters.Bytes
	if p := r.Power; p != nil {
		limit = max(limit, p.Bytes*r.length(p.Unit)*runs)
	}
	places := 0
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Evidence != nil || f.most > 0 {
			places++
		}
	}
	type part struct {
		f *Finding
		Stake
		weight float64
	}
	var parts []part
	u = &Undecided{Limit: Growth{limit, matters.Unit}, Expected: Growth{Unit: matters.Unit}}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Immaterial = f.Known == "" && !f.Certain
		if f.Known != "" || f.Certain || !(f.most > 0) {
			continue
		}
		p := part{f: f, Stake: Stake{Signature: f.Signature, Probability: probability(f, places),
			Growth: Growth{f.most * runs, matters.Unit}}}
		p.weight = p.Probability * p.Bytes
		u.Expected.Bytes += p.weight
		parts = append(parts, p)
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.weight, a.weight) })
	rest := u.Expected.Bytes
	for i := range parts {
		p := &parts[i]
		if p.Bytes > limit && scoreOf(p.f) >= undecidedScore || rest > limit {
			p.f.Immaterial = false
			if u.Sites++; u.Sites == 1 {
				u.Largest = &p.Stake
			}
		}
		rest -= p.weight
	}
	if u.Largest == nil && len(parts) > 0 {
		u.Largest = &parts[0].Stake
	}
	if u.Largest != nil {
		i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Signature == u.Largest.Signature })
		u.Largest.where = r.Findings[i].Where()
	}
	return matters, u
}

// matters is the growth from which a leak matters, and how many runs make its unit: that which somebody asked for, or
// what the default is where nobody did, or the evidence does not tell its unit.
func (r *Report) matters() (matters Growth, runs float64) {
	list := []Growth{mattersByDay, mattersByRun}
	if r.asked != nil {
		list = slices.Insert(list, 0, *r.asked)
	}
	for _, matters = range list {
		if length := r.length(matters.Unit); length > 0 {
			return matters, 1 / length
		}
	}
	return mattersByRun, 1
}

// length is how long the evidence watched in a unit; 0 where it does not tell that.
func (r *Report) length(unit string) float64 {
	switch {
	case unit == perRun:
		return 1
	case unit == perDay:
		return r.hours() / 24
	case unit == hour:
		return r.hours()
	case r.Stretches != nil && r.Stretches.Unit == unit:
		return r.Stretches.Sum()
	}
	return 0
}

// ParseGrowth reads a growth as users write it, as in "10MB/day": a number of B, KB, MB or GB for each day, hour, run
// or unit of work.
func ParseGrowth(text string) (g Growth, err error) {
	amount, unit, _ := strings.Cut(text, "/")
	amount, g.Unit = strings.ToUpper(strings.TrimSpace(amount)), strings.TrimSpace(unit)
	shift := 0
	if digits, isBytes := strings.CutSuffix(amount, "B"); isBytes {
		amount = digits
		if n := len(amount); n > 0 {
			if place := strings.IndexByte("KMG", amount[n-1]); place >= 0 {
				amount, shift = amount[:n-1], 10*(place+1)
			}
		}
	}
	number, err := strconv.ParseFloat(strings.TrimSpace(amount), 64)
	isUnit := g.Unit != "" && !strings.ContainsFunc(g.Unit, unicode.IsControl)
	if err != nil || !(number >= 0) || math.IsInf(number, 0) || !isUnit {
		return Growth{}, fmt.Errorf("%q is no growth: write it as in 10MB/day, 500KB/hour, 64KB/run or 200B/document", text)
	}
	g.Bytes = math.Ldexp(number, shift)
	return g, nil
}

// hours is how long the evidence watched; 0 where its clocks do not tell.
func (r *Report) hours() float64 {
	if r.Window != nil && r.Stretches != nil {
		return r.Stretches.Sum()
	}
	if n := len(r.judged); n > 1 {
		return float64(r.judged[n-1].AtNS-r.judged[0].AtNS) / 3.6e12
	}
	return 0
}

// scoreOf is the score of a finding, also where a rule gives none.
func scoreOf(f *Finding) float64 {
	switch {
	case f.Verdict == ClassGrowingBlock:
		return resizedScore
	case f.Score != nil && f.Evidence != nil:
		return *f.Score
	}
	return 0
}

// probability is how probable it is that a finding leaks, among so many places of a run that could. A score is a
// frequency among generated places, of which more leak than of a real run's: the odds are those of the score times
// those of the run over those of what was generated.
func probability(f *Finding, places int) float64 {
	prior := min(generatedShare, expectedLeaks/float64(max(1, places)))
	s := scoreOf(f)
	if s == 0 && f.Evidence == nil {
		return prior // nothing tells
	}
	const least = 1e-6
	s = min(max(s, least), 1-least)
	odds := s / (1 - s) * prior / (1 - prior) * (1 - generatedShare) / generatedShare
	return odds / (1 + odds)
}

// mostLeaked is the most that a sample can have leaked in the run, in bytes.
func (j *judge) mostLeaked(s *sample, class Class, f *Finding) float64 {
	if class == ClassGrowingBlock && f.Growth != nil {
		return float64(max(0, f.Growth.Bytes))
	}
	held := f.BeforeExit()
	if held.Count <= 0 {
		return 0
	}
	var blocks float64
	switch {
	case j.trace && s.survival == nil && f.Growth != nil: // too few blocks for their times to be kept
		return float64(max(0, held.Bytes))
	case j.trace && s.survival != nil:
		blocks = score.MostLeakedOfSurvival(s.survival)
	case !j.trace && j.last-j.first >= 2:
		blocks = score.MostLeakedOfSeries(j.series(s), &j.axis)
	}
	return math.Min(blocks/float64(held.Count)*float64(held.Bytes), math.MaxInt64/2)
}
