//go:build !race

package workertest

// apartFor says that tests read in processes of their own.
const apartFor = true
