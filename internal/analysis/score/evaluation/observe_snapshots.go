package evaluation

import (
	"math/bits"
	"math/rand/v2"

	"heapdrift/internal/analysis/score"
)

// snapshots is what n snapshots of a process show: a series for each site. They are taken while the process runs, about evenly
// and not exactly so.
func (p *process) snapshots(r *rand.Rand, n int) (*score.Axis, []score.Series) {
	times := make([]float64, n)
	axis := &score.Axis{Unit: "hour", At: make([]float64, n)}
	begin := 0.02 + 0.06*r.Float64()
	if r.Float64() < 0.3 {
		begin = 0.02 * r.Float64() // while the program still starts
	}
	for i := range times {
		times[i] = begin + (1-begin)*(float64(i)+0.3*(r.Float64()-0.5))/(float64(n)-0.85)
		axis.At[i] = times[i] * p.hours
		if p.counted {
			axis.Unit, axis.At[i] = "request", 1000*p.load.work(times[i])
		}
	}
	list := make([]score.Series, len(p.sites))
	present := make([]uint32, p.addresses) // by address: a bit for each snapshot
	for i := range p.sites {
		list[i] = p.sites[i].series(times, present)
	}
	return axis, list
}

// series is what snapshots show of one site. Survivors are found by address, as from a UMDH log: where an address was freed
// and given to the same site again between two snapshots, nobody can tell.
func (s *site) series(times []float64, present []uint32) score.Series {
	n := len(times)
	out := score.Series{Count: make([]int64, n), Bytes: make([]int64, n)}
	var touched []uint32
	for i := range s.blocks {
		b := &s.blocks[i]
		for k, t := range times {
			if b.born > t || b.died <= t {
				continue
			}
			out.Count[k]++
			out.Bytes[k] += int64(b.size)
			if present[b.address] == 0 {
				touched = append(touched, b.address)
			}
			present[b.address] |= 1 << k
		}
	}
	for _, address := range touched {
		seen := present[address]
		present[address] = 0
		first := bits.TrailingZeros32(seen)
		if first >= 1 && first <= n-2 && seen>>first == 1<<(n-first)-1 {
			out.Survivors++
		}
	}
	return out
}
