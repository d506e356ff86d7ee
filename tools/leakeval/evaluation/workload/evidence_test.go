package workload_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
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

// onlyOnAMD64 skips a test of digests where the compiler may fuse a multiplication with an addition: the last bit of a
// number is another one there.
func onlyOnAMD64(t *testing.T) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the digests are those of floating-point numbers on amd64")
	}
}

// TestAllocationsStay compares what each behaviour allocates with what it allocated when docs/method.md was measured:
// the published figures hold for these allocations only.
func TestAllocationsStay(t *testing.T) {
	onlyOnAMD64(t)
	const seeds = 3
	var text strings.Builder
	for _, s := range sets() {
		for i := range s.behaviours {
			b := &s.behaviours[i]
			for seed := range uint64(seeds) {
				fmt.Fprintf(&text, "%x ", digest(b, seed))
			}
			fmt.Fprintf(&text, "%s %d %s\n", s.name, b.Truth, b.Name)
		}
	}
	golden.Check(t, "testdata/allocations.txt", text.String())
}

// digest plays a behaviour and returns a few bytes of the digest of its allocations.
func digest(b *behaviour.Behaviour, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 11))
	s := behaviour.NewStack(r, behaviour.NewLoad(r, behaviour.Geometric(1800, 43200, r.Float64())))
	b.Play(s)
	hash, line := sha256.New(), make([]byte, 0, 40)
	for _, a := range s.Allocations() {
		line = binary.LittleEndian.AppendUint64(line[:0], math.Float64bits(a.Born))
		line = binary.LittleEndian.AppendUint64(line, math.Float64bits(a.Died))
		for _, n := range []int{a.Bytes, a.Heap, int(a.MovedFrom)} {
			line = binary.LittleEndian.AppendUint64(line, uint64(n))
		}
		hash.Write(line)
	}
	return hash.Sum(nil)[:4]
}

// TestEvidenceStays is the same for the bytes of logs, dumps and traces, of processes made of each set.
func TestEvidenceStays(t *testing.T) {
	onlyOnAMD64(t)
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
