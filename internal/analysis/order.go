package analysis

import (
	"cmp"
	"slices"
)

// A ranking is the order of a list: by numbers, the largest first, each of which counts where those before it are
// equal, and at last by a comparison of the items themselves.
type ranking[T any] struct {
	numbers []func(T) int64
	rest    func(equals []T) // sorts what all numbers are equal of
}

// rankedItem is an item with the number that it is sorted by at the moment: 16 bytes, so that sorting large lists moves
// little.
type rankedItem[T any] struct {
	number int64
	it     T
}

// sort orders a list.
func (r *ranking[T]) sort(list []T) {
	order := make([]rankedItem[T], len(list))
	for i, it := range list {
		order[i].it = it
	}
	r.sortFrom(order, 0)
	for i := range order {
		list[i] = order[i].it
	}
}

// sortFrom orders what is equal by all numbers before the given one.
func (r *ranking[T]) sortFrom(list []rankedItem[T], at int) {
	switch {
	case len(list) < 2:
		return
	case at == len(r.numbers):
		r.sortRest(list)
		return
	}
	same, number := true, r.numbers[at]
	for i := range list {
		list[i].number = number(list[i].it)
		same = same && list[i].number == list[0].number
	}
	if !same {
		slices.SortFunc(list, func(a, b rankedItem[T]) int { return cmp.Compare(b.number, a.number) })
	}
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to].number == list[from].number {
			to++
		}
		r.sortFrom(list[from:to], at+1)
		from = to
	}
}

func (r *ranking[T]) sortRest(list []rankedItem[T]) {
	equals := make([]T, len(list))
	for i := range list {
		equals[i] = list[i].it
	}
	r.rest(equals)
	for i, it := range equals {
		list[i].it = it
	}
}
