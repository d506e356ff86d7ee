package behaviour

// Sizes returns a function that draws sizes in bytes as Size does.
func (s *Stack) Sizes(typical, spread float64) func() int {
	return func() int { return s.Size(typical, spread) }
}

// SizesBetween returns a function that draws sizes in bytes about a typical size, which is drawn between low and high.
// With the probability share the sizes are spread, by mostSpread at most; else all are the same.
func (s *Stack) SizesBetween(low, high, share, mostSpread float64) func() int {
	typical, spread := s.LogUniform(low, high), 0.0
	if s.Chance(share) {
		spread = s.Uniform(0.1, mostSpread)
	}
	return s.Sizes(typical, spread)
}

// FixedSize returns a function that always returns the same size in bytes.
func FixedSize(bytes int) func() int { return func() int { return bytes } }

// Churn allocates a block at each instant and frees it after an exponential time with the given mean, in seconds.
func (s *Stack) Churn(instants []float64, mean float64, size func() int) {
	for _, at := range instants {
		s.AllocFor(at, s.Exponential(mean), size())
	}
}

// Lose is Churn, but a share of the blocks, from 0 to 1, is never freed.
func (s *Stack) Lose(instants []float64, share, mean float64, size func() int) {
	for _, at := range instants {
		b := s.Alloc(at, size())
		if !s.Chance(share) {
			s.Free(b, at+s.Exponential(mean))
		}
	}
}

// Burst allocates n blocks within so many seconds from an instant on. They are never freed.
func (s *Stack) Burst(n int, at, seconds float64, size func() int) {
	for range n {
		s.Alloc(at+seconds*s.Float64(), size())
	}
}

// FreeAll frees blocks at an instant in seconds.
func (s *Stack) FreeAll(blocks []Block, at float64) {
	for _, b := range blocks {
		s.Free(b, at)
	}
}

// Picked draws k of n indexes, each as likely as the next: the elements at them are true.
func (s *Stack) Picked(n, k int) []bool {
	list := make([]bool, n)
	for i, at := range s.Perm(n) {
		list[at] = i < k
	}
	return list
}
