// Package compare sets the findings of two builds, or of two runs, beside each other. In come two BuildResults, base
// and head. Out goes a Comparison: which signatures are new, fixed, grown, shrunk or unchanged, and which of them one
// build did not exercise.
package compare

import (
	"slices"
	"strings"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/analysis/score"
)

// A Finding is one signature in a BuildResult: the finding of its run, or the gravest of all its runs.
type Finding struct {
	Signature string // "sig1:…"
	Kind      string // of memory: "heap" or "virtual"
	Title     string
	Leaf      string          // coarser signature, of origin and blamed frame alone
	Outline   string          // the signature without inlined calls; "" where it is the same
	Frames    []string        // names that the signature is made of, the blamed frame first
	Blame     *analysis.Blame // nil without a stack
	Class     analysis.Class
	Score     *float64 // probability of a leak; nil where nothing can be said
	Certain   bool     // a leak that may fail a gate
	// Immaterial is analysis.Finding.Immaterial; of several runs, it is true if it is so in all of them. It counts
	// where Risk was not stored.
	Immaterial bool
	// Risk is analysis.Finding.Risk; of several runs, the largest.
	Risk *analysis.Risk
	// Onset compares the run with those before; nil where there are none, or the policy does not need it.
	Onset *score.Onset
	// Outstanding and Growth are the largest of the runs; Growth is nil where none can tell.
	Outstanding analysis.Amount
	Growth      *analysis.Amount
	// Allocated is how many allocations of it traces recorded in the window; −1 where only snapshots show it.
	Allocated int64
	// RateBytes and RateCount are bytes and blocks that it grows by per RateUnit: "hour", or a unit of work; "" where
	// it has no rate.
	RateUnit             string
	RateBytes, RateCount float64
	// Unbounded says that the rate has no confidence interval, as in score.Rate.
	Unbounded bool
	// Exposure is for how many RateUnits it was watched; 0 where that is unknown. Dispersion is score.Rate.Dispersion.
	Exposure, Dispersion float64
	// Length is how many RateUnits the run lasted, of which Exposure leaves out what is too young to be judged; 0 where
	// that is unknown.
	Length float64
	// AtExit says that nothing but lists of leaks at exit shows it as a leak, also where runs of different work show that
	// it grows.
	AtExit bool
	// Listed says in which lists of leaks at exit it is, by run; nil for none.
	Listed []analysis.ListedLeak
	// State is the state of the leak (leaks.State), Owner the team or person it is assigned to, and Known why it is
	// tolerated. Each is "" where nobody said.
	State, Owner, Known string
	ByRule              bool // Known comes from a rule of the project, not from triage
	// Regressed says that it was fixed before the build compared, and leaks again; the store fills it in too.
	Regressed bool
	// Open says that the leak is not fixed in its project, whatever one build shows: what is clean here may leak in
	// another scenario.
	Open bool
	// FirstBad is the first build in which the leak was bad, and FirstRank that build's rank; "" and nil where unknown.
	FirstBad  string
	FirstRank []byte
}

// HasIdentity reports whether the next run of the program would give the finding the same signature. A signature with
// the address of a frame in no module changes with each start.
func (f *Finding) HasIdentity() bool {
	return !slices.ContainsFunc(f.Frames,
		func(frame string) bool { return strings.HasPrefix(frame, blame.UnnamedFrame) })
}

// Unnamed is the module of the first frame of the signature without a function name, because of which the signature
// holds for one build; "" where all frames in modules have names.
func (f *Finding) Unnamed() string {
	for _, frame := range f.Frames {
		if module, function, _ := strings.Cut(frame, "!"); strings.HasPrefix(function, blame.UnnamedFrame) {
			return module
		}
	}
	return ""
}

// Module is the module of the blamed frame; "" where no frame is in a module.
func (f *Finding) Module() string {
	if len(f.Frames) == 0 {
		return ""
	}
	module, _, named := strings.Cut(f.Frames[0], "!")
	if !named {
		return ""
	}
	return module
}

// TakeRate copies a rate into the finding; nil for one that does not grow.
func (f *Finding) TakeRate(r *score.Rate) {
	if r != nil {
		f.RateUnit, f.RateBytes, f.RateCount, f.Unbounded = r.Unit, r.Bytes, r.Count, r.Unbounded
		f.Exposure, f.Dispersion, f.Length = r.Over, r.Dispersion, r.Length()
	}
}

// StateRate states how fast the finding grows; nil where it has no rate.
func (f *Finding) StateRate() *score.StatedGrowth {
	if f == nil || f.RateUnit == "" {
		return nil
	}
	var grown *int64
	if f.Growth != nil {
		grown = &f.Growth.Bytes
	}
	g := score.StateGrowth(f.RateBytes, f.RateUnit, f.Length, grown)
	return &g
}

// A BuildResult is what the runs of one build have found: one of the two results that are compared.
type BuildResult struct {
	Build string
	// Label is what sentences call the build where it has no name: "this run". Build then only tells whether two
	// results are of one build.
	Label    string
	Sequence *int64 // sequence number of the build; nil for none
	// Rank is where the build stands among those of its project: byte by byte, that of an older build is less. It is nil
	// where builds have no order.
	Rank     []byte
	RunIDs   []int64                  // ids
	Statuses []analysis.VerdictStatus // by run, in the order of Runs
	Pending  int                      // runs that are being read or analysed: the result will change
	Suffices bool                     // the evidence of a run lost nothing and is enough to judge growth; false also where that is not stored
	Trace    bool                     // at least one run is a trace: a site that it does not show did not allocate
	Lossy    bool                     // evidence of a run has losses
	Power    *analysis.Power          // that of the run that would have shown the smallest leak; nil for none
	// Findings are those that leak or grow, here or in the other result. Others count only in Seen.
	Findings []Finding
	Seen     []FrameCounts // by run, in the order of Runs
}

// A Change says what became of a signature from the base to the head.
type Change string

// The changes. ChangeNotExercised is of a leak that the head does not show although nothing says that it would have: no
// trace of its allocations, or no run of the scenario.
const (
	ChangeNew          Change = "new"
	ChangeFixed        Change = "fixed"
	ChangeClean        Change = "clean" // as ChangeFixed, and another scenario or a newer build says otherwise
	ChangeGrown        Change = "grown"
	ChangeShrunk       Change = "shrunk"
	ChangePersisting   Change = "persisting"
	ChangeNotExercised Change = "not-exercised"
)

// A Row is a signature that leaks or grows in the base, the head or both.
type Row struct {
	Change     Change
	Base, Head *Finding // nil where that build does not have it
	// Why is the fact that decided the change, as a clause.
	Why string
	// Unknown says that the base may have it under another signature, because symbols are missing.
	Unknown bool
	// Unrated says that it leaks or grows in both builds, and that their rates cannot be compared.
	Unrated bool

	chance float64 // that it did not become faster or slower
}

// A Rename is a suggestion that two signatures are one leak: one vanished, and one like it appeared.
type Rename struct {
	Base, Head string  // signatures
	Likeness   float64 // as blame.Similarity: 0 to 1
	Why        string  // what suggests it, as a clause
}

// A Comparison is what became of everything that leaks or grows in the base or the head.
type Comparison struct {
	Rows     []Row // new first, then grown, persisting, shrunk, clean, fixed, not exercised; by growth in each
	Renames  []Rename
	Sentence string // counts the changes, for people
}
