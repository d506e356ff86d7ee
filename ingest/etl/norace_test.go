//go:build !race

package etl_test

const underRace = false
