package score

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"heapdrift/ingest/quantity"
)

// metBelow is what breaking a condition may cost, in log odds, for it to be met all the same.
const metBelow = 1.0

// met reports whether each condition is met.
func (m *model) met(conditions []float64) func(Condition) *bool {
	return func(c Condition) *bool {
		if m == nil {
			return nil
		}
		for i, name := range m.kind.Conditions() {
			if name == c && i < len(conditions) {
				return new(m.penalties[i].of(conditions[i]) < metBelow)
			}
		}
		return nil
	}
}

// clauses are the evidence lines of a series: each condition, then what the score is made of.
func (v *snapshotView) clauses(r *Result) []Clause {
	list := []Clause{v.snapshotsClause()}
	if v.n < 2 || v.span <= 0 {
		return list
	}
	met := v.model.met(v.conditions)
	add := func(c Condition, format string, args ...any) {
		list = append(list, Clause{Rule: string(c), Holds: met(c), Text: fmt.Sprintf(format, args...)})
	}
	first, last := v.c[0], v.c[v.n-1]
	if last <= first && v.y[v.n-1] > v.y[0] {
		list = append(list, clause("blocks", false, "The number of blocks did not grow, only their size."))
	}
	what := "blocks"
	if v.sampled {
		what = "recorded blocks"
	}
	list = append(list, clause("growth", v.grown > 0, "From %s to %s %s; rose in %d of %s.", decimal(first),
		decimal(last), what, v.steps, quantity.Plural(v.n-1, "interval")))
	if v.conditions == nil {
		if v.followed {
			list = append(list, clause("stays", false, "Allocated and not freed: %s (a leak needs %d).",
				quantity.Plural(int64(v.cohorts.survivors()), "block"), leastBlocks))
		}
		return list
	}
	if v.model == nil { // two snapshots have one interval, which has no course, and follow no block
		return append(list, v.conclusion(r)...)
	}
	add(ConditionSteady, "%s", v.words())
	if !v.followed {
		add(ConditionGoesOn, "%s", v.goesOnWords(v.rises, r, met(ConditionGoesOn)))
		add(ConditionFalls, "All falls together are %s of the rises.", percent(v.fell/max(1, v.rose)))
		text := "Use raw UMDH logs or dumps: without block addresses, the evidence cannot show whether blocks stay."
		if v.sampled {
			text = "A profile has no block addresses, so it cannot show whether blocks stay."
		}
		list = append(list, Clause{Rule: string(ConditionKept), Text: text})
		return append(list, v.conclusion(r)...)
	}
	c := &v.cohorts
	filled, stayed, early, came := 0, 0.0, 0.0, 0.0
	for k := 1; k < c.n-1; k++ {
		if c.stayed[k] > 0 {
			filled++
		}
		stayed += c.stayed[k]
		if v.at[k] <= earlyShare {
			early, came = early+c.stayed[k], came+c.came[k]
		}
	}
	add(ConditionEverywhere, "Still held at the end: %s, allocated in %d of %s.", quantity.Plural(int64(stayed), "block"), filled,
		quantity.Plural(c.n-2, "interval"))
	add(ConditionEarly, "%s", freedWords(early, int64(came), "allocated in the first three quarters"))
	add(ConditionOutlives, "%s", c.outlivesWords(v))
	add(ConditionKept, "%s", keptWords(c.deaths, c.risk, v.age(quarter)))
	add(ConditionGoesOn, "%s", v.goesOnWords(c.stayed[1:c.n], r, met(ConditionGoesOn)))
	if c.n >= ManySnapshots {
		add(ConditionGapless, "%s", v.gaplessWords(c.stayed[1:c.n]))
	}
	return append(list, v.conclusion(r)...)
}

// words say what growth looks like, and by which clock.
func (r *reading) words() string {
	switch r.shape.likeliest() {
	case filling:
		return "Growth slowed down, or stopped before the end."
	case inBursts:
		return "It grew in a few bursts."
	case recently:
		return "It grew only of late, or ever faster."
	}
	return "It grows " + r.clock + "."
}

func (c *cohorts) outlivesWords(v *snapshotView) string {
	oldest := oldestWords(v.age(c.oldest))
	if c.freed == 0 {
		return oldest + "no block was seen freed."
	}
	ended, beyond := c.ended()
	if beyond == 0 {
		return oldest + "the oldest freed block lived " + v.age(c.died) + "."
	}
	return fmt.Sprintf("%sall but %s of %s lived %s or less.", oldest, decimal(beyond),
		quantity.Plural(int64(c.freed), "freed block"), v.age(ended))
}

// gaplessWords say in how many intervals nothing came that stayed.
func (v *intervals) gaplessWords(came []float64) string {
	empty := 0
	for _, n := range came {
		if n == 0 {
			empty++
		}
	}
	if empty == 0 {
		return fmt.Sprintf("Blocks stayed from each of %s.", quantity.Plural(len(came), "interval"))
	}
	expected, _ := emptyIntervals(came, v.load)
	return fmt.Sprintf("No block stayed from %d of %s (%s expected at the pace of the work).", empty,
		quantity.Plural(len(came), "interval"), decimal(math.Round(10*expected)/10))
}

// age is a share of the time that the snapshots cover, in words.
func (v *snapshotView) age(share float64) string {
	if v.hours > 0 {
		return seconds(share * v.hours * nanosecondsPerHour)
	}
	return percent(share) + " of the time recorded"
}

// oldestWords begin the sentence that compares the age of what is held with that of what was freed.
func oldestWords(age string) string { return "The oldest block still held has lived " + age + "; " }

// freedWords say how many of some blocks were not freed.
func freedWords(kept float64, of int64, which string) string {
	if of > 1 && kept == float64(of) {
		return fmt.Sprintf("None of the %s %s was freed.", quantity.Plural(of, "block"), which)
	}
	return fmt.Sprintf("Not freed: %s of %s %s.", decimal(kept), quantity.Plural(of, "block"), which)
}

// quarter is the share of the time from which a block counts as old.
const quarter = 0.25

// keptWords count the deaths of blocks older than a quarter of the time, which is given in words.
func keptWords(deaths, risk float64, old string) string {
	if risk < fewDeaths {
		return "Hardly any block got older than " + old + "."
	}
	if deaths == 0 {
		return "No block older than " + old + " was freed."
	}
	return fmt.Sprintf("Freed: %s older than %s, a rate of %s in that time.", quantity.Plural(int64(deaths), "block"), old,
		percent(1-math.Exp(-deaths/risk)))
}

// wordsFrom is the share of the load whose rest a sentence tells of.
const wordsFrom = 0.7

// goesOnWords say how much of the growth came at the end, which only a condition that is met calls going on.
func (v *snapshotView) goesOnWords(came []float64, r *Result, met *bool) string {
	all, total := after(came, v.load, 0)
	late, share := after(came, v.load, wordsFrom*total)
	if !(all > 0) {
		return "No growth."
	}
	begin, what := "", "growth"
	if v.followed {
		what = "blocks that stay"
	}
	if met != nil && *met && late > 0 {
		begin = "Still growing at the end: "
		if r.Class == ClassLeak && v.followed {
			begin, what = "Still leaking at the end: ", "leaked blocks"
		}
	}
	return fmt.Sprintf("%s%s of the %s came in the last %s of the work.", begin, percent(late/all), what,
		percent(share/total))
}

func (v *snapshotView) snapshotsClause() Clause {
	if v.n >= SnapshotsToJudge {
		return clause("snapshots", true, "%s.", quantity.Plural(v.n, "snapshot"))
	}
	return clause("snapshots", false, "%s (a leak needs %d).",
		quantity.Plural(v.n, "snapshot"), SnapshotsToJudge)
}

// clauses are the evidence lines of a trace.
func (t *traceView) clauses(r *Result) []Clause {
	list := []Clause{
		clause("survivors", t.survivors >= leastBlocks, "%s", t.survivorWords()),
		clause("spread", t.bins >= leastBins, "Allocated in %s sixteenths of the window (a leak needs %d).", t.filledWords(),
			leastBins),
	}
	if t.conditions == nil {
		return list
	}
	met := t.model.met(t.conditions)
	add := func(c Condition, format string, args ...any) {
		list = append(list, Clause{Rule: string(c), Holds: met(c), Text: fmt.Sprintf(format, args...)})
	}
	a := &t.ages
	add(ConditionEverywhere, "%s", t.arrival())
	oldest := oldestWords(seconds(a.oldest * t.window))
	if a.freed == 0 {
		oldest += "no block was freed."
	} else {
		oldest += "the oldest freed block lived " + seconds(a.died*t.window) + "."
	}
	add(ConditionOutlives, "%s", oldest)
	add(ConditionKept, "%s", keptWords(a.deaths, a.risk, seconds(quarter*t.window)))
	if t.lateFrees > 0 {
		add(ConditionOlder, "%s in the second half freed blocks of the same heap older than the trace, perhaps blocks of this stack.",
			quantity.Plural(t.lateFrees, "call"))
	}
	return append(list, t.conclusion(r)...)
}

// survivorWords count the blocks that are old enough to judge and were not freed.
func (t *traceView) survivorWords() string {
	text := freedWords(float64(t.survivors), t.births, "older than "+seconds(t.window-t.span))
	if t.survivors >= leastBlocks {
		return text
	}
	return fmt.Sprintf("%s (a leak needs %d).", strings.TrimSuffix(text, "."), leastBlocks)
}

// filledWords count the parts of the window in which blocks that stay were allocated.
func (t *traceView) filledWords() string {
	if t.bins == traceBins {
		return fmt.Sprintf("all %d", traceBins)
	}
	return fmt.Sprintf("%d of %d", t.bins, traceBins)
}

// arrival says when what stays came.
func (r *reading) arrival() string {
	switch r.shape.likeliest() {
	case filling:
		return "Allocations that stay became rarer, or stopped before the end."
	case inBursts:
		return "Blocks that stay were allocated in a few bursts."
	case recently:
		return "Blocks that stay were allocated only of late, or ever faster."
	}
	return "Blocks that stay were allocated " + r.clock + "."
}

func clause(rule string, holds bool, format string, args ...any) Clause {
	return Clause{Rule: rule, Holds: &holds, Text: fmt.Sprintf(format, args...)}
}

// decimal prints a count with commas; averages have a decimal.
func decimal(v float64) string {
	digits := strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
	whole, rest, _ := strings.Cut(digits, ".")
	sign := strings.HasPrefix(whole, "-")
	whole = strings.TrimPrefix(whole, "-")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	if sign {
		whole = "−" + whole
	}
	return whole
}

// percent prints a share, as far as it is not clear.
func percent(p float64) string {
	switch v := 100 * p; {
	case v > 0 && v < 0.5:
		return "less than 1 %"
	case v < 100 && v > 99:
		return "more than 99 %"
	case v > 999:
		return "more than 999 %"
	default:
		return strconv.FormatFloat(math.Round(v), 'f', 0, 64) + " %"
	}
}

// seconds prints a time in ns with a unit that suits it.
func seconds(ns float64) string {
	for _, unit := range []struct {
		name string
		ns   float64
	}{{"h", 3600e9}, {"min", 60e9}, {"s", 1e9}, {"ms", 1e6}} {
		if ns >= unit.ns {
			return strconv.FormatFloat(ns/unit.ns, 'g', 3, 64) + " " + unit.name
		}
	}
	return strconv.FormatFloat(ns/1e3, 'g', 3, 64) + " µs"
}
