package capture

import "math"

func (c *Capture) putSampling(e *encoder) { e.uint(uint64(c.Sampling)) }

// takeSampling refuses what is no number of bytes.
func (c *Capture) takeSampling(d *decoder) {
	v := d.uint()
	if v > math.MaxInt64 {
		d.bad = true
		return
	}
	c.Sampling = int64(v)
}

// Recorded is how many recorded blocks the estimated usage u stands for. One allocation was recorded in every rate
// bytes on average: a block of s bytes with the probability 1−e^(−s/rate). The rate 0 means that all were recorded.
func (u Usage) Recorded(rate int64) int64 {
	if rate == 0 || u.Count <= 0 || u.Bytes <= 0 {
		return u.Count
	}
	seen := -math.Expm1(-float64(u.Bytes) / float64(u.Count) / float64(rate))
	return int64(math.Round(float64(u.Count) * seen))
}
