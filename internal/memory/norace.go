//go:build !race

package memory

// detectsRaces is whether the race detector watches the program.
const detectsRaces = false
