package ingest

import (
	"cmp"
	"slices"
	"strings"
)

// InOrder returns the names of files in natural order, snap2 before snap10, if they came in the order of a shell,
// snap10 before snap2. Any other order is somebody's choice and stays.
func InOrder(names []string) []string {
	if !slices.IsSorted(names) {
		return names
	}
	return slices.SortedStableFunc(slices.Values(names), NaturalOrder)
}

// NaturalOrder compares names as slices.SortFunc wants it: snap2 before snap10, letters without regard to case.
func NaturalOrder(a, b string) int {
	x, y := strings.ToLower(a), strings.ToLower(b)
	for x != "" && y != "" {
		dx, dy := digits(x), digits(y)
		if dx > 0 && dy > 0 {
			nx, ny := strings.TrimLeft(x[:dx], "0"), strings.TrimLeft(y[:dy], "0")
			if c := cmp.Or(cmp.Compare(len(nx), len(ny)), cmp.Compare(nx, ny)); c != 0 {
				return c
			}
			x, y = x[dx:], y[dy:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// digits is the length of the number that s begins with.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}
