package score

// evenShare of all work is spread evenly over the intervals of a Clock: a stretch in which nobody is seen to work is
// short, not nothing.
const evenShare = 0.03

// leastNew is how many new blocks a signature must have for them to tell when the process worked.
const leastNew = 3

// atOnce is a share of a signature's new blocks. If one interval has more, they came with one event, such as the start
// or a first use, and do not show when the process worked.
const atOnce = 0.8

// leastOthers is how many other signatures must tell when the process worked: of fewer, time tells better.
const leastOthers = 3

// A Clock estimates how much work a process did in each interval, from when its signatures allocated: the mean, over
// signatures, of the share of their new blocks that came in it. When a signature is judged, its own allocations are
// left out: they would explain themselves.
type Clock struct {
	shares AllocationProfile
	// Fallback is the share of the work done in each interval by another source, used where too few signatures tell;
	// nil for the share of the time.
	Fallback []float64
}

// An AllocationProfile says when one or more signatures allocated. For each interval it is the sum of the shares of
// their blocks that came in it.
type AllocationProfile struct {
	sums  []float64
	count float64
}

// ProfileOf makes the profile of one signature from the number of its blocks that came in each interval. It is empty
// for a signature that allocated very few blocks, or nearly all of them at once.
func ProfileOf(came []float64) AllocationProfile {
	var all, most float64
	for _, n := range came {
		all += n
		most = max(most, n)
	}
	if !(all >= leastNew) || most > atOnce*all {
		return AllocationProfile{}
	}
	s := AllocationProfile{make([]float64, len(came)), 1}
	for i, n := range came {
		s.sums[i] = n / all
	}
	return s
}

// Add adds the profile of another signature.
func (s *AllocationProfile) Add(o AllocationProfile) {
	if o.count == 0 {
		return
	}
	if s.count == 0 {
		s.sums = make([]float64, len(o.sums))
	}
	for i := range o.sums {
		s.sums[i] += o.sums[i]
	}
	s.count += o.count
}

// Suffices reports whether enough signatures beside those of own tell how much work was done in each of n intervals.
func (c *Clock) Suffices(own *AllocationProfile, n int) bool {
	return c.shares.count-own.count >= leastOthers && len(c.shares.sums) == n
}

// Without is the share of the work done in each of n intervals, by all signatures but those of own.
func (c *Clock) Without(own *AllocationProfile, n int) []float64 {
	load := make([]float64, n)
	even := 1 / float64(n)
	count := c.shares.count - own.count
	told := c.Suffices(own, n)
	for i := range load {
		switch {
		case told:
			rest := c.shares.sums[i]
			if len(own.sums) == len(load) {
				rest -= own.sums[i]
			}
			load[i] = (1-evenShare)*max(0, rest)/count + evenShare*even
		case len(c.Fallback) == len(load):
			load[i] = (1-evenShare)*c.Fallback[i] + evenShare*even
		default:
			load[i] = even
		}
	}
	return load
}

// Add adds the profile of a signature to the estimate.
func (c *Clock) Add(s AllocationProfile) { c.shares.Add(s) }
