//go:build race

package etl_test

// underRace says that the race detector is on: it makes decoding ten times slower, and one large trace shows races as
// well as three.
const underRace = true
