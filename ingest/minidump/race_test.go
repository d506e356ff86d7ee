//go:build race

package minidump_test

// underRace says that the race detector is on, which allocates by itself and makes all slower.
const underRace = true
