package lifetimes

// Anomalies counts what does not fit together in the events. Each is a fact about the evidence: a lost free makes a
// freed block look leaked, a lost allocation hides one.
type Anomalies struct {
	// UnknownFrees are frees of heap blocks whose allocation is not in the trace; LostAllocations is the part whose
	// heap or process began inside the trace, so that the allocation must have been lost.
	UnknownFrees, LostAllocations int64
	// AdoptedBlocks are blocks first met when they were resized.
	AdoptedBlocks int64
	// LostFrees are blocks ended because their address was allocated, or their heap created, again.
	LostFrees int64
	// UnknownVirtualFrees are decommits and releases of addresses of which nothing was known.
	UnknownVirtualFrees int64
	// LostReleases are commits ended because their addresses were reserved again.
	LostReleases int64
	// Recommits are commits of memory that was committed already; they change nothing.
	Recommits int64
	// RundownMismatches are regions of the closing inventory whose committed bytes differ from what the events add up to.
	RundownMismatches int64
	// AfterExit are events of processes that had ended. They are in no number.
	AfterExit int64
	// Malformed are events with an address or size that cannot be. They are in no number.
	Malformed int64
	// Disordered are events earlier than one before them.
	Disordered int64
}
