package score

import (
	"math"
	"time"

	"heapdrift/ingest/quantity"
)

// LeastHoursOfRate is the length of a run, in hours, from which its growth is stated per hour. Growth of a shorter run,
// often one that does the work of days in a minute, would be extrapolated to an hour that nobody has watched.
const LeastHoursOfRate = 0.5

// A StatedGrowth is growth as texts and pages state it: per unit of work, per hour, or in a run with its length.
type StatedGrowth struct {
	Bytes  float64
	Unit   string        // "hour", or the name of the work counter; "" for growth in a run
	Length time.Duration // of the run, where Unit is ""
}

// StateGrowth states growth in a run that lasted so many units; length is 0 where that is unknown. Growth per hour of a
// run shorter than LeastHoursOfRate becomes growth in that run: grown if it is known, which no rate knows exactly.
func StateGrowth(bytesPerUnit float64, unit string, length float64, grown *int64) StatedGrowth {
	if unit != hourUnit || !(length > 0) || length >= LeastHoursOfRate {
		return StatedGrowth{Bytes: bytesPerUnit, Unit: unit}
	}
	g := StatedGrowth{Bytes: bytesPerUnit * length, Length: time.Duration(math.Round(length * nanosecondsPerHour))}
	if grown != nil {
		g.Bytes = float64(*grown)
	}
	return g
}

// InRun reports whether growth is stated in a run, not per unit.
func (g StatedGrowth) InRun() bool { return g.Unit == "" }

// Basis is what growth is stated by, behind an amount on a page: "/hour", or " in 61 s".
func (g StatedGrowth) Basis() string {
	if g.InRun() {
		return " in " + quantity.ShortDuration(g.Length)
	}
	return "/" + g.Unit
}

// BasisText is Basis in a sentence: " per hour", or " in 61 s".
func (g StatedGrowth) BasisText() string {
	if g.InRun() {
		return g.Basis()
	}
	return " per " + g.Unit
}

// Text is the growth in a sentence: "2.07 MB per hour", or "2.12 MB in 61 s".
func (g StatedGrowth) Text() string {
	return quantity.Bytes(int64(g.Bytes)) + g.BasisText()
}

// TextBeside is the growth behind the bytes that the run grew by: ", 2.07 MB per hour", or ", in 61 s", as those bytes
// are not repeated.
func (g StatedGrowth) TextBeside() string {
	if g.InRun() {
		return "," + g.Basis()
	}
	return ", " + g.Text()
}

// Length is how many units the run lasted; 0 where an older version has not stored that.
func (r *Rate) Length() float64 {
	if r.Span > 0 {
		return r.Span
	}
	return r.Over
}

// State states the growth of a rate. grown are the bytes that the whole run grew by; nil where they are unknown.
func (r *Rate) State(grown *int64) StatedGrowth {
	return StateGrowth(r.Bytes, r.Unit, r.Length(), grown)
}

// hourUnit is the unit of rates where no work was counted.
const hourUnit = "hour"

// AreAlike reports whether growth may be compared by its numbers: it is stated in one unit, or in runs of about the
// same length.
func AreAlike(a, b *StatedGrowth) bool {
	return a.Unit == b.Unit && max(a.Length, b.Length) <= alikeLengths*min(a.Length, b.Length)/100
}

// alikeLengths is how many hundredths of another a run may last to be about as long.
const alikeLengths = 125
