// Package deceit is a set of behaviours by somebody who wants to break leak detectors. Each takes a process of births
// and deaths from mathematics — branching, coupon collecting, preferential attachment, renewal, hysteresis, epidemics,
// heavy tails, failures that come together — and puts a plausible program behind it. An expert who knew the time and
// the fate of every allocation of the run would still judge each rightly, or say that the run does not tell.
package deceit

import "slices"

// Behaviours are all behaviours of the set.
var Behaviours = slices.Concat(
	leaksOfRequests, leaksOfCrowds, leaksOfBouts, leaksOfClocks,
	growthThatEnds, slotsThatTurnOver, freedInTime, freedTogether,
	undecidable,
)
