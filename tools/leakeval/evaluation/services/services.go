// Package services is a set of behaviours of programs without a window: schedulers, log shippers, build agents, backup,
// scanners, telemetry, data acquisition, market data, converters, simulators, inference servers, indexers, watchdogs
// and updaters.
package services

import "slices"

// Behaviours are all of the set.
var Behaviours = slices.Concat(
	leaksOfJobs, leaksOfErrors, leaksOfState,
	innocentCaches, innocentWork, innocentPools, innocentState,
	undecidable,
)
