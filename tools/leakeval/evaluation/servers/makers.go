package servers

import (
	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// rare draws the share of n events in which something happens, so that it happens about 30 times at least and 2,000 at
// most.
func rare(s *behaviour.Stack, n, low, high float64) float64 {
	return min(max(s.LogUniform(low, high), 30/n), 2000/n)
}

// flight draws for how many seconds n requests hold their memory on average. It is short enough
// that about 150 hold some at once.
func flight(s *behaviour.Stack, n, low, high float64) float64 {
	return min(s.LogUniform(low, high), 150*s.Seconds/n, s.Seconds/25)
}

// period draws the seconds of a timer, which fires so many times a run at least and at most.
func period(s *behaviour.Stack, low, high, fewest, most float64) float64 {
	return min(max(s.LogUniform(low, high), s.Seconds/most), s.Seconds/fewest)
}

// episodes are the instants of separate bouts of trouble. There is one in each of so many equal stretches, of the
// time or of the work.
func episodes(s *behaviour.Stack, low, high int) []float64 {
	list, byWork := make([]float64, s.UniformInt(low, high)), s.Chance(0.5)
	for i := range list {
		list[i] = (float64(i) + s.Uniform(0.05, 0.95)) / float64(len(list))
		if byWork {
			list[i] = s.WhenDone(list[i])
		} else {
			list[i] *= s.Seconds
		}
	}
	return list
}

// sizes draws how large the blocks of a stack are: all the same, or spread.
func sizes(s *behaviour.Stack, low, high float64) func() int {
	return s.SizesBetween(low, high, 0.5, 1)
}

// churn is what n requests allocate and free again soon.
func churn(s *behaviour.Stack, n, seconds float64, size func() int) {
	s.Churn(s.Requests(n), seconds, size)
}

// visits are n requests of members, each as likely as the next.
func visits(s *behaviour.Stack, n float64, members int) (at []float64, who []int) {
	at = s.Requests(n)
	who = make([]int, len(at))
	for i := range who {
		who[i] = s.IntN(members)
	}
	return at, who
}

// An expiry says when what is kept of a member is dropped.
type expiry struct {
	seconds float64 // after the member came, or came last
	sliding bool    // counted from the last visit
	reaper  float64 // the seconds of the timer that looks for what has expired
}

// play keeps a block of each member that visits until it expires. A member who comes later gets another one.
func (e expiry) play(s *behaviour.Stack, at []float64, who []int, size func() int) {
	type cachedBlock struct {
		block behaviour.Block
		due   float64
	}
	members := map[int]cachedBlock{}
	for i, t := range at {
		k, isThere := members[who[i]]
		if isThere && k.due < t {
			s.Free(k.block, min(behaviour.NextTick(k.due, e.reaper), t))
			isThere = false
		}
		switch {
		case !isThere:
			k = cachedBlock{s.Alloc(t, size()), t + e.seconds}
		case e.sliding:
			k.due = t + e.seconds
		}
		members[who[i]] = k
	}
	for _, k := range members {
		s.Free(k.block, behaviour.NextTick(k.due, e.reaper))
	}
}
