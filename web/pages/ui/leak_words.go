package ui

import (
	"fmt"
	"math"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

// A scoreWord is a probability as people say it, with the number for those who want it.
type scoreWord struct{ word, class, exact string }

// wordOfScore puts a score in a word. certain is a leak by every clause of the rule.
func wordOfScore(p *float64, certain bool) scoreWord {
	if p == nil {
		return scoreWord{"–", "low", "no score: too little evidence"}
	}
	exact := quantity.Score(*p) + ": estimated probability of a leak"
	switch {
	case certain:
		return scoreWord{"certain", "high", exact + "; all conditions of a leak are met"}
	case *p >= 0.9:
		return scoreWord{"very likely", "high", exact}
	case *p >= 0.5:
		return scoreWord{"likely", "high", exact}
	case *p >= 0.2:
		return scoreWord{"doubtful", "low", exact}
	}
	return scoreWord{"unlikely", "low", exact}
}

// StatedGrowthText is growth with its unit and basis: "▲ +2.07 MB/hour", or "▲ +2.12 MB in 61 s".
func StatedGrowthText(g score.StatedGrowth) GrowthText {
	if math.IsNaN(g.Bytes) || math.IsInf(g.Bytes, 0) {
		return UnknownGrowthText("no measurable growth")
	}
	whole := int64(math.Round(g.Bytes))
	return SignedGrowthText(whole, quantity.Bytes(whole)+g.Basis(), ExactBytes(whole)+g.BasisText())
}

// RateGrowthText is growth of so many bytes per unit.
func RateGrowthText(bytes float64, unit string) GrowthText {
	if unit == "" {
		return UnknownGrowthText("no measurable growth")
	}
	return StatedGrowthText(score.StatedGrowth{Bytes: bytes, Unit: unit})
}

// rateOf is the growth of a finding, with the interval of its rate in the full text; grown are the bytes that the run
// grew by, nil where unknown.
func rateOf(r *score.Rate, grown *int64) GrowthText {
	if r == nil {
		return UnknownGrowthText("no measurable growth")
	}
	g := r.State(grown)
	c := StatedGrowthText(g)
	per := 1.0 // units that the stated growth is of
	if g.InRun() {
		per = r.Length()
	}
	blocks := quantity.Number(r.Count * per)
	if r.Unbounded {
		c.Exact = fmt.Sprintf("%s, %s blocks; %s", c.Exact, blocks, withoutInterval)
		return c
	}
	if low, high := quantity.Number(r.CountLow*per), quantity.Number(r.CountHigh*per); low != blocks || high != blocks {
		blocks += fmt.Sprintf(" (%s to %s)", low, high)
	}
	c.Exact = fmt.Sprintf("%s; 95 %% %s, %s blocks%s", c.Exact,
		intervalText(r.Bytes*per, r.BytesLow*per, r.BytesHigh*per), blocks, g.BasisText())
	return c
}

// withoutInterval is what stands in place of the interval of an unbounded rate.
var withoutInterval = fmt.Sprintf("no interval below %d snapshots", score.SnapshotsToJudge)

// intervalText is the interval of a growth in bytes.
func intervalText(bytes, low, high float64) string {
	text, from, to := quantity.Bytes(int64(math.Round(bytes))), quantity.Bytes(int64(math.Round(low))),
		quantity.Bytes(int64(math.Round(high)))
	if from == text && to == text {
		return "interval narrower than the digits shown"
	}
	return "between " + from + " and " + to
}

// A LeakTitle is the title of a leak, split for a table.
type LeakTitle struct {
	Whole string       // the title
	Blame string       // the blamed frame, with its module
	Name  FunctionName // Blame, split
	via   string       // what stands before it in the title: origin and plumbing
}

// TitleOf cuts "origin via plumbing | blame".
func TitleOf(title string) LeakTitle {
	t := LeakTitle{Whole: title}
	blame := title
	if at := strings.LastIndex(title, " | "); at >= 0 {
		t.via, blame = title[:at], title[at+len(" | "):]
	}
	t.Blame, t.Name = blame, CutName(blame)
	return t
}

// A clauseLine is a condition of the rule with the sign it gets.
type clauseLine struct{ class, sign, says, text string }

func lineOfClause(c score.Clause) clauseLine {
	switch {
	case c.Holds == nil:
		return clauseLine{"open", "open", "open: ", c.Text}
	case *c.Holds:
		return clauseLine{"holds", "ok", "met: ", c.Text}
	}
	return clauseLine{"fails", "bad", "not met: ", c.Text}
}

// A stateLook is how a standing is drawn: its class of CSS, and its shape, so that it does not rest on colour alone.
type stateLook struct{ class, shape string }

var stateLooks = map[leaks.Standing]stateLook{
	leaks.StandingNew:                    {"new", "M6 2v8 M2 6h8"},
	leaks.StandingOpen:                   {"ongoing", "M2 6h8 M7 3l3 3-3 3"},
	leaks.StandingMayBeFixed:             {"undecided", undecidedShape},
	leaks.StandingNotRetested:            {"undecided", undecidedShape},
	leaks.StandingGrowsAgain:             {"undecided", undecidedShape},
	leaks.Standing(leaks.StateFound):     {"found", "M6 1.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 1 0 0-9"},
	leaks.Standing(leaks.StateOngoing):   {"ongoing", "M2 6h8 M7 3l3 3-3 3"},
	leaks.Standing(leaks.StateRegressed): {"regressed", "M10 4A4.5 4.5 0 1 0 10.5 6.5 M10 1v3H7"},
	leaks.Standing(leaks.StateKnown):     {"known", "M2 6.5 5 9.5 10 3"},
	leaks.Standing(leaks.StateFixed):     {"fixed", "M3 3l6 6 M9 3l-6 6"},
}

const undecidedShape = "M6 8.5v.1M4 4.2a2 2 0 1 1 3 1.7c-.7.4-1 .8-1 1.4"

// lookOf is the look of a standing; "fixed in 4811" looks as fixed.
func lookOf(s leaks.Standing) stateLook {
	if look, known := stateLooks[s]; known {
		return look
	}
	return stateLooks[leaks.Standing(leaks.StateFixed)]
}

// KnownText says why and until when a leak is tolerated.
func KnownText(k *leaks.Toleration) string {
	text := k.Reason
	if k.Rule {
		text += " (by the project’s rules)"
	}
	if k.Until != nil {
		text += ", until " + leaks.UntilText(*k.Until)
	}
	if k.UntilBuild != "" {
		text += ", until build " + k.UntilBuild
	}
	if k.Expired {
		text += ": expired"
	}
	return text
}

// BlamePlace is the file and line of the blamed frame; "" where unknown.
func BlamePlace(b *analysis.Blame) string {
	if b == nil || b.File == "" {
		return ""
	}
	f := analysis.Frame{File: b.File, Line: b.Line}
	return f.FileLine()
}

// FigureGrowthText is the growth of a figure with its unit and basis, or in bytes where no rate is known.
func FigureGrowthText(f *leaks.Figure) GrowthText {
	var grown *int64
	if f.Growth != nil {
		grown = &f.Growth.Bytes
	}
	switch {
	case f.Rate != nil:
		return rateOf(f.Rate, grown)
	case grown != nil:
		return BytesGrowthText(grown)
	}
	return UnknownGrowthText("no measurable growth")
}
