//go:build race

package workertest

// apartFor says that tests read in processes of their own. Under the race detector each takes half a second to start;
// there cmd's tests and tools/chaos do.
const apartFor = false
