package capture

import "testing"

// collisions is the number of steps beyond the first that each of n keys needs to find a free place, on average.
func collisions(n int, hash func(i uint64) uint32) float64 {
	taken, steps := make([]bool, 4*n), 0
	for i := range uint64(n) {
		at := int(hash(i)) % len(taken)
		for taken[at] {
			at = (at + 1) % len(taken)
			steps++
		}
		taken[at] = true
	}
	return float64(steps) / float64(n)
}

// Addresses that the author of the evidence chose do not collide: neither those that collided under the former hash,
// whatever its seed, nor regular patterns, nor addresses that cancel out the text beside them.
func TestChosenFramesDoNotCollide(t *testing.T) {
	const inverse = 0xF1DE83E19937733D // of the former factor, the golden ratio
	for name, frame := range map[string]func(i uint64) Frame{
		"former": func(i uint64) Frame { return Frame{Address: (i%4096*(1<<52+1<<20) + i/4096) * inverse} },
		"plain":  func(i uint64) Frame { return Frame{Address: i * inverse} },
		"high":   func(i uint64) Frame { return Frame{Address: i << 48} },
		"pages":  func(i uint64) Frame { return Frame{Address: i << 12} },
		"text":   func(i uint64) Frame { return Frame{Address: i << 40, Text: uint32(i)} },
	} {
		// A hash that can be chosen against takes thousands. Most seeds take less than 1, an unlucky one took 18.
		if got := collisions(1<<16, func(i uint64) uint32 { return hashFrame(frame(i)) }); got > 200 {
			t.Errorf("%s: %.1f steps for each key", name, got)
		}
	}
}
