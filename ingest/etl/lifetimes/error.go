package lifetimes

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeSink     = "sink-failed"     // the Sink refused rows; the cause is wrapped
	CodeTooMany  = "too-many-blocks" // more living blocks than 32 bits can number
	CodeFinished = "finished"        // an event after Finish
)

// An Error says why lifetimes could not be followed further.
type Error struct {
	Code    string
	Message string
	Err     error // cause, or nil
}

func (e *Error) Error() string {
	s := "lifetimes: " + e.Message
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
