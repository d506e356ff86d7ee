package leaks

import (
	"cmp"
	"slices"
	"strconv"
)

// A Place is where a build stands among the builds of its project: first those whose sequence was not declared, in the order in
// which they were first seen, then those with a sequence, ascending.
type Place struct {
	Sequence *int64
	ID       int64
}

// ComparePlaces puts the older build first.
func ComparePlaces(a, b Place) int {
	order := compareBools(a.Sequence != nil, b.Sequence != nil)
	if order == 0 && a.Sequence != nil {
		order = cmp.Compare(*a.Sequence, *b.Sequence)
	}
	return cmp.Or(order, cmp.Compare(a.ID, b.ID))
}

// SequenceOfName is the sequence that the name of a build declares by itself: a name that is a number is its own.
func SequenceOfName(name string) (sequence int64, ok bool) {
	n, err := strconv.ParseInt(name, 10, 64)
	return n, err == nil
}

// A CalendarBuild is a build as a Calendar knows it.
type CalendarBuild struct {
	ID       int64
	Name     string
	Sequence *int64
}

// A Calendar is the order of a project's builds. Builds are named by their place in it, −1 for none.
type Calendar struct {
	ids    []int64 // oldest first
	places map[int64]int
	names  map[string]int
	// sequences are those that were declared, ascending, from the place declared on.
	sequences []int64
	declared  int
}

// NewCalendar orders builds, which may come in any order.
func NewCalendar(builds []CalendarBuild) *Calendar {
	builds = slices.Clone(builds)
	slices.SortFunc(builds, func(a, b CalendarBuild) int {
		return ComparePlaces(Place{a.Sequence, a.ID}, Place{b.Sequence, b.ID})
	})
	c := &Calendar{places: map[int64]int{}, names: map[string]int{}}
	for at, b := range builds {
		c.places[b.ID], c.names[b.Name] = at, at
		c.ids = append(c.ids, b.ID)
		if b.Sequence != nil {
			c.sequences = append(c.sequences, *b.Sequence)
		}
	}
	c.declared = len(c.ids) - len(c.sequences)
	return c
}

// Place is that of a build by its id; −1 for nil and for a build that is not there.
func (c *Calendar) Place(id *int64) int {
	if id != nil {
		if at, ok := c.places[*id]; ok {
			return at
		}
	}
	return -1
}

// ID is that of the build at a place; nil for −1.
func (c *Calendar) ID(place int) *int64 {
	if place < 0 {
		return nil
	}
	return &c.ids[place]
}

// Named is the place of the build with a name. The newest build stands for "".
func (c *Calendar) Named(name string) (place int, ok bool) {
	if name == "" {
		return len(c.ids) - 1, len(c.ids) > 0
	}
	place, ok = c.names[name]
	return place, ok
}

// From is the place from which on builds are the named one or newer; −1 where there is none yet. A name that is a number tells its
// place before the build is there; any other name that is not there tells nothing.
func (c *Calendar) From(name string) int {
	if name == "" {
		return -1
	}
	if at, ok := c.names[name]; ok {
		return at
	}
	sequence, ok := SequenceOfName(name)
	if !ok {
		return -1
	}
	at, _ := slices.BinarySearch(c.sequences, sequence)
	if at == len(c.sequences) {
		return -1
	}
	return c.declared + at
}
