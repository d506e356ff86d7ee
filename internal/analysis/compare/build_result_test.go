package compare

import (
	"testing"

	"heapdrift/internal/analysis"
)

// A finding of a trace says how often its site allocated; of snapshots that is not known. Growth is known where the
// evidence shows it.
func TestFindingOfAReport(t *testing.T) {
	f := &analysis.Finding{Signature: "sig1:a", Verdict: analysis.ClassLeak, Known: "by design"}
	if got := findingOf(f); got.Allocated != -1 || got.Growth != nil || !got.ByRule || got.Class != analysis.ClassLeak {
		t.Errorf("%+v", got)
	}
	f.Known = ""
	f.Lifetimes = &analysis.Lifetimes{}
	f.Allocated.Count = 7
	f.Growth = &analysis.Amount{Count: 2, Bytes: 16}
	if got := findingOf(f); got.Allocated != 7 || got.Growth == nil || *got.Growth != (analysis.Amount{Count: 2, Bytes: 16}) || got.ByRule {
		t.Errorf("%+v", got)
	}
}
