package capture

// Kinds that fixtures of analysis, store and pages have. Readers name the kinds of their captures themselves: a new
// format adds nothing here.
const (
	KindUMDHSnapshot Kind = "umdh-snapshot"
	KindUMDHDiff     Kind = "umdh-diff"
	KindETL          Kind = "etl"
	KindMinidump     Kind = "minidump"
	KindDebugDiag    Kind = "debugdiag-report"
	KindWinDbg       Kind = "windbg-log"
	KindVMMap        Kind = "vmmap"
)
