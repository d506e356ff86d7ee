package workload_test

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"heapdrift/internal/golden"
	"heapdrift/tools/leakeval/evaluation"
	"heapdrift/tools/leakeval/evaluation/behaviour"
	"heapdrift/tools/leakeval/evaluation/workload"
)

// A set is a named set of behaviours.
type set struct {
	name       string
	behaviours []behaviour.Behaviour
}

func sets() []set {
	list := []set{{"afterwards", evaluation.Afterwards()}}
	for _, s := range evaluation.Sets {
		list = append(list, set{s.Name, s.Behaviours})
	}
	return list
}

// TestEvidenceStays compares the bytes of logs, dumps and traces with what they were when docs/method.md was measured,
// for processes that are made of each set.
func TestEvidenceStays(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("elsewhere a multiplication may be fused with an addition, so that the last bit of a number differs")
	}
	if testing.Short() {
		t.Skip("it writes hundreds of megabytes")
	}
	var text strings.Builder
	for _, s := range sets() {
		for number := range uint64(2) {
			hash := sha256.New()
			if err := workload.New(1, number, 0, s.behaviours).WriteEvidence(hash, 2); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "%x %s %d\n", hash.Sum(nil)[:8], s.name, number)
		}
	}
	golden.Check(t, "testdata/evidence.txt", text.String())
}
