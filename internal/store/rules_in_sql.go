package store

import (
	"fmt"
	"strings"

	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

// The rules below are those of internal/leaks, in the words of SQL where a query must know one for speed. A test holds
// each of them against the function that decides.

// classes are the classes of sites and findings in the order of their gravity, the gravest last, for array_position.
var classes = `array[` + quoted(score.Classes) + `]`

// suspect holds for a class that leaks or grows, as analysis.Class.IsSuspect; behind a column.
var suspect = ` in (` + quoted(leaks.SuspectClasses) + `)`

// openStates is the condition that a state is one of leaks.OpenStates.
var openStates = ` in (` + quoted(leaks.OpenStates) + `)`

// gravestFirst sorts findings f as leaks.CompareGravity does.
var gravestFirst = `array_position(` + classes +
	`, f.class) desc nulls last, f.certain desc, f.score desc nulls last, f.growth_bytes desc nulls last, f.outstanding_bytes desc`

// newestFirst and oldestFirst sort builds b by the ranks that rankBuilds stores, as leaks.CompareRanks does.
const (
	newestFirst = `b.place desc`
	oldestFirst = `b.place`
)

// untilOver says that the time for which the team tolerates a signature s is over.
const untilOver = `(s.until_over or s.until is not null and s.until <= now())`

// shownState is the state of a signature s, as leaks.Record.Shown.
const shownState = `case
	when s.state = '' then ''
	when s.not_leak or s.known <> '' or s.mark = 'known' and not ` + untilOver + ` then 'known'
	when s.mark = 'known' and s.state = 'new' then 'ongoing'
	else s.state end`

// quoted lists classes or states as SQL has them; they are constants of this program.
func quoted[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, c := range list {
		words[i] = `'` + string(c) + `'`
	}
	return strings.Join(words, `, `)
}

// runLength is how long a run lasted, in units of the rate of a finding or signature, as score.Rate.Length; 0 where
// that is unknown.
func runLength(table string) string {
	return `coalesce(nullif((` + table + `.rate->>'span')::double precision, 0), (` + table +
		`.rate->>'over')::double precision, 0)`
}

// isInRun says that a run is too short for growth per hour, as score.StateGrowth.
func isInRun(table string) string {
	return fmt.Sprintf(`(%s.rate->>'unit' = 'hour' and %s > 0 and %[2]s < %g)`, table, runLength(table), score.LeastHoursOfRate)
}

// statedUnit is the unit that growth is stated in, or leaks.PerRun.
func statedUnit(table string) string {
	return `case when ` + isInRun(table) + ` then '` + leaks.PerRun + `' else ` + table + `.rate->>'unit' end`
}

// statedUnits is how many units of the rate the stated growth is of.
func statedUnits(table string) string {
	return `case when ` + isInRun(table) + ` then ` + runLength(table) + ` else 1 end`
}

// statedBytes are the bytes of the stated growth: of a run, what it grew by where that is known.
func statedBytes(table string) string {
	return `case when ` + isInRun(table) + ` and ` + table + `.growth_bytes is not null then ` + table +
		`.growth_bytes else (` + table + `.rate->>'bytes')::double precision * ` + statedUnits(table) + ` end`
}
