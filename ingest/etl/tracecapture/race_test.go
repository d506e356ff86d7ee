//go:build race

package tracecapture_test

// How many scenarios and damaged files are tried: the race detector makes each ten times slower, and needs few.
const seeds, damages = 1, 10
