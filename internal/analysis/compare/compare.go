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

// A Finding is one signature in a BuildResult: that of a run, or the gravest of all runs of a build.
type Finding struct {
	Signature string
	Kind      string
	Title     string
	Leaf      string   // coarser signature
	Outline   string   // as that of analysis.Finding
	Frames    []string // what the signature is made of
	Class     analysis.Class
	Score     *float64
	Certain   bool
	// Immaterial is as that of analysis.Finding; of several runs, that all of them say so. It counts where Risk was not
	// stored.
	Immaterial bool
	// Risk is as that of analysis.Finding; of several runs, the largest.
	Risk *analysis.Risk
	// Onset compares the run with those before; nil where there are none, or nothing asks.
	Onset *score.Onset
	// Outstanding and Growth are the largest of the runs; Growth is nil where none can tell.
	Outstanding analysis.Amount
	Growth      *analysis.Amount
	// Allocated is how many allocations traces saw of it; −1 where only snapshots did.
	Allocated int64
	// RateBytes and RateCount are growth per RateUnit; "" where there is none.
	RateUnit             string
	RateBytes, RateCount float64
	// Unbounded says that the rate has no interval, as that of a score.Rate.
	Unbounded bool
	// Exposure is for how many RateUnits it was watched; 0 where that is not known. Dispersion is as that of score.Rate.
	Exposure, Dispersion float64
	// Listed says in which lists of leaks at exit it is, by run; nil for none.
	Listed []analysis.ListedLeak
	// State, Owner and Known are what the team says of it.
	State, Owner, Known string
	ByRule              bool // Known is what a rule of the project says
	// Regressed says that it was fixed before the build compared, and leaks again; the store fills it in too.
	Regressed bool
	// Open says that the state of the leak is not fixed, whatever one build shows: what is clean here may leak elsewhere.
	Open bool
	// FirstBad is the build in which the leak was bad first, and FirstRank that build's rank; "" and nil where unknown.
	FirstBad  string
	FirstRank []byte
}

// HasIdentity reports whether the next run of the program would give the finding the same signature. One with the
// address of a frame that is in no module has none.
func (f *Finding) HasIdentity() bool {
	return !slices.ContainsFunc(f.Frames,
		func(frame string) bool { return strings.HasPrefix(frame, blame.UnnamedFrame) })
}

// Unnamed is the module of the first frame of the signature without a name, which makes the signature one build's; ""
// where all frames in modules have names.
func (f *Finding) Unnamed() string {
	for _, frame := range f.Frames {
		if module, function, _ := strings.Cut(frame, "!"); strings.HasPrefix(function, blame.UnnamedFrame) {
			return module
		}
	}
	return ""
}

// Module is the module to blame; "" where no frame is in a module.
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

// TakeRate takes how fast a finding grows; nil is not at all.
func (f *Finding) TakeRate(r *score.Rate) {
	if r != nil {
		f.RateUnit, f.RateBytes, f.RateCount, f.Unbounded = r.Unit, r.Bytes, r.Count, r.Unbounded
		f.Exposure, f.Dispersion = r.Over, r.Dispersion
	}
}

// A BuildResult is what the runs of one build have found: one of the two results that are compared.
type BuildResult struct {
	Build string
	// Label is what sentences call the build where it has no name: "this run". Build then only tells whether two
	// results are of one build.
	Label    string
	Sequence *int64
	// Rank is where the build stands among those of its project: byte by byte, that of an older build is less. It is nil
	// where builds have no order.
	Rank     []byte
	Runs     []int64
	Statuses []analysis.Status // by run
	Pending  int               // runs that are being read or analysed: what they show will change
	Suffices bool              // the evidence of a run lost nothing and is enough for growth to be judged; false where nobody says
	Trace    bool              // at least one run is of a trace: what it does not show did not allocate
	Lossy    bool              // the evidence of a run has losses
	Power    *analysis.Power   // the best of the runs
	// Findings are those that leak or grow, here or elsewhere; others are of no interest but for what was Seen.
	Findings []Finding
	Seen     []FrameCounts // by run
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
	// Why is the fact that decided the change.
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
	Likeness   float64 // 0 to 1
	Why        string
}

// A Comparison is what became of everything that leaks or grows in the base or the head.
type Comparison struct {
	Rows     []Row // new first, then grown, persisting, shrunk, clean, fixed, not exercised; by growth in each
	Renames  []Rename
	Sentence string
}
