package etl

import "testing"

// events is a sketch of the events with the time stamps from to to, each a multiple of step.
func events(from, to, step int64) *sketch {
	s := &sketch{}
	for at := from; at < to; at += step {
		s.add(&Event{Stamp: at, Kind: KindHeapAlloc})
	}
	s.trim()
	return s
}

func TestSketchIsIn(t *testing.T) {
	lacking := func(share int64) *sketch { // one event of so many is not in the whole
		s := &sketch{}
		for at := range int64(1000) {
			stamp := at
			if at%share == 0 {
				stamp += 1 << 40
			}
			s.add(&Event{Stamp: stamp, Kind: KindHeapAlloc})
		}
		s.trim()
		return s
	}
	whole, large := events(0, 1000, 1), events(0, 100_000, 1)
	for name, test := range map[string]struct {
		of, in *sketch
		want   bool
	}{
		"the same":                        {whole, whole, true},
		"the same, more than is compared": {large, large, true},
		"a part":                          {events(0, 1000, 3), whole, true},
		"the whole in a part":             {whole, events(0, 1000, 3), false},
		"a part of many":                  {events(50_000, 100_000, 1), large, true},
		"another":                         {events(1000, 2000, 1), whole, false},
		"overlapping":                     {events(500, 1500, 1), whole, false},
		"below the share":                 {lacking(99), whole, false},
		"at the share":                    {lacking(100), whole, true},
		"above the share":                 {lacking(101), whole, true},
		"nothing":                         {&sketch{}, whole, false},
		"in nothing":                      {whole, &sketch{}, false},
	} {
		if got := test.of.isIn(test.in); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
