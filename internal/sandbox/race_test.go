//go:build race

package sandbox_test

// underRace says that the race detector is on: its own runtime ends a process that asks for more memory than there is.
const underRace = true
