// Package hidden holds behaviours of server and client programs whose leaks are hidden deep, and whose innocents look
// as if they leaked. None of it knows how leaks are judged.
package hidden

import "slices"

// Behaviours are all of the package.
var Behaviours = slices.Concat(
	leaksByLoad, leaksInTraffic, leaksByClock, leaksOfParts,
	innocentFlight, innocentGrowth, innocentStores, innocentCaches, innocentPools,
	undecidable,
)
