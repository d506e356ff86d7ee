package afterwards

import (
	"math/rand/v2"
	"strings"
	"testing"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

const (
	seeds     = 12
	stretches = 24
)

// followsLoad names the innocents whose number of live blocks may rise until the end, and says why.
var followsLoad = map[string]string{
	"transcoding service: frames in flight while more and more jobs arrive": "jobs become more until the end",
}

func TestBehaviours(t *testing.T) {
	names, truths := map[string]bool{}, map[behaviour.Truth]int{}
	for i := range Behaviours {
		b := &Behaviours[i]
		truths[b.Truth]++
		if names[b.Name] || b.Name == "" || !strings.HasSuffix(b.Why, ".") {
			t.Errorf("%q: its name is not unique or a sentence is missing", b.Name)
		}
		names[b.Name] = true
		t.Run(b.Name, func(t *testing.T) { playAll(t, b, uint64(i)) })
	}
	if truths[behaviour.Leaks] != 14 || truths[behaviour.Innocent] != 18 || truths[behaviour.Undecidable] != 4 {
		t.Errorf("the set has %v behaviours by truth", truths)
	}
	for name := range followsLoad {
		if !names[name] {
			t.Errorf("%q follows the load but is not in the set", name)
		}
	}
}

// playAll plays a behaviour with every seed, checks each run, and checks how many of the runs are fair.
func playAll(t *testing.T, b *behaviour.Behaviour, number uint64) {
	unfair := 0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(number, seed))
		s := behaviour.NewStack(r, behaviour.NewLoad(r, 1800+r.Float64()*(43_200-1800)))
		b.Play(s)
		checkLimits(t, s, seed)
		switch {
		case b.Truth == behaviour.Leaks && !isFairLeak(s), b.Truth == behaviour.Innocent && !isFairInnocent(s):
			unfair++
		}
	}
	if b.Truth == behaviour.Leaks && unfair > seeds/20 {
		t.Errorf("%d of %d runs lose too little", unfair, seeds)
	}
	if b.Truth == behaviour.Innocent && followsLoad[b.Name] == "" && unfair > seeds/10 {
		t.Errorf("%d of %d runs end with too many blocks", unfair, seeds)
	}
}

func checkLimits(t *testing.T, s *behaviour.Stack, seed uint64) {
	list := s.Allocations()
	if len(list) == 0 || len(list) > 30_000 {
		t.Errorf("seed %d: %d allocations", seed, len(list))
	}
	for _, a := range list {
		// A timer may be late by a little.
		if a.Born < 0 || a.Born > 1.01*s.Seconds || a.Died <= a.Born || a.Bytes < 1 || a.Bytes > 1<<27 {
			t.Errorf("seed %d: %+v in a run of %.0f s", seed, a, s.Seconds)
			return
		}
	}
	if n := s.MostLive(0, s.Seconds); n > 4000 {
		t.Errorf("seed %d: %d blocks are live at once", seed, n)
	}
}

func live(s *behaviour.Stack, at float64) int {
	n := 0
	for _, a := range s.Allocations() {
		if a.Born <= at && at < a.Died {
			n++
		}
	}
	return n
}

// isFairLeak reports whether a run loses enough, in enough places of its work or its time, or moves one block often
// enough.
func isFairLeak(s *behaviour.Stack) bool {
	var byWork, byTime [stretches]bool
	lost := 0
	list := s.Allocations()
	for _, a := range list {
		if a.Died != behaviour.Never || a.Born > s.Seconds {
			continue
		}
		lost++
		byWork[min(int(s.Work(a.Born)*stretches), stretches-1)] = true
		byTime[min(int(a.Born/s.Seconds*stretches), stretches-1)] = true
		moves := 0
		for from := a.MovedFrom; from >= 0; from = list[from].MovedFrom {
			moves++
		}
		if moves >= 8 {
			return true
		}
	}
	return lost >= 12 && max(count(byWork), count(byTime)) >= 6
}

func count(places [stretches]bool) int {
	n := 0
	for _, is := range places {
		if is {
			n++
		}
	}
	return n
}

// isFairInnocent reports whether the end of a run holds hardly more than its middle did.
func isFairInnocent(s *behaviour.Stack) bool {
	most := 0
	for i := range 41 {
		share := 0.3 + 0.37*float64(i)/40
		most = max(most, live(s, share*s.Seconds), live(s, s.WhenDone(share)))
	}
	return float64(live(s, s.Seconds)) <= 1.35*float64(most)+8
}
