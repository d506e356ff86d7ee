//go:build !race

package apart_test

const underRace = false
