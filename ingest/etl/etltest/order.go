package etltest

import (
	"cmp"
	"slices"
)

// inOrder lists elements by their raw times, and those of one time as they come. Sorting them in place, which keeps the
// order of equals only by moving the large structures again and again, takes several times as long.
func inOrder[T any](list []T, raw func(*T) int64) []T {
	type place struct {
		raw int64
		at  int
	}
	order := make([]place, len(list))
	for i := range list {
		order[i] = place{raw(&list[i]), i}
	}
	slices.SortFunc(order, func(a, b place) int {
		if a.raw != b.raw {
			return cmp.Compare(a.raw, b.raw)
		}
		return a.at - b.at
	})
	sorted := make([]T, len(list))
	for i, p := range order {
		sorted[i] = list[p.at]
	}
	return sorted
}
