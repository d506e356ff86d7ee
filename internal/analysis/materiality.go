package analysis

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
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

// A Observation is what the evidence of a run watched: what turns growth per day or unit of work into bytes of the run.
type Observation struct {
	Weighed bool    `json:"weighed"` // false where the evidence shows one instant or does not list all: nothing is known of the rest
	Hours   float64 `json:"hours"`   // 0 where clocks do not tell
	Unit    string  `json:"unit"`    // of the work that uploads count; "" for none
	Work    float64 `json:"work"`    // how many of them
	Power   float64 `json:"power"`   // bytes of the least leak that the evidence would have shown in the run; 0 for none
	Held    float64 `json:"held"`    // bytes at the end
	// Settle is for how many hours at the beginning growth was to count for nothing, and Settled that it did.
	Settle  float64 `json:"settle"`
	Settled bool    `json:"settled"`
}

// length is how long the evidence watched in a unit; 0 where it does not tell that.
func (w *Observation) length(unit string) float64 {
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
func (w *Observation) growth(bytes float64, unit string) Growth {
	return Growth{bytes / w.length(unit), unit}
}

// inRun is how many bytes a growth makes in the run; 0 where the evidence does not tell the unit.
func (w *Observation) inRun(g Growth) float64 { return g.Bytes * w.length(g.Unit) }

// Limit is from how many bytes in the run on a leak keeps it from passing: what matters or, where the evidence could
// not have shown that, the least leak that it would have shown.
func (w *Observation) Limit(matters Growth) float64 {
	return max(w.inRun(matters), w.Power)
}

// Growth is an amount of the run in the unit of what matters there.
func (w *Observation) Growth(bytes float64, matters Growth) Growth {
	return w.growth(bytes, matters.Unit)
}

// An RequestedThreshold is the threshold from which on somebody wants a leak to matter.
type RequestedThreshold struct {
	Threshold
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
func (w *Observation) Matters(set, call *RequestedThreshold) Matters {
	m := Matters{Growth: mattersByDay, Source: MattersDefault}
	if !(w.length(perDay) > 0) {
		m.Growth = mattersByRun
	}
	by, notes := "the default", []string(nil)
	if set != nil {
		if growth, told := w.Resolve(set.Threshold); told {
			m.Growth, m.Source, by = growth, set.Source, set.sourceText()
		} else {
			notes = append(notes, set.notTold())
		}
	}
	if call != nil {
		growth, told := w.Resolve(call.Threshold)
		switch asked, now := w.inRun(growth), w.inRun(m.Growth); {
		case !told:
			notes = append(notes, call.notTold())
		case asked < now:
			by = fmt.Sprintf("%s, less than %s, %s", call.sourceText(), m.Growth, by)
			m.Growth, m.Source = growth, call.Source
		case asked > now:
			notes = append(notes, fmt.Sprintf("%s is %s, and a call may only tighten what matters", call.Threshold, call.By))
		}
	}
	m.Sentence = fmt.Sprintf("What matters here: %s (%s)%s", m.Growth, strings.Join(append([]string{by}, notes...), "; "),
		w.settleText())
	return m
}

// settleText says how much of the beginning counts for nothing.
func (w *Observation) settleText() string {
	span := figures.Span(time.Duration(w.Settle * float64(time.Hour)).Round(time.Second))
	switch {
	case w.Settle == 0:
		return ""
	case w.Settled:
		return fmt.Sprintf("; growth in the first %s, the settle time, counts for nothing", span)
	}
	return fmt.Sprintf("; the settle time of %s counts for snapshots with times alone, so this evidence is judged from its beginning",
		span)
}

// sourceText says who asks, and for what where that is no amount of bytes.
func (a *RequestedThreshold) sourceText() string {
	if a.isAbsolute() {
		return a.By
	}
	return fmt.Sprintf("%s, %s", a.Threshold, a.By)
}

// notTold says that the evidence does not tell what somebody's threshold needs.
func (a *RequestedThreshold) notTold() string {
	lacks := "count by " + a.Unit
	if !a.isAbsolute() {
		lacks = "tell what that is"
	}
	return fmt.Sprintf("%s is %s, and the evidence does not %s", a.Threshold, a.By, lacks)
}

// A Threshold is from which growth on a leak matters: an amount of bytes for each unit, a share of what the process
// holds at the end, or the growth by which it would hold a number of bytes after a time.
type Threshold struct {
	Growth          // no bytes where Percent or Ceiling is not 0
	Percent float64 // of what the process holds, for each unit
	Ceiling float64 // bytes that it may hold
	Within  float64 // units after which it may hold them
}

func (t *Threshold) isAbsolute() bool { return t.Percent == 0 && t.Ceiling == 0 }

// String says it as in "1.2 MB per day".
func (t Threshold) String() string {
	switch {
	case t.Percent > 0:
		return fmt.Sprintf("%s %% of the memory held per %s", plainNumber(t.Percent), t.Unit)
	case t.Ceiling > 0:
		return fmt.Sprintf("%s held within %s", figures.Bytes(int64(t.Ceiling)), t.within())
	}
	return t.Growth.String()
}

// Text is the threshold as ParseThreshold reads it: the same for thresholds that are equal.
func (t Threshold) Text() string {
	switch {
	case t.Percent > 0:
		return plainNumber(t.Percent) + "%/" + t.Unit
	case t.Ceiling > 0:
		return plainNumber(t.Ceiling) + "B in " + t.within()
	}
	return plainNumber(t.Bytes) + "B/" + t.Unit
}

// within is the time after which a process may hold the ceiling: "30 days".
func (t *Threshold) within() string {
	if t.Within == 1 {
		return "1 " + t.Unit
	}
	return plainNumber(t.Within) + " " + t.Unit + "s"
}

func plainNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Resolve is the growth that a threshold is in the run; told is false where the evidence does not tell it. A process
// that holds as much as it may already may not grow.
func (w *Observation) Resolve(t Threshold) (g Growth, told bool) {
	if !(w.length(t.Unit) > 0) || !t.isAbsolute() && !(w.Held > 0) {
		return Growth{}, false
	}
	switch {
	case t.Percent > 0:
		return Growth{w.Held * t.Percent / 100, t.Unit}, true
	case t.Ceiling > 0:
		return Growth{max(0, t.Ceiling-w.Held) / t.Within, t.Unit}, true
	}
	return t.Growth, true
}

// ParseThreshold reads a threshold as users write it: "10MB/day", a number of B, KB, MB or GB for each day, hour, run
// or unit of work; "5%/day", a share of what the process holds at the end; or "2GB in 30 days", the growth by which it
// would hold so much after so many days or hours.
func ParseThreshold(text string) (t Threshold, err error) {
	wrong := fmt.Errorf("%q is no growth: write it as in 10MB/day, 500KB/hour, 64KB/run, 200B/document, 5%%/day or 2GB in 30 days", text)
	if amount, within, timed := strings.Cut(text, " in "); timed && !strings.Contains(amount, "/") {
		number, unit, _ := strings.Cut(strings.TrimSpace(within), " ")
		t.Unit = strings.TrimSuffix(strings.TrimSpace(unit), "s")
		t.Within, err = strconv.ParseFloat(number, 64)
		isTime := (t.Unit == perDay || t.Unit == hour) && t.Within > 0 && !math.IsInf(t.Within, 0)
		var ok bool
		if t.Ceiling, ok = parseBytes(amount); err != nil || !ok || !isTime || !(t.Ceiling > 0) {
			return Threshold{}, wrong
		}
		return t, nil
	}
	amount, unit, _ := strings.Cut(text, "/")
	t.Unit = strings.TrimSpace(unit)
	isNumber := false
	if share, isShare := strings.CutSuffix(strings.TrimSpace(amount), "%"); isShare {
		t.Percent, err = strconv.ParseFloat(strings.TrimSpace(share), 64)
		isNumber = err == nil && t.Percent > 0 && !math.IsInf(t.Percent, 0)
	} else {
		t.Bytes, isNumber = parseBytes(amount)
	}
	if !isNumber || t.Unit == "" || strings.ContainsFunc(t.Unit, unicode.IsControl) {
		return Threshold{}, wrong
	}
	return t, nil
}

// parseBytes reads a number of B, KB, MB or GB.
func parseBytes(text string) (bytes float64, ok bool) {
	amount, shift := strings.ToUpper(strings.TrimSpace(text)), 0
	if digits, isBytes := strings.CutSuffix(amount, "B"); isBytes {
		amount = digits
		if n := len(amount); n > 0 {
			if place := strings.IndexByte("KMG", amount[n-1]); place >= 0 {
				amount, shift = amount[:n-1], 10*(place+1)
			}
		}
	}
	number, err := strconv.ParseFloat(strings.TrimSpace(amount), 64)
	return math.Ldexp(number, shift), err == nil && number >= 0 && !math.IsInf(number, 0)
}
