package allocations

// Add adds what another site of the same process and window has.
func (s *Survival) Add(o *Survival) {
	for i := range s.Born {
		s.Born[i] += o.Born[i]
		s.Left[i] += o.Left[i]
		s.LeftBytes[i] += o.LeftBytes[i]
	}
	for i := range s.Ended {
		s.Ended[i] += o.Ended[i]
	}
	s.LateUnknownFrees += o.LateUnknownFrees
}
