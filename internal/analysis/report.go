// Package analysis turns captures into a report. In come the captures of one run, in the order of time; out goes a
// Report about one process: its sites, its findings and a verdict. To make it, the package merges the snapshots of the
// process into a series, matches stacks across them and judges what grew. Captures that cannot be analysed give an
// *Error. The package knows no file format.
package analysis

import (
	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/analysis/footprint"
	"heapdrift/internal/analysis/score"
)

// Schema names the layout of Report as JSON. Fields are added freely; a change of meaning needs a new name.
const Schema = "heapdrift.report/v2"

// A Report is what heapdrift says about one process. Bytes are requested bytes, times nanoseconds.
type Report struct {
	Schema   string          `json:"schema"`
	Evidence []Evidence      `json:"evidence"`
	Warnings []Warning       `json:"warnings"`
	Modules  []Module        `json:"modules"`
	Totals   Totals          `json:"totals"`
	Heaps    []Heap          `json:"heaps"`
	Verdict  EvidenceVerdict `json:"verdict"`
	// Compared is what became of the findings since a baseline; nil without one.
	Compared *Compared `json:"baseline,omitempty"`
	Process  Process   `json:"process"`
	Trace    *Trace    `json:"trace,omitempty"`  // of traces only
	Window   *Window   `json:"window,omitempty"` // of traces only: the time that all numbers are of
	// Snapshots are the instants of the series, oldest first; for a trace, instants that divide the window evenly.
	Snapshots []Snapshot `json:"snapshots"`
	// MatchedBy says how stacks were matched across snapshots: "id", "stack", or "" for a single capture.
	MatchedBy string `json:"matched_by,omitempty"`
	// Work is how much work was done by each snapshot, where the uploads say; else growth counts by time.
	Work *Work `json:"work,omitempty"`
	// Power says which leaks the evidence would have shown; nil where it can show none.
	Power *Power `json:"power,omitempty"`
	// PartLengths are the lengths of the parts of the run that Finding.Stayed counts by; nil where the evidence shows
	// one instant.
	PartLengths *score.PartLengths `json:"stretches,omitempty"`
	// Observation converts growth that matters into bytes of the run; nil in a report that was read from JSON.
	Observation *Observation `json:"-"`
	// Memory is what the evidence says beyond sites, in the order of the evidence.
	Memory []Memory `json:"memory,omitempty"`
	// MemoryHistory is the memory over time, where the evidence tells it.
	MemoryHistory *footprint.MemoryHistory `json:"memory_over_time,omitempty"`
	// Reported are the leaks that Application Verifier reports, by its own method.
	Reported []ReportedLeaks `json:"reported_leaks,omitempty"`
	// ListsExit says that the evidence lists what was left when the process ended, and lost nothing of it: a leak at
	// exit that ExitLists would have and that is not in the report was freed.
	ListsExit bool        `json:"lists_at_exit,omitempty"`
	ExitLists []ExitLists `json:"exit_lists,omitempty"` // by tool
	ExitWork  *ExitWork   `json:"exit_work,omitempty"`
	// ExitTests are the tests by what they left, most bytes first, and those that ran and left nothing; at most
	// MaxExitTests. MoreExitTests counts the others.
	ExitTests     []ExitTest `json:"exit_tests,omitempty"`
	MoreExitTests int        `json:"more_exit_tests,omitempty"`
	// Unreachable are the findings whose blocks nothing points to, those with most of them first.
	Unreachable []UnreachedFinding `json:"unreachable,omitempty"`
	// Causes are the causes that several findings share, the one with the gravest member first.
	Causes []LostTogether `json:"causes,omitempty"`
	// Findings are the signatures of the sites, leaks first.
	Findings []Finding `json:"findings"`
	// Stacks are the stacks that sites, claims and samples name, with their frames: "stacks" and "frames" in JSON.
	Stacks *Stacks `json:"-"`
	Sites  []Site  `json:"sites"` // merged by stack, heap and kind; most growth first, heap-virtual last

	// lazy makes what few callers ask for: the text of sites that are written as JSON, and Keys. It is part of the result,
	// because a run may have a million sites of which a page shows twenty; nil of a report that was read from JSON.
	lazy *lazySites
}

// SetStackKeys gives all sites the Keys of their stacks, by which callers find the sites again in another report on the
// same evidence. It computes a hash for each frame. Sites of a report that was read from JSON have no Keys.
func (r *Report) SetStackKeys() {
	if r.lazy == nil {
		return
	}
	if r.lazy.identify(r.Sites); r.lazy.written == len(r.Sites) { // nothing is left to make
		r.lazy = nil
	}
}

// Work is a counter of what the program did, such as documents or requests.
type Work struct {
	Unit string    `json:"unit"` // singular: "document"
	At   []float64 `json:"at"`   // Units done since the start, by snapshot
}

// Power is the smallest leak that the evidence would have shown in 9 of 10 runs.
type Power struct {
	score.Power
	Sentence string `json:"sentence"`
}

// A Finding is a signature in a report: all its sites together. Its growth is that of the longest life of the process,
// by which the finding is judged; a site's growth is from the first snapshot to the last.
type Finding struct {
	Signature string   `json:"signature"`
	Kind      string   `json:"kind"`            // of memory: "heap" or "virtual"
	Title     string   `json:"title"`           // for people: origin and blamed function
	Verdict   Class    `json:"verdict"`         // whether it leaks
	Score     *float64 `json:"score,omitempty"` // probability that it is a leak; nil where nothing can be said
	// Certain says that it is a leak that may fail a gate.
	Certain bool `json:"certain"`
	Amounts
	Sites int `json:"sites"` // how many sites it has
	// Unreachable counts the blocks that no pointer was found to; nil where nobody looked.
	Unreachable *Amount `json:"unreachable,omitempty"`
	// LeftAtExit are the blocks that were never freed when the process ended; nil where no tool listed them.
	LeftAtExit *LeftAtExit `json:"left_at_exit,omitempty"`
	// Joined are the findings that evidence without call stacks alone would show instead of this one.
	Joined []JoinedLine `json:"joined_lines,omitempty"`
	// SeveralStacks says, of a finding without a call stack, that several of the run may be its own, or one of only some of
	// its lines. It is false in a report that was read from JSON.
	SeveralStacks bool   `json:"-"`
	Blame         *Blame `json:"blame"`  // the blamed frame; nil without a stack
	Origin        *Blame `json:"origin"` // the first frame behind the allocator's; nil without a stack
	// Frames are the normalised names that the signature is made of, the blamed frame first.
	Frames []string `json:"frames"`
	// Fine is a finer signature, of all frames, and Leaf a coarser one, of the blamed frame and the origin alone.
	Fine string `json:"fine"`
	Leaf string `json:"leaf"`
	// Outline is the signature that evidence without inlined calls gives the same leak; "" where it is Signature.
	Outline string `json:"outline,omitempty"`
	// Provisional says that a frame has no name: symbols will give another signature.
	Provisional bool           `json:"provisional,omitempty"`
	Clauses     []score.Clause `json:"clauses,omitempty"` // why: one line of evidence for each condition of the rule
	Rate        *score.Rate    `json:"rate,omitempty"`    // nil where it does not grow
	// Evidence is what the score rests on, for several runs to be judged together; nil for findings that are excluded
	// from judgement.
	Evidence *score.Evidence `json:"evidence,omitempty"`
	// Stayed are, for each part of the run, the blocks that were allocated in it and stayed: they bound a leak.
	Stayed score.StayedBlocks `json:"stayed,omitzero"`
	// MostHeld is the most blocks that it held at one of the instants that it is judged by; for a trace, the blocks
	// that it held at the end. It is 0 in a report that was read from JSON.
	MostHeld int64 `json:"-"`
	// Immaterial says that the run passes without a decision on whether this leaks: what it could leak does not matter,
	// or is too improbable. It is false where that was not weighed.
	Immaterial bool         `json:"immaterial,omitempty"`
	ByKind     []KindResult `json:"witnesses"` // what each kind of evidence says by itself, the report's own kind first
	// Change says what became of it since the baseline, as in Compared; "" without one, and where it leaks in neither.
	Change string `json:"change,omitempty"`
	// Owner, Known and Group are what the project's rules say of the frames: who owns the finding, why it is tolerated,
	// and the name of the group that it belongs to.
	Owner string `json:"owner,omitempty"`
	Known string `json:"known,omitempty"`
	Group string `json:"group,omitempty"`
	// CauseNumber is the LostTogether.Number of its cause; 0 where it shares its cause with no other.
	CauseNumber int `json:"cause,omitempty"`

	// Risk is what it could leak in the run; nil in a report that was read from JSON, and where it was not weighed or
	// kept nothing.
	Risk *Risk `json:"-"`

	// Its text is made when somebody looks at it or writes it as JSON: as of sites, most are only counted.
	from *judgedSite           // whose stack it is told by, until it is
	why  func() []score.Clause // what it is told with; nil where nobody asks why
}

// A KindResult is one kind of evidence that shows a finding, and what it says by itself.
type KindResult struct {
	Kind    string   `json:"kind"` // of evidence: a capture.Kind
	Verdict Class    `json:"verdict"`
	Score   *float64 `json:"score,omitempty"`
	Amounts
}

// Evidence is one file that the report rests on. Kind names what it is.
type Evidence struct {
	File      string  `json:"file"`   // its name
	SHA256    string  `json:"sha256"` // hex digits
	Kind      string  `json:"kind"`
	Process   Process `json:"process"`
	TakenAt   string  `json:"taken_at,omitempty"` // local time of the traced machine, no zone
	Bytes     int64   `json:"bytes"`              // size of the file
	Events    int64   `json:"events"`             // of a trace, in all its files; 0 for snapshots
	Snapshots int     `json:"snapshots"`          // instants in the file
	Used      bool    `json:"used"`               // false where the report leaves it out; a warning says why
	// Test is the test that was running when the tool printed the list of blocks that is in the file; "" for none. A file
	// with lists of several tests is listed once for each.
	Test string `json:"test,omitempty"`
}

// Process identifies whose memory it is.
type Process struct {
	Name string `json:"name"`
	PID  uint32 `json:"pid"`
	Bits int    `json:"bits"` // 32 or 64; 0 unknown
}

// A Warning limits what may be concluded. Count is in the unit that the message names.
type Warning struct {
	Code    capture.Code `json:"code"`
	Message string       `json:"message"`
	Count   int64        `json:"count"`
	File    string       `json:"file,omitempty"`  // name of the file that it is about; "" for all
	Place   string       `json:"place,omitempty"` // where in the file: "line 12"; "" for all of it
}

// A Module is an image of the process. Base is that of the last snapshot. PDB and DebugID are those of the symbols that
// were used, else those that the evidence asks for.
type Module struct {
	Name    string             `json:"name"`           // as debuggers print it before the "!": "app" of app.exe
	Path    string             `json:"path,omitempty"` // as the evidence spells it
	Base    string             `json:"base"`           // address in hex; "" where only the name is known
	Size    uint64             `json:"size"`           // bytes
	PDB     string             `json:"pdb"`            // file name; "" if unknown
	DebugID string             `json:"debug_id"`       // GUID and age in hex; "" if unknown
	Symbols capture.SymbolKind `json:"symbols"`
	// Mismatch says that symbols of that name exist, but none of them belongs to the module.
	Mismatch bool `json:"mismatch,omitempty"`
	// Match says how the symbols were matched to the module, or what is missing; "" where nobody looked.
	Match string `json:"match,omitempty"`
	// Unproven says that nothing but name and size match the symbols to the module.
	Unproven bool              `json:"unproven,omitempty"`
	Own      bool              `json:"own,omitempty"`   // the team uploaded its PDB, and it is none of Windows
	Tried    []capture.Attempt `json:"tried,omitempty"` // every place that was searched for symbols
	// Frames counts the distinct return addresses in the module, Unnamed those of them without a function name.
	Frames  int64 `json:"frames"`
	Unnamed int64 `json:"unnamed"`
	// UnnamedHeld is what is held at sites with an unnamed frame in this module, or one named only by the nearest
	// export. If the process ended, it is what was held before.
	UnnamedHeld Amount `json:"stake"`
}

// An Amount counts blocks and bytes.
type Amount struct {
	Count int64 `json:"count"`
	Bytes int64 `json:"bytes"`
}

// Plus returns the sum a + b.
func (a Amount) Plus(b Amount) Amount { return Amount{a.Count + b.Count, a.Bytes + b.Bytes} }

// Minus returns the difference a − b.
func (a Amount) Minus(b Amount) Amount { return Amount{a.Count - b.Count, a.Bytes - b.Bytes} }

// Amounts are the figures of a site, a heap or a kind. Growth is nil where there is nothing to compare with. Bytes of
// virtual memory are committed bytes.
type Amounts struct {
	Outstanding Amount  `json:"outstanding"`
	Growth      *Amount `json:"growth,omitempty"`
	*Lifetimes          // of traces only
}

// Totals are the figures of all sites by kind. Memory that heaps took from the system for their blocks is in
// HeapVirtual only: it is the memory of Heap, counted a second time at the system's level.
type Totals struct {
	Heap        Amounts  `json:"heap"`
	Virtual     Amounts  `json:"virtual"`
	HeapVirtual *Amounts `json:"heap_virtual,omitempty"` // of traces only
}

// A Heap has the figures of all sites in it.
type Heap struct {
	Handle string `json:"handle"` // in hex
	Amounts
	Timeline *Timeline `json:"timeline,omitempty"` // of traces only, and only of the heaps with the highest peaks
}

// A Snapshot is one instant of the series with the totals of the process.
type Snapshot struct {
	AtNS       int64  `json:"at_ns"`                 // ns since the first snapshot; 0 where the evidence has no times
	TakenAt    string `json:"taken_at,omitempty"`    // local time of the traced machine, no zone; "" unknown
	File       string `json:"file"`                  // name of the file it comes from
	LowerBound bool   `json:"lower_bound,omitempty"` // the evidence ends early: amounts are at least these
	Amount
}

// A Point is a site's outstanding memory at one instant.
type Point struct {
	AtNS int64 `json:"at_ns"` // ns since the first snapshot
	Amount
}

// A Class classifies the growth of a site.
type Class = score.Class

// The classes that a report may give.
const (
	ClassLeak         = score.ClassLeak
	ClassGrowingBlock = score.ClassGrowingBlock // a few blocks that are resized to ever more bytes
	ClassGrowing      = score.ClassGrowing      // grows, and the evidence does not decide
	ClassUnreferenced = score.ClassUnreferenced // no pointer reaches it
	ClassLeftAtExit   = score.ClassLeftAtExit   // a tool lists it as not freed when the process ended
	ClassCache        = score.ClassCache
	ClassOneTime      = score.ClassOneTime
	ClassTransient    = score.ClassTransient // of traces: allocated inside the window and nothing of it left
	ClassStable       = score.ClassStable
	ClassUnknown      = score.ClassUnknown
)

// Flags of a site.
const (
	FlagAmbiguous = "ambiguous-stack"
	FlagTruncated = "truncated-stack"
	FlagNoStack   = "no-stack"
	FlagLine      = "source-line" // the evidence has no call stacks: the site is a line of source, or blocks that look alike
)

// A Site is memory that one stack allocated from one heap by one kind of allocation.
type Site struct {
	Signature string `json:"signature"` // the Finding.Signature it belongs to
	Kind      string `json:"kind"`      // of memory: "heap", "virtual" or "heap-virtual"
	Heap      string `json:"heap"`      // handle in hex; "" where the evidence does not name it
	Amounts
	// Unreachable counts the blocks that no pointer was found to; nil where nobody looked.
	Unreachable *Amount    `json:"unreachable,omitempty"`
	Series      []Point    `json:"series"`          // by snapshot
	Score       *float64   `json:"score,omitempty"` // probability of a leak; nil where nothing can be said
	Verdict     Class      `json:"verdict"`
	Blame       *Blame     `json:"blame"`            // the blamed frame; nil without a stack
	Flags       []string   `json:"flags"`            // of the Flag constants
	Traces      []string   `json:"traces,omitempty"` // the evidence's ids of the stack in the last snapshot that has it
	Stack       StackRef   `json:"stack"`
	AliasStacks []StackRef `json:"aliases,omitempty"` // further stacks that the evidence gives for the same allocations
	// TableSites are the numbers that the site has in the allocation table of the trace.
	TableSites []uint32 `json:"table_sites,omitempty"`

	// StackKey identifies the stack everywhere; zero where there is none, and in reports until SetStackKeys makes it.
	StackKey Key `json:"-"`
}

// Blame names the frame that a site's memory is counted against.
type Blame struct {
	Module   string `json:"module"`
	Function string `json:"function"`
	Offset   string `json:"offset,omitempty"` // in hex, from the function or the module
	File     string `json:"file"`
	Line     uint32 `json:"line"` // 0 unknown
}

// A Layer says what part a frame has in a stack.
type Layer = blame.Layer

// The layers at the ends of stacks: what allocates, and what starts a thread.
const (
	LayerAllocator = blame.LayerAllocator
	LayerBase      = blame.LayerBase
)

// A Frame is one call. Without Function, Offset counts from the start of the module; without Module, Address is
// all there is.
type Frame struct {
	Module   string `json:"module"`
	Function string `json:"function"`
	Offset   string `json:"offset"`  // in hex
	Address  string `json:"address"` // return address in the last snapshot that has the stack
	File     string `json:"file"`
	Line     uint32 `json:"line"`
	Inline   bool   `json:"inline"` // it was inlined into the next frame outwards
	Layer    Layer  `json:"layer,omitempty"`
	Rule     string `json:"rule,omitempty"`   // id of the rule that decided Layer
	Type     string `json:"type,omitempty"`   // what the call allocates, where the compiler recorded it
	Approx   bool   `json:"approx,omitempty"` // the function is only the nearest symbol below
}

// A VerdictStatus is the outcome of an analysis.
type VerdictStatus string

// The outcomes.
const (
	StatusLeak         VerdictStatus = "leak"
	StatusNoLeak       VerdictStatus = "no-leak"
	StatusInconclusive VerdictStatus = "inconclusive"
)

// EvidenceVerdict is the report's conclusion and the sentence that says it.
type EvidenceVerdict struct {
	Status VerdictStatus `json:"status"`
	Leaks  int           `json:"leaks"` // findings that are leaks, those that are known not counted
	// Causes counts the causes of those leaks: fewer than Leaks where several are lost together.
	Causes   int    `json:"causes,omitempty"`
	Known    int    `json:"known"` // findings that leak or grow and that the project's rules tolerate
	Sentence string `json:"sentence"`
	// Matters is the growth from which a leak matters, Undecided what the run could leak that the evidence does not
	// decide; both nil for evidence that shows one instant.
	Matters *Growth `json:"matters,omitempty"`
	// MattersSentence says what matters, and who says so; "" where Matters is nil.
	MattersSentence string     `json:"matters_sentence,omitempty"`
	Undecided       *Undecided `json:"undecided,omitempty"`
	// Next is the evidence that would decide; nil where the run is decided, and where nothing known would.
	Next *Next `json:"next,omitempty"`
	// SnapshotsMissing is how many more snapshots a verdict needs; 0 when more would not decide.
	SnapshotsMissing int `json:"snapshots_missing,omitempty"`
	// Suffices is the result of Report.Suffices; nil while the report is made, and where an older version wrote it.
	Suffices *bool `json:"suffices,omitempty"`
}
