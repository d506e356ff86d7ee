// Package servers is a set of behaviours of server-side programs: web and database servers, proxies, brokers, mail and
// directory services, storage engines, RPC stacks and service hosts.
package servers

import "slices"

// Behaviours are all of the set.
var Behaviours = slices.Concat(
	leaksOfConnections, leaksOfRequests, leaksOfStorage,
	innocentCaches, innocentConnections, innocentQueues, innocentStorage,
	undecidable,
)
