package analysis

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"heapdrift/ingest/quantity"
)

// Growth is an amount of bytes per unit.
type Growth struct {
	Bytes float64 `json:"bytes"`
	Unit  string  `json:"unit"` // "day", "hour", "run" or a unit of work
}

// String says it as in "1.2 MB per day".
func (g Growth) String() string {
	return fmt.Sprintf("%s per %s", quantity.Bytes(int64(g.Bytes)), g.Unit)
}

// The default of what matters. A service that leaks 10 MB a day grows by 300 MB in a month. Evidence without times
// has a limit for the whole run: about one minute of that growth.
var (
	mattersByDay = Growth{10 << 20, perDay}
	mattersByRun = Growth{8 << 10, perRun}
)

// Units of growth beside hours and units of work.
const (
	perDay = "day"
	perRun = "run"
)

// DefaultThresholdText says what matters by default.
func DefaultThresholdText() string {
	return fmt.Sprintf("%s, or %s where the evidence has no times", mattersByDay, mattersByRun)
}

// An Observation is the time, the work and the memory that the evidence of a run covers. They convert growth per day or
// per unit of work into bytes of the run.
type Observation struct {
	Weighed    bool    `json:"weighed"` // false where the evidence shows one instant or does not list all memory: the other fields are unknown then
	Hours      float64 `json:"hours"`   // 0 if unknown
	Unit       string  `json:"unit"`    // of the work that uploads count; "" for none
	Work       float64 `json:"work"`    // how many Units were done; 0 if unknown
	PowerBytes float64 `json:"power"`   // bytes of the smallest leak that the evidence would have shown in the run; 0 for none
	HeldBytes  float64 `json:"held"`    // bytes held at the end
	// SettleHours is how many hours growth is ignored at the beginning. Settled is false where the evidence does not
	// allow that.
	SettleHours float64 `json:"settle"`
	Settled     bool    `json:"settled"`
}

// length is how much of a unit the evidence covers; 0 if unknown.
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

// growth is an amount of the run per unit, whose length must be known.
func (w *Observation) growth(bytes float64, unit string) Growth {
	return Growth{bytes / w.length(unit), unit}
}

// inRun is how many bytes a growth makes in the run; 0 where the length of the unit is unknown.
func (w *Observation) inRun(g Growth) float64 { return g.Bytes * w.length(g.Unit) }

// FailingBytes is the number of bytes in the run from which a leak fails it. That is what matters or, if the evidence
// could not show so small a leak, the smallest leak that it would show.
func (w *Observation) FailingBytes(matters Growth) float64 {
	return max(w.inRun(matters), w.PowerBytes)
}

// GrowthPerUnit converts bytes of the run into growth per unit of matters.
func (w *Observation) GrowthPerUnit(bytes float64, matters Growth) Growth {
	return w.growth(bytes, matters.Unit)
}

// A RequestedThreshold is a threshold that the policy or a call asks for.
type RequestedThreshold struct {
	Threshold
	Source ThresholdSource
	By     string // who asks, as a clause: "set for the scenario soak"
}

// A ThresholdSource says who decided what matters.
type ThresholdSource string

// The sources of what matters.
const (
	ThresholdOfDefault  ThresholdSource = "default"
	ThresholdOfProject  ThresholdSource = "project"
	ThresholdOfScenario ThresholdSource = "scenario"
	ThresholdOfCall     ThresholdSource = "call"
)

// AppliedThreshold is the growth from which a leak matters in a run, with its source.
type AppliedThreshold struct {
	Growth Growth
	Source ThresholdSource
	// Sentence names the growth and its source, and why another threshold is ignored.
	Sentence string
}

// ChooseThreshold chooses the growth from which a leak matters in a run: the set threshold if the evidence has its
// unit, else the default. A call may only lower that. set and call are nil for no threshold.
func (w *Observation) ChooseThreshold(set, call *RequestedThreshold) AppliedThreshold {
	m := AppliedThreshold{Growth: mattersByDay, Source: ThresholdOfDefault}
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
			notes = append(notes, fmt.Sprintf("%s, %s, is ignored: a call may only lower this", call.Threshold, call.By))
		}
	}
	m.Sentence = fmt.Sprintf("What matters here: %s (%s)%s", m.Growth, strings.Join(append([]string{by}, notes...), "; "),
		w.settleText())
	return m
}

// settleText names the settle time, and whether it is ignored.
func (w *Observation) settleText() string {
	span := quantity.ShortDuration(time.Duration(w.SettleHours * float64(time.Hour)).Round(time.Second))
	switch {
	case w.SettleHours == 0:
		return ""
	case w.Settled:
		return fmt.Sprintf("; growth in the first %s (settle time) is ignored", span)
	}
	return fmt.Sprintf("; the settle time of %s is ignored: it needs snapshots with times", span)
}

// sourceText names the source, after the threshold if that is no amount of bytes.
func (a *RequestedThreshold) sourceText() string {
	if a.isAbsolute() {
		return a.By
	}
	return fmt.Sprintf("%s, %s", a.Threshold, a.By)
}

// notTold says that the evidence lacks the unit or the value that the threshold needs.
func (a *RequestedThreshold) notTold() string {
	lacks := "growth per " + a.Unit
	if !a.isAbsolute() {
		lacks = "value for that"
	}
	return fmt.Sprintf("%s, %s, is ignored: the evidence has no %s", a.Threshold, a.By, lacks)
}

// A Threshold is the growth from which a leak matters, in one of three forms. It is an amount of bytes per unit, a
// share of the memory held at the end, or the growth that would reach a number of bytes after a time.
type Threshold struct {
	Growth                  // no bytes where Percent or HeldBytes is not 0
	Percent         float64 // percent of what the process holds, per unit; 0 for another form
	HeldBytes       float64 // bytes that it may hold; 0 for another form
	HeldWithinUnits float64 // units after which it may hold HeldBytes
}

func (t *Threshold) isAbsolute() bool { return t.Percent == 0 && t.HeldBytes == 0 }

// String says it as in "1.2 MB per day".
func (t Threshold) String() string {
	switch {
	case t.Percent > 0:
		return fmt.Sprintf("%s %% of the memory held per %s", plainNumber(t.Percent), t.Unit)
	case t.HeldBytes > 0:
		return fmt.Sprintf("%s held within %s", quantity.Bytes(int64(t.HeldBytes)), t.within())
	}
	return t.Growth.String()
}

// Text is the threshold as ParseThreshold reads it: the same for thresholds that are equal.
func (t Threshold) Text() string {
	switch {
	case t.Percent > 0:
		return plainNumber(t.Percent) + "%/" + t.Unit
	case t.HeldBytes > 0:
		return plainNumber(t.HeldBytes) + "B in " + t.within()
	}
	return plainNumber(t.Bytes) + "B/" + t.Unit
}

// within is the time after which a process may hold the ceiling: "30 days".
func (t *Threshold) within() string {
	if t.HeldWithinUnits == 1 {
		return "1 " + t.Unit
	}
	return plainNumber(t.HeldWithinUnits) + " " + t.Unit + "s"
}

func plainNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Resolve converts a threshold to growth in the run; told is false where the evidence lacks its unit or value. A
// process that already holds HeldBytes may not grow.
func (w *Observation) Resolve(t Threshold) (g Growth, told bool) {
	if !(w.length(t.Unit) > 0) || !t.isAbsolute() && !(w.HeldBytes > 0) {
		return Growth{}, false
	}
	switch {
	case t.Percent > 0:
		return Growth{w.HeldBytes * t.Percent / 100, t.Unit}, true
	case t.HeldBytes > 0:
		return Growth{max(0, t.HeldBytes-w.HeldBytes) / t.HeldWithinUnits, t.Unit}, true
	}
	return t.Growth, true
}

// ParseThreshold reads a threshold as users write it: "10MB/day", a number of B, KB, MB or GB for each day, hour, run
// or unit of work; "5%/day", a share of what the process holds at the end; or "2GB in 30 days", the growth by which it
// would hold so much after so many days or hours.
func ParseThreshold(text string) (t Threshold, err error) {
	wrong := fmt.Errorf("%q is not a growth: write 10MB/day, 500KB/hour, 64KB/run, 200B/document, 5%%/day or 2GB in 30 days", text)
	if amount, within, timed := strings.Cut(text, " in "); timed && !strings.Contains(amount, "/") {
		number, unit, _ := strings.Cut(strings.TrimSpace(within), " ")
		t.Unit = strings.TrimSuffix(strings.TrimSpace(unit), "s")
		t.HeldWithinUnits, err = strconv.ParseFloat(number, 64)
		isTime := (t.Unit == perDay || t.Unit == hour) && t.HeldWithinUnits > 0 && !math.IsInf(t.HeldWithinUnits, 0)
		var ok bool
		if t.HeldBytes, ok = parseBytes(amount); err != nil || !ok || !isTime || !(t.HeldBytes > 0) {
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
