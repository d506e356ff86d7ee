package score

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"heapdrift/ingest/figures"
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
		list = append(list, clause("blocks", false, "the number of blocks did not grow, only their size"))
	}
	list = append(list, clause("growth", v.grown > 0, "from %s to %s blocks; it rose in %d of %s", decimal(first),
		decimal(last), v.steps, figures.Plural(v.n-1, "interval")))
	if v.conditions == nil {
		if v.followed {
			list = append(list, clause("stays", false, "%s came and stayed; a leak leaves %d or more",
				figures.Plural(int64(v.cohorts.survivors()), "block"), leastBlocks))
		}
		return list
	}
	if v.model == nil { // two snapshots have one interval, which has no course, and follow no block
		return append(list, v.conclusion(r)...)
	}
	add(Steady, "its rises are %s", v.words())
	if !v.followed {
		add(GoesOn, "%s", v.goesOnWords(v.rises, "of the growth"))
		add(Falls, "all its falls are %s of its rises", percent(v.fell/max(1, v.rose)))
		list = append(list, Clause{Rule: string(Kept),
			Text: "the evidence has no addresses, so whether blocks stay is not known: raw logs of umdh or dumps tell"})
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
	add(Everywhere, "%s that came in %d of %s stayed to the end", figures.Plural(int64(stayed), "block"), filled,
		figures.Plural(c.n-2, "interval"))
	add(Early, "of %s that came in the first three quarters, %s were never freed",
		figures.Plural(int64(came), "block"), decimal(early))
	add(Outlives, "%s", c.outlivesWords(v))
	add(Kept, "%s", keptWords(c.deaths, c.risk))
	add(GoesOn, "%s", v.goesOnWords(c.stayed[1:c.n], "of the blocks that stay"))
	if c.n >= ManySnapshots {
		add(Gapless, "%s", v.gaplessWords(c.stayed[1:c.n]))
	}
	return append(list, v.conclusion(r)...)
}

// words say what growth looks like, and by which clock.
func (r *reading) words() string {
	switch r.shape.likeliest() {
	case filling:
		return "falling off, or over before the end"
	case inBursts:
		return "in a few bursts"
	case recently:
		return "recent, or ever faster"
	}
	return "as steady as " + r.clock
}

func (c *cohorts) outlivesWords(v *snapshotView) string {
	oldest := "its oldest block that came and stayed is " + v.age(c.oldest) + " old"
	if c.freed == 0 {
		return oldest + ", and none of its blocks was seen to be freed"
	}
	ended, beyond := c.ended()
	if beyond == 0 {
		return oldest + "; the oldest that was freed had been there for " + v.age(c.died)
	}
	return fmt.Sprintf("%s; of %s that were freed all but %s had been there for %s or less", oldest,
		figures.Plural(int64(c.freed), "block"), decimal(beyond), v.age(ended))
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
		return fmt.Sprintf("each of %s left blocks behind", figures.Plural(len(came), "interval"))
	}
	expected, _ := emptyIntervals(came, v.load)
	return fmt.Sprintf("%d of %s left no block behind; at the pace of the work %s would", empty,
		figures.Plural(len(came), "interval"), decimal(math.Round(10*expected)/10))
}

// age is a share of the time that the snapshots cover, in words.
func (v *snapshotView) age(share float64) string {
	if v.hours > 0 {
		return seconds(share * v.hours * nanosecondsPerHour)
	}
	return percent(share) + " of the time watched"
}

// keptWords count the deaths of old blocks.
func keptWords(deaths, risk float64) string {
	if risk < fewDeaths {
		return "next to none of its blocks got older than a quarter of the time watched"
	}
	if deaths == 0 {
		return "none of its blocks that are older than a quarter of the time watched was freed"
	}
	return fmt.Sprintf("%s that were older than a quarter of the time watched were freed, which takes a share of %s away in as long a time", figures.Plural(int64(deaths), "block"), percent(1-math.Exp(-deaths/risk)))
}

// wordsFrom is the share of the load whose rest a sentence tells of.
const wordsFrom = 0.7

func (v *intervals) goesOnWords(came []float64, what string) string {
	all, total := after(came, v.load, 0)
	late, share := after(came, v.load, wordsFrom*total)
	if !(all > 0) {
		return "nothing came at all"
	}
	return fmt.Sprintf("%s %s came in the last %s of the work", percent(late/all), what, percent(share/total))
}

func (v *snapshotView) snapshotsClause() Clause {
	if v.n >= SnapshotsToJudge {
		return clause("snapshots", true, "%s", figures.Plural(v.n, "snapshot"))
	}
	return clause("snapshots", false, "%s; it takes %d before growth may be called a leak",
		figures.Plural(v.n, "snapshot"), SnapshotsToJudge)
}

// clauses are the evidence lines of a trace.
func (t *traceView) clauses(r *Result) []Clause {
	list := []Clause{
		clause("survivors", t.survivors >= leastBlocks,
			"%s of %s that are older than %s were never freed; a leak leaves %d or more", decimal(float64(t.survivors)),
			figures.Plural(t.births, "block"), seconds(t.window-t.span), leastBlocks),
		clause("spread", t.bins >= leastBins, "they come from %d of %d stretches of the window; a leak's from %d or more",
			t.bins, traceBins, leastBins),
	}
	if t.conditions == nil {
		return list
	}
	met := t.model.met(t.conditions)
	add := func(c Condition, format string, args ...any) {
		list = append(list, Clause{Rule: string(c), Holds: met(c), Text: fmt.Sprintf(format, args...)})
	}
	a := &t.ages
	add(Everywhere, "those that stay came %s", t.arrival())
	oldest := "the oldest block that stays is " + seconds(a.oldest*t.window) + " old"
	if a.freed == 0 {
		oldest += ", and none was freed"
	} else {
		oldest += "; the oldest that was freed had been there for " + seconds(a.died*t.window)
	}
	add(Outlives, "%s", oldest)
	add(Kept, "%s", keptWords(a.deaths, a.risk))
	if t.lateFrees > 0 {
		add(Older, "%s in the second half freed blocks of the same heap that are older than the trace, perhaps some of this stack", figures.Plural(t.lateFrees, "free"))
	}
	return append(list, t.conclusion(r)...)
}

// arrival says when what stays came.
func (r *reading) arrival() string {
	switch r.shape.likeliest() {
	case filling:
		return "ever more rarely, or until a while before the end"
	case inBursts:
		return "in a few bursts"
	case recently:
		return "of late, or ever faster"
	}
	return "as steadily as " + r.clock
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
		return "below 1 %"
	case v < 100 && v > 99:
		return "above 99 %"
	case v > 999:
		return "over 999 %"
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
