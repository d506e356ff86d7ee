package leaks_test

import (
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

// How slowly a leak may leak is what its slowest run shows, also where that is less than a block an hour. A rate of
// nothing, or without an upper limit, says nothing; what grew counts only for what never leaked.
func TestSlowestRates(t *testing.T) {
	run := func(class analysis.Class, count, bytes float64) leaks.RunSighting {
		var s leaks.RunSighting
		s.Class, s.Rate = class, &score.Rate{Unit: "hour", Count: count, Bytes: bytes, Dispersion: 1}
		return s
	}
	unbounded, absent, spread := run(leak, 3, 300), run(leak, 3, 300), run(leak, 9, 900)
	unbounded.Rate.Unbounded, absent.Absent, spread.Rate.Dispersion = true, true, 4
	for name, test := range map[string]struct {
		runs              []leaks.RunSighting
		count, bytes, way float64 // of the only rate; a count of 0 is none
	}{
		"no run":                  {nil, 0, 0, 0},
		"a block in two hours":    {[]leaks.RunSighting{run(leak, 0.5, 50)}, 0.5, 100, 1},
		"a block an hour":         {[]leaks.RunSighting{run(leak, 1, 80)}, 1, 80, 1},
		"nothing":                 {[]leaks.RunSighting{run(leak, 0, 0)}, 0, 0, 0},
		"without a limit":         {[]leaks.RunSighting{unbounded}, 0, 0, 0},
		"not there":               {[]leaks.RunSighting{absent}, 0, 0, 0},
		"the slower of two":       {[]leaks.RunSighting{run(leak, 8, 80), run(leak, 2, 40)}, 2, 20, 1},
		"and the other way round": {[]leaks.RunSighting{run(leak, 2, 40), run(leak, 8, 80)}, 2, 20, 1},
		"the wider spread":        {[]leaks.RunSighting{run(leak, 2, 40), spread}, 2, 20, 4},
		"growth beside a leak":    {[]leaks.RunSighting{run(grows, 1, 10), run(leak, 8, 80)}, 8, 10, 1},
		"growth alone":            {[]leaks.RunSighting{run(grows, 4, 80)}, 4, 20, 1},
		"what is stable":          {[]leaks.RunSighting{run(stable, 4, 80)}, 0, 0, 0},
	} {
		got := leaks.SlowestRatesOf(test.runs)
		if len(got) != min(1, int(2*test.count)) {
			t.Errorf("%s: %d rates", name, len(got))
		}
		for _, p := range got {
			if p.BlocksPerUnit != test.count || p.BytesPerBlock != test.bytes || p.Dispersion != test.way {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
}
