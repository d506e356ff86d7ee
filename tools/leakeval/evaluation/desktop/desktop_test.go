package desktop

import (
	"math/rand/v2"
	"testing"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

const seeds = 12

// A play is one run of a behaviour.
type play struct {
	*behaviour.Stack
	list []behaviour.Allocation
}

func newPlay(b *behaviour.Behaviour, seed uint64) play {
	r := rand.New(rand.NewPCG(seed, 20))
	s := behaviour.NewStack(r, behaviour.NewLoad(r, 1800+r.Float64()*(43200-1800)))
	b.Play(s)
	return play{s, s.Allocations()}
}

func TestBehaviours(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	names := map[string]bool{}
	for i := range Behaviours {
		b := &Behaviours[i]
		if b.Name == "" || b.Why == "" || names[b.Name] {
			t.Errorf("%q: the name is not unique, or a sentence is missing", b.Name)
		}
		names[b.Name] = true
		t.Run(b.Name, func(t *testing.T) {
			fair := 0
			for seed := range uint64(seeds) {
				p := newPlay(b, seed)
				p.checkLimits(t, seed)
				if b.Truth == behaviour.Undecidable || b.Truth == behaviour.Leaks && p.losesEnough() ||
					b.Truth == behaviour.Innocent && p.isOverItsGrowth() {
					fair++
				}
			}
			least := seeds * 95 / 100
			if b.Truth == behaviour.Innocent {
				least = seeds * 90 / 100
			}
			if fair < least {
				t.Errorf("only %d of %d runs bear the declared truth out", fair, seeds)
			}
		})
	}
}

func (p play) checkLimits(t *testing.T, seed uint64) {
	t.Helper()
	if len(p.list) == 0 || len(p.list) > 30000 {
		t.Errorf("seed %d: %d allocations", seed, len(p.list))
	}
	for _, a := range p.list {
		if !(a.Born >= -1 && a.Born <= 1.1*p.Seconds && a.Died > a.Born) || a.Bytes < 1 || a.Bytes > 64<<20 {
			t.Fatalf("seed %d: %+v in a run of %.0f s", seed, a, p.Seconds)
		}
	}
	if most := p.MostLive(0, p.Seconds); most > 4200 {
		t.Errorf("seed %d: %d blocks at once", seed, most)
	}
}

// losesEnough reports whether enough blocks are lost, at enough places of work or time, or whether one block grows
// enough.
func (p play) losesEnough() bool {
	lost, chain := 0, 0
	length := make([]int, len(p.list))
	byTime, byWork := map[int]bool{}, map[int]bool{}
	for i, a := range p.list {
		if a.MovedFrom >= 0 {
			length[i] = length[a.MovedFrom] + 1
			if a.Died == behaviour.Never && a.Born < p.Seconds {
				chain = max(chain, length[i])
			}
		}
		if a.Died == behaviour.Never && a.Born >= 0 && a.Born < p.Seconds {
			lost++
			byTime[int(24*a.Born/p.Seconds)] = true
			byWork[min(int(24*p.Work(a.Born)), 23)] = true
		}
	}
	return chain >= 8 || lost >= 12 && max(len(byTime), len(byWork)) >= 6
}

// isOverItsGrowth reports whether no more blocks are live at the end than in the middle of the run, by work or by time.
func (p play) isOverItsGrowth() bool {
	atEnd := p.MostLive(p.Seconds, p.Seconds)
	middle := max(p.MostLive(0.3*p.Seconds, 0.67*p.Seconds), p.MostLive(p.WhenDone(0.3), p.WhenDone(0.67)))
	return float64(atEnd) <= 1.35*float64(middle)+8
}
