package ntheap

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeBadProcess = "bad-process" // Open was given no memory, or a width that is neither 32 nor 64
	CodeNoHeaps    = "no-heaps"    // neither the PEB nor a reservation led to a heap
)
