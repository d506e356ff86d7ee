package lifetimes

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeSink     = "sink-failed"     // the Sink refused rows; the cause is wrapped
	CodeTooMany  = "too-many-blocks" // more living blocks than 32 bits can number
	CodeFinished = "finished"        // an event after Finish
)
