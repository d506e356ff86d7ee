package leaks

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/intake"
)

// Kinds with stacks stand before those of memory alone, and expected ones before others; how sure a search for
// pointers is depends on the format.
func TestOrderOfKinds(t *testing.T) {
	var list []string
	for _, k := range kindsOf(intake.Formats()) {
		text := k.Name
		if k.Expected {
			text += ", expected"
		}
		if k.PointerSearchRank > 0 {
			text += fmt.Sprintf(", searches %d", k.PointerSearchRank)
		}
		list = append(list, text)
	}
	const want = "UMDH snapshots, expected; Trace, expected; Full dump, expected, searches 4; a heap profile; a log of Application Verifier; a log of LeakDiag; a log with leaks at exit; statistics of mimalloc; a log of WinDbg, searches 1; a report of DebugDiag; a file of VMMap; a heap snapshot"
	if got := strings.Join(list, "; "); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
