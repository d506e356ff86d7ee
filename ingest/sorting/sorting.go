// Package sorting sorts short lists by one copy of the code for all types.
//
// slices.SortFunc and its kin are compiled once for each type: 5 to 30 KB of the program for each list that is sorted
// somewhere, 0.8 MB of the client that every CI job fetches. Lists that are sorted often, or that hold the blocks,
// stacks or symbols of the evidence, stay with package slices, which is faster.
package sorting

import (
	"iter"
	"slices"
	"sort"
)

// Stable sorts a list. Elements that compare as equal stay in their order.
func Stable[T any](list []T, compare func(a, b T) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}

// Unstable sorts a list in less time. Elements that compare as equal come in any order.
func Unstable[T any](list []T, compare func(a, b T) int) {
	sort.Slice(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}

// Sorted collects and sorts a sequence, such as the keys of a map, as Unstable does.
func Sorted[T any](of iter.Seq[T], compare func(a, b T) int) []T {
	list := slices.Collect(of)
	Unstable(list, compare)
	return list
}
