package analysis

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"heapdrift/ingest/figures"
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

// Text is the growth as ParseGrowth reads it: the same for growths that are equal.
func (g Growth) Text() string { return strconv.FormatFloat(g.Bytes, 'f', -1, 64) + "B/" + g.Unit }

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

// DefaultMatters says what matters where nobody has said it.
func DefaultMatters() string {
	return fmt.Sprintf("%s, or %s where the evidence has no times", mattersByDay, mattersByRun)
}

// A Watch is what the evidence of a run watched: what turns growth per day or unit of work into bytes of the run.
type Watch struct {
	Weighed bool    `json:"weighed"` // false where the evidence shows one instant or does not list all: nothing is known of the rest
	Hours   float64 `json:"hours"`   // 0 where clocks do not tell
	Unit    string  `json:"unit"`    // of the work that uploads count; "" for none
	Work    float64 `json:"work"`    // how many of them
	Power   float64 `json:"power"`   // bytes of the least leak that the evidence would have shown in the run; 0 for none
	Held    float64 `json:"held"`    // bytes at the end
}

// length is how long the evidence watched in a unit; 0 where it does not tell that.
func (w *Watch) length(unit string) float64 {
	switch unit {
	case perRun:
		return 1
	case perDay:
		return w.Hours / 24
	case hour:
		return w.Hours
	case w.Unit:
		return w.Work
	}
	return 0
}

// growth is an amount of the run in a unit that the evidence tells.
func (w *Watch) growth(bytes float64, unit string) Growth {
	return Growth{bytes / w.length(unit), unit}
}

// InRun is how many bytes a growth makes in the run; told is false where the evidence does not tell the unit.
func (w *Watch) InRun(g Growth) (bytes float64, told bool) {
	length := w.length(g.Unit)
	return g.Bytes * length, length > 0
}

// Limit is from how many bytes in the run on a leak keeps it from passing: what matters or, where the evidence could
// not have shown that, the least leak that it would have shown.
func (w *Watch) Limit(matters Growth) float64 {
	bytes, _ := w.InRun(matters)
	return max(bytes, w.Power)
}

// Growth is an amount of the run in the unit of what matters there.
func (w *Watch) Growth(bytes float64, matters Growth) Growth { return w.growth(bytes, matters.Unit) }

// An Ask is a growth from which somebody wants a leak to matter.
type Ask struct {
	Growth
	Source MattersSource
	By     string // as in "set for the scenario soak"
}

// A MattersSource says who decided what matters.
type MattersSource string

// The sources of what matters.
const (
	MattersDefault  MattersSource = "default"
	MattersProject  MattersSource = "project"
	MattersScenario MattersSource = "scenario"
	MattersCall     MattersSource = "call"
)

// Matters is from which growth on a leak matters in a run, and who says so.
type Matters struct {
	Growth Growth
	Source MattersSource
	// Sentence says it, and why it is not what somebody asked for.
	Sentence string
}

// Matters is what matters in a run: what is set, where the evidence tells its unit, else the default. A call may only
// tighten that. set and call are nil where nobody asks.
func (w *Watch) Matters(set, call *Ask) Matters {
	m := Matters{Growth: mattersByDay, Source: MattersDefault}
	if !(w.length(perDay) > 0) {
		m.Growth = mattersByRun
	}
	by, notes := "the default", []string(nil)
	if set != nil {
		if _, told := w.InRun(set.Growth); told {
			m.Growth, m.Source, by = set.Growth, set.Source, set.By
		} else {
			notes = append(notes, notCounted(set))
		}
	}
	if call != nil {
		now, _ := w.InRun(m.Growth)
		switch asked, told := w.InRun(call.Growth); {
		case !told:
			notes = append(notes, notCounted(call))
		case asked < now:
			m.Growth, m.Source, by = call.Growth, call.Source, fmt.Sprintf("%s, less than %s, %s", call.By, m.Growth, by)
		case asked > now:
			notes = append(notes, fmt.Sprintf("%s is %s, and a call may only tighten what matters", call.Growth, call.By))
		}
	}
	m.Sentence = fmt.Sprintf("What matters here: %s (%s)", m.Growth, strings.Join(append([]string{by}, notes...), "; "))
	return m
}

// notCounted says that the evidence does not tell the unit of what somebody asks for.
func notCounted(a *Ask) string {
	return fmt.Sprintf("%s is %s, and the evidence does not count by %s", a.Growth, a.By, a.Unit)
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
