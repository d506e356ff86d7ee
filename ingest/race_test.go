//go:build race

package ingest_test

// underRace says that the race detector is on: it makes unpacking ten times slower, and small archives show races as
// well as large ones.
const underRace = true
