package year

import (
	"fmt"
	"math/rand/v2"

	"heapdrift/tools/leakeval/evaluation/behaviour"
	"heapdrift/tools/leakeval/evaluation/workload"
)

// A Team is how a team records its runs: the same for all builds, but for accidents.
type Team struct {
	Counted     bool    // each snapshot carries a counter of the work done
	Seconds     float64 // length of a whole run
	Lengths     bool    // its runs differ in length
	LateSymbols bool    // the symbols of some builds come after their verdict
}

const (
	snapshots = 12   // of a run, where a team does not vary them
	shortRun  = 3600 // seconds; of teams with runs of different length
	longRun   = 8 * shortRun
)

// teamOf draws the habits of a team. Whether it counts its work, and how long its runs are where all are of one length,
// is what the workload of its seed draws.
func teamOf(r *rand.Rand, seed uint64, behaviours []behaviour.Behaviour) Team {
	p := workload.New(seed, 0, 0, behaviours)
	t := Team{Counted: p.Counted, Seconds: p.Seconds, Lengths: r.IntN(2) == 0, LateSymbols: r.IntN(2) == 0}
	if t.Lengths {
		t.Seconds = longRun
	}
	return t
}

// workload is a run of a part of the program.
func (t *Team) workload(seed, part, run uint64, behaviours []behaviour.Behaviour) *workload.Process {
	p := workload.NewMixed(seed, part, run, behaviours, &workload.Mix{Seconds: t.Seconds})
	p.Counted = t.Counted
	return p
}

// SymbolArrival says when the symbols of a build are uploaded.
type SymbolArrival int

// The times: before the evidence, after the verdict on it, and after the verdict on the next build.
const (
	// The arrivals: before the evidence, after the verdict on it, and after the verdict on the next build.
	InTime SymbolArrival = iota
	AfterVerdict
	AfterNext
)

// A Recording is how a build was recorded.
type Recording struct {
	Snapshots int     // how many were planned
	Seconds   float64 // from the start of the process to the last snapshot; 0 for a whole run
	Cut       int     // how many were taken of a run that was cut short; 0 for all
	Twice     bool    // another job pushes the same files again
	Symbols   SymbolArrival
}

// record draws how a build is recorded.
func (t *Team) record(r *rand.Rand, b *Build) {
	accident, cut := r.IntN(20), 0 // twelfths of the run
	switch {
	case accident == 0:
		b.Twice = true
	case accident == 1:
		cut = 4 + r.IntN(6)
	case b.Late && accident < 11:
		b.After = 3
	}
	if lengths := [...]int{8, 12, 20}; t.Lengths {
		b.Snapshots = lengths[r.IntN(len(lengths))]
		if r.IntN(3) == 0 {
			b.Seconds = shortRun
		}
	}
	b.Cut = b.Snapshots * cut / 12
	if t.LateSymbols && r.IntN(5) == 0 {
		b.Symbols = AfterVerdict + SymbolArrival(r.IntN(2))
	}
}

// labels are what figures are listed by, of the team alone.
func (t *Team) labels() []string {
	work, lengths, symbols := "without work units", "runs of one length", "symbols in time"
	if t.Counted {
		work = "with work units"
	}
	if t.Lengths {
		lengths = "runs of 1 and 8 hours"
	}
	if t.LateSymbols {
		symbols = "symbols of some builds late"
	}
	return []string{"team: " + work, "team: " + lengths, "team: " + symbols}
}

// labels are those of the team, and of the build.
func (b *Build) labels(t *Team) []string {
	list := t.labels()
	switch {
	case b.Cut > 0:
		list = append(list, "run: cut short")
	default:
		list = append(list, fmt.Sprintf("run: %d snapshots", b.Snapshots))
	}
	switch {
	case b.Seconds > 0:
		list = append(list, "run: 1 hour")
	case t.Lengths:
		list = append(list, "run: 8 hours")
	}
	if b.Symbols != InTime {
		list = append(list, "build: symbols late")
	}
	if b.Late {
		list = append(list, "build: out of order")
	}
	return list
}
