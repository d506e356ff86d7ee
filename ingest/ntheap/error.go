package ntheap

import "fmt"

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeBadProcess = "bad-process" // Open was given no memory, or a width that is neither 32 nor 64
	CodeNoHeaps    = "no-heaps"    // neither the PEB nor a reservation led to a heap
)

// An Error says why heaps could not be opened. Address is where in the process.
type Error struct {
	Code    string
	Address uint64
	Message string
	Err     error // cause, or nil
}

func (e *Error) Error() string {
	s := "ntheap: " + e.Message
	if e.Address != 0 {
		s += fmt.Sprintf(" (address %#x)", e.Address)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
