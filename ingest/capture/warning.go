package capture

// A Code names a fact about the evidence that limits what may be concluded from it. Codes are stable: scripts
// and pages rely on them.
type Code string

// The codes that readers and analysis give. Each message says the fact in words and what to do about it.
const (
	Truncated            Code = "truncated"             // the evidence ends early, or a limit cut it
	PartialHeap          Code = "partial-heap"          // a heap, or a part of one, could not be read
	NoStacks             Code = "no-stacks"             // no block has a call stack
	StackMissing         Code = "stack-missing"         // some blocks have no call stack
	AmbiguousStack       Code = "ambiguous-stack"       // several stacks share an id of the evidence
	BaseAssumed          Code = "base-assumed"          // the number base of a UMDH difference could not be proven
	BaseMismatch         Code = "base-mismatch"         // a UMDH difference was read in another base than it proves
	PIDChanged           Code = "pid-changed"           // the evidence is of several lives of the process
	ModuleMoved          Code = "module-moved"          // a module had several addresses, or several modules one
	EncodingGuessed      Code = "encoding-guessed"      // UTF-16 without a byte order mark
	NoSymbols            Code = "no-symbols"            // frames of a module have no function names
	SymbolMismatch       Code = "symbol-mismatch"       // the symbols found belong to another build of the module
	SymbolsPending       Code = "symbols-pending"       // a server that was waited for in vain may have them
	NoImageInfo          Code = "no-image-info"         // the evidence does not identify images: no list of modules, or no PDB ids
	BrokenSDK            Code = "umdh-broken-sdk"       // the log is by UMDH of a Windows SDK with a known fault
	UnattributedOverhead Code = "unattributed-overhead" // UMDH totals count overhead that no entry has
	Unsupported          Code = "unsupported"
	// Of traces: what the session or the file has lost.
	EventsLost      Code = "events-lost"
	BuffersLost     Code = "buffers-lost"     // the session lost whole buffers of events
	CircularWrapped Code = "circular-wrapped" // a circular file has written over its beginning
	ClockDisorder   Code = "clock-disorder"   // events are earlier than the event before them
	StackKeyLost    Code = "stack-key-lost"   // stacks are named by keys that are not defined
	UnmergedSession Code = "unmerged-session" // the file is not merged: it lacks the facts that a merge adds
	// HeapSnapshot is a heap snapshot of wpr, whose layout is not public.
	HeapSnapshot Code = "heap-snapshot-undecodable"
	// LostFree counts blocks that were still there when their address was allocated again.
	LostFree Code = "lost-free"
	// UnknownFree counts frees of blocks whose allocation is not in the trace.
	UnknownFree Code = "unknown-free"
	// ProcessExited says that the process ended inside the trace.
	ProcessExited Code = "process-exited"
	// SeveralProcesses says that the evidence holds more than the process that the report is about.
	SeveralProcesses Code = "several-processes"
	// ProcessGone says that the process that was chosen is not in the evidence any more.
	ProcessGone Code = "process-gone"
	// Sampled says that the evidence is a sample, from which counts and bytes are estimated.
	Sampled Code = "sampled"
	// Malformed counts lines or records that were not understood and are not in the numbers.
	Malformed Code = "malformed"
	// Inconsistent counts entries whose own numbers contradict each other.
	Inconsistent Code = "inconsistent"
	// Implausible counts sizes that cannot be, beside others of the same evidence.
	Implausible Code = "implausible-size"
)

// Lossy reports whether a warning of this code means that numbers may be too low or too high, so that no clean
// verdict may rest on them.
func (c Code) Lossy() bool {
	switch c {
	case Truncated, PartialHeap, NoStacks, StackMissing, BrokenSDK, Malformed, Inconsistent, Implausible,
		BaseAssumed, BaseMismatch,
		EventsLost, BuffersLost, CircularWrapped, ClockDisorder, StackKeyLost, LostFree, PIDChanged:
		return true
	}
	return false
}

// A Warning is one fact about the evidence. Count is how often it was met, in the unit the message names;
// Place says where first ("line 12", "offset 0x40"), "" where it concerns the whole.
type Warning struct {
	Code    Code
	Message string // one sentence, with what to do about it
	Place   string // "" for the whole evidence
	Count   int64  // in the unit that Message names; 0 for none
}
