package leaks

import "slices"

// A Calendar is the order of a project's builds. Builds are named by their place in it, −1 for none.
type Calendar struct {
	ids    []int64 // oldest first
	at     []Place // of ids
	places map[int64]int
	names  map[string]int
	// shape is the common shape of the names of builds without a sequence, where those names are in natural order.
	shape    string
	natural  bool
	declared int // builds without a sequence
}

// NewCalendar orders builds, which may come in any order.
func NewCalendar(builds []Build) *Calendar {
	type placedBuild struct {
		*Build
		Place
	}
	list := make([]placedBuild, len(builds))
	for i, place := range Places(builds) {
		list[i] = placedBuild{&builds[i], place}
	}
	slices.SortFunc(list, func(a, b placedBuild) int { return ComparePlaces(a.Place, b.Place) })
	c := &Calendar{places: map[int64]int{}, names: map[string]int{}}
	c.shape, c.natural = shapeOfUndeclared(builds)
	for at, b := range list {
		c.places[b.ID], c.names[b.Name] = at, at
		c.ids, c.at = append(c.ids, b.ID), append(c.at, b.Place)
		if b.Sequence == nil {
			c.declared++
		}
	}
	return c
}

// Place is the place of a build by its id; −1 for nil and for an unknown build.
func (c *Calendar) Place(id *int64) int {
	if id != nil {
		if at, ok := c.places[*id]; ok {
			return at
		}
	}
	return -1
}

// ID is the id of the build at a place; nil for −1.
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

// From is the first place whose build is the named one or newer; −1 where there is none yet. A name that is a number
// tells its place before the build exists, and so does a name of the common shape of builds in natural order. Any other
// unknown name tells nothing.
func (c *Calendar) From(name string) int {
	if name == "" {
		return -1
	}
	if at, ok := c.names[name]; ok {
		return at
	}
	if sequence, ok := SequenceOfName(name); ok {
		return c.from(declaredPlace(sequence), len(c.at))
	}
	if c.natural && shapeOf(name) == c.shape {
		// It may be declared to be newer than those that have a sequence: of them it tells nothing.
		return c.from(placeOf(&Build{Name: name}, true), c.declared)
	}
	return -1
}

// from is the first place that is not less than one, of the oldest n builds.
func (c *Calendar) from(place Place, n int) int {
	at, _ := slices.BinarySearchFunc(c.at[:n], place, ComparePlaces)
	if at == n {
		return -1
	}
	return at
}
