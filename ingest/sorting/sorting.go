// Package sorting sorts short lists by one copy of the code.
//
// slices.SortFunc and its kin are compiled once for each type: 5 to 30 KB of the program for each list that is sorted
// somewhere. A quarter of the client that every CI job fetches was that. Lists that grow with the evidence (blocks,
// stacks, regions, symbols) stay with package slices, which is faster.
package sorting

import "sort"

// Stable sorts a list. Elements that compare as equal stay in their order.
func Stable[T any](list []T, compare func(a, b T) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}
