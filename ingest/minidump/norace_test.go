//go:build !race

package minidump_test

const underRace = false
