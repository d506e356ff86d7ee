package run

import (
	"testing"

	"heapdrift/internal/analysis"
)

func TestProofOf(t *testing.T) {
	of := func(where string, count, bytes int64) analysis.UnreachedFinding {
		return analysis.UnreachedFinding{Where: where, Unreachable: analysis.Amount{Count: count, Bytes: bytes}}
	}
	if got := proofOf([]analysis.UnreachedFinding{of("app!A", 1,
		2048)}); got != "No pointer was found to 1 block with 2.00 KB, all from app!A." {
		t.Error(got)
	}
	if got := proofOf([]analysis.UnreachedFinding{of("app!A", 1000, 2048),
		of("app!B", 24, 6144)}); got != "No pointer was found to 1,024 blocks with 8.00 KB; most of it, 6.00 KB, from app!B." {
		t.Error(got)
	}
	many := make([]analysis.UnreachedFinding, analysis.MaxUnreachedFindings)
	for i := range many {
		many[i] = of("app!A", 1, 1024)
	}
	if got := proofOf(many); got != "In the 100 largest signatures no pointer was found to 100 blocks with 100 KB; most of it, 1.00 KB, from app!A." {
		t.Error(got)
	}
}
