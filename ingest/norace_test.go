//go:build !race

package ingest_test

const underRace = false
