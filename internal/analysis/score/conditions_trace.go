package score

import (
	"heapdrift/ingest/capture/allocations"
)

// ages are how old the blocks of a site got, in shares of the window.
type ages struct {
	oldest float64 // of what is left
	died   float64 // the greatest age at which a block was freed
	deaths float64 // of blocks older than a quarter of the window
	risk   float64 // blocks × windows for which such blocks could have been freed
	freed  float64
}

func agesOf(v *allocations.Survival) (a ages) {
	window := float64(v.Over) - float64(v.From)
	for i := range v.Left {
		age := (stretches - float64(i) - 0.5) / stretches
		if left := float64(bounded(v.Left[i])); left > 0 {
			a.oldest = max(a.oldest, age)
			a.risk += left * max(0, age-oldAge)
		}
	}
	for b, n := range v.Ended {
		if n <= 0 {
			continue
		}
		age, count := min(1, lifetime(float64(b)+0.5)/window), float64(bounded(n))
		a.died, a.freed = max(a.died, age), a.freed+count
		if age > oldAge {
			a.deaths += count
			a.risk += count * (age - oldAge)
		}
	}
	return a
}
