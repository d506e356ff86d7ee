package leakdiag

// CodeNoData is the code of the error for files without a stack of LeakDiag. It is stable: callers tell cases apart
// by it.
const CodeNoData = "no-leakdiag-data"
