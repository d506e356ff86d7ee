package livesnapshot

import "fmt"

// The codes of errors, beside those of package evidence for processes without a heap.
const (
	CodeSystem  = "unsupported-system" // this is not Windows
	CodeProcess = "no-process"         // no process has the number
	CodeAccess  = "access-denied"
	CodeWidth   = "other-bitness" // a 32-bit program cannot read a 64-bit process
	CodeSelf    = "own-process"
	CodeSuspend = "suspend-failed"
	CodeLimit   = "pause-limit"
	CodeRead    = "process-unreadable"
)

// An Error says why no snapshot was taken of a process, and what to do.
type Error struct {
	Code        string
	PID         uint32
	Message, Do string
	Err         error // cause, or nil
}

func (e *Error) Error() string {
	s := fmt.Sprintf("process %d: %s", e.PID, e.Message)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Do != "" {
		s += "; " + e.Do
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
