// Package behaviourtest tests a set of behaviours: in come its rows, out come failures where a run does not show what
// its row claims, exceeds what an evaluation can play, or allocates otherwise than when figures were published.
package behaviourtest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/golden"
	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// What each run keeps to.
const (
	runs            = 12 // of each behaviour
	fewestAllocated = 5
	mostAllocated   = 30_000
	mostBlocks      = 4200
	mostBytes       = 1 << 30
)

// Check fails the test for each behaviour whose run does not show what its row claims, or that allocates more than an
// evaluation can play.
func Check(t *testing.T, set []behaviour.Behaviour) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	names := map[string]bool{}
	for i := range set {
		b := &set[i]
		if b.Name == "" || !strings.HasSuffix(b.Why, ".") || names[b.Name] {
			t.Errorf("%q: the name is not unique, or a sentence is missing", b.Name)
		}
		names[b.Name] = true
		t.Run(b.Name, func(t *testing.T) {
			for seed := range uint64(runs) {
				s := play(b, seed)
				checkLimits(t, s, seed)
				if b.Truth == behaviour.Leaks && !losesEnough(s) || b.Truth == behaviour.Innocent && !isBounded(s) {
					t.Errorf("seed %d: the run does not show the truth that the row declares", seed)
				}
			}
		})
	}
	t.Run("allocations", func(t *testing.T) { CheckAllocationsGolden(t, set) })
}

// play plays a behaviour over a run of its own.
func play(b *behaviour.Behaviour, seed uint64) *behaviour.Stack {
	r := rand.New(rand.NewPCG(seed, 11))
	s := behaviour.NewStack(r, behaviour.NewLoad(r, behaviour.Geometric(1800, 43200, r.Float64())))
	b.Play(s)
	return s
}

// checkLimits reports what no run may do.
func checkLimits(t *testing.T, s *behaviour.Stack, seed uint64) {
	t.Helper()
	list := s.Allocations()
	if len(list) < fewestAllocated || len(list) > mostAllocated {
		t.Errorf("seed %d: %d allocations", seed, len(list))
	}
	for _, a := range list {
		// A timer may be late by a little, and what comes before the run or after it is never seen.
		isSane := a.Born >= -1 && a.Born <= 1.1*s.Seconds+120 && a.Died > a.Born &&
			(a.Died == behaviour.Never || a.Died < 20*s.Seconds) && a.Bytes >= 1 && a.Bytes <= mostBytes
		if !isSane || a.MovedFrom >= 0 && list[a.MovedFrom].Died != a.Born {
			t.Fatalf("seed %d: %+v in a run of %.0f s", seed, a, s.Seconds)
		}
	}
	if most := mostLive(s, 0, s.Seconds); most > mostBlocks {
		t.Errorf("seed %d: %d blocks live at once", seed, most)
	}
}

// losesEnough reports whether a run loses twelve blocks or more in six places or more of 24, by time or by work, or
// moves one block for ever that has moved eight times.
func losesEnough(s *behaviour.Stack) bool {
	list, lost := s.Allocations(), 0
	byTime, byWork, moves := map[int]bool{}, map[int]bool{}, make([]int, len(list))
	for i, a := range list {
		if a.MovedFrom >= 0 {
			moves[i] = moves[a.MovedFrom] + 1
		}
		if a.Died != behaviour.Never || a.Born >= s.Seconds {
			continue
		}
		if moves[i] >= 8 {
			return true
		}
		lost++
		byTime[int(24*a.Born/s.Seconds)], byWork[int(24*s.Work(a.Born))] = true, true
	}
	return lost >= 12 && max(len(byTime), len(byWork)) >= 6
}

// isBounded reports whether a run holds hardly more blocks at its end than at one time in its middle. A run that holds
// no block for more than a fifth of its time may hold more, because more is asked of it.
func isBounded(s *behaviour.Stack) bool {
	end := mostLive(s, s.Seconds*(1-1e-9), s.Seconds)
	byTime := mostLive(s, 0.3*s.Seconds, 0.67*s.Seconds)
	byWork := mostLive(s, s.WhenDone(0.3), s.WhenDone(0.67))
	return float64(end) <= 1.35*float64(max(byTime, byWork))+8 ||
		!slices.ContainsFunc(s.Allocations(), func(a behaviour.Allocation) bool {
			return min(a.Died, s.Seconds)-a.Born > s.Seconds/5
		})
}

// mostLive is the largest number of blocks that are live at one instant of a stretch, both ends included.
func mostLive(s *behaviour.Stack, from, to float64) int {
	var births, deaths []float64
	for _, a := range s.Allocations() {
		if a.Born <= to && a.Died > from {
			births, deaths = append(births, max(a.Born, from)), append(deaths, a.Died)
		}
	}
	slices.Sort(births)
	slices.Sort(deaths)
	most, dead := 0, 0
	for born, at := range births {
		for dead < len(deaths) && deaths[dead] <= at {
			dead++
		}
		most = max(most, born+1-dead)
	}
	return most
}

// CheckAllocationsGolden compares what behaviours allocate with testdata/allocations.txt: the figures of docs/method.md
// hold for these allocations only.
func CheckAllocationsGolden(t *testing.T, set []behaviour.Behaviour) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes a second")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("elsewhere a multiplication may be fused with an addition, so that the last bit of a number differs")
	}
	const seeds = 3
	var text strings.Builder
	for i := range set {
		b := &set[i]
		for seed := range uint64(seeds) {
			fmt.Fprintf(&text, "%x ", digest(play(b, seed)))
		}
		fmt.Fprintf(&text, "%d %s\n", b.Truth, b.Name)
	}
	golden.Check(t, "testdata/allocations.txt", text.String())
}

// digest is the beginning of the digest of all allocations.
func digest(s *behaviour.Stack) []byte {
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
