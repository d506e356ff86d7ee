package behaviour

// Sizes are sizes in bytes about a typical one, as Size draws them.
func (s *Stack) Sizes(typical, spread float64) func() int {
	return func() int { return s.Size(typical, spread) }
}

// SizesBetween draws a typical size and, in a share of the programs, how widely sizes are spread about it; in the
// others all are the same.
func (s *Stack) SizesBetween(low, high, share, mostSpread float64) func() int {
	typical, spread := s.Between(low, high), 0.0
	if s.Chance(share) {
		spread = s.Within(0.1, mostSpread)
	}
	return s.Sizes(typical, spread)
}

// Same are sizes that are all the same.
func Same(bytes int) func() int { return func() int { return bytes } }

// Churn makes a block at each instant. Each lives for a time with a mean and no memory.
func (s *Stack) Churn(instants []float64, mean float64, size func() int) {
	for _, at := range instants {
		s.AllocFor(at, s.Exponential(mean), size())
	}
}

// Lose is Churn, but that a share of the blocks is never freed.
func (s *Stack) Lose(instants []float64, share, mean float64, size func() int) {
	for _, at := range instants {
		b := s.Alloc(at, size())
		if !s.Chance(share) {
			s.Free(b, at+s.Exponential(mean))
		}
	}
}

// Burst makes n blocks within seconds of an instant. They stay.
func (s *Stack) Burst(n int, at, seconds float64, size func() int) {
	for range n {
		s.Alloc(at+seconds*s.Float64(), size())
	}
}

// FreeAll frees blocks at an instant.
func (s *Stack) FreeAll(blocks []Block, at float64) {
	for _, b := range blocks {
		s.Free(b, at)
	}
}

// Picked tells which k of n things chance picks, each as likely as the next.
func (s *Stack) Picked(n, k int) []bool {
	list := make([]bool, n)
	for i, at := range s.Perm(n) {
		list[at] = i < k
	}
	return list
}
