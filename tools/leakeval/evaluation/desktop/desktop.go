// Package desktop is a set of behaviours of desktop and component programs: COM servers and their callers, editors,
// browsers and script engines, plug-ins, printing, tray utilities, device monitors, media players, games and .NET
// interop.
package desktop

import "slices"

// Behaviours are all of the set.
var Behaviours = slices.Concat(
	leaksOfComponents, leaksOfDocuments, leaksOfMachines,
	innocentCaches, innocentDocuments, innocentComponents, innocentMachines,
	undecidable,
)
