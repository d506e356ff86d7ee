//go:build !race

package tracecapture_test

// How many scenarios and damaged files are tried.
const seeds, damages = 4, 100
