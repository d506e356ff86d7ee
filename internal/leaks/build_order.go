package leaks

import (
	"slices"

	"heapdrift/ingest/sorting"
)

// A BuildIndex is the index of a build in the BuildOrder, 0 for the oldest; −1 for none.
type BuildIndex = int

// A BuildOrder is the order of a project's builds. Builds are named by their index in it.
type BuildOrder struct {
	ids     []int64     // oldest first
	ranks   []BuildRank // of ids
	indexes map[int64]int
	names   map[string]int
	// shape is the common shape of the names of builds without a sequence, where those names are in natural order.
	shape    string
	natural  bool
	declared int // builds without a sequence
}

// NewBuildOrder orders builds, which may come in any order.
func NewBuildOrder(builds []Build) *BuildOrder {
	type rankedBuild struct {
		*Build
		BuildRank
	}
	list := make([]rankedBuild, len(builds))
	for i, rank := range RankBuilds(builds) {
		list[i] = rankedBuild{&builds[i], rank}
	}
	sorting.Stable(list, func(a, b rankedBuild) int { return CompareRanks(a.BuildRank, b.BuildRank) })
	c := &BuildOrder{indexes: map[int64]int{}, names: map[string]int{}}
	c.shape, c.natural = shapeOfUndeclared(builds)
	for at, b := range list {
		c.indexes[b.ID], c.names[b.Name] = at, at
		c.ids, c.ranks = append(c.ids, b.ID), append(c.ranks, b.BuildRank)
		if b.Sequence == nil {
			c.declared++
		}
	}
	return c
}

// Index is the index of the build with this id; −1 for nil and for an unknown build.
func (c *BuildOrder) Index(id *int64) int {
	if id != nil {
		if at, ok := c.indexes[*id]; ok {
			return at
		}
	}
	return -1
}

// IDAt is the id of the build at an index; nil for −1.
func (c *BuildOrder) IDAt(index int) *int64 {
	if index < 0 {
		return nil
	}
	return &c.ids[index]
}

// IndexOfName is the index of the build with a name; "" stands for the newest build. ok is false where there is none.
func (c *BuildOrder) IndexOfName(name string) (index int, ok bool) {
	if name == "" {
		return len(c.ids) - 1, len(c.ids) > 0
	}
	index, ok = c.names[name]
	return index, ok
}

// IndexFrom is the index of the first build that is the named one or newer; −1 where there is none yet. A name that is
// a number has an index before the build exists, and so has a name of the common form of builds in natural order. Any
// other unknown name gives −1.
func (c *BuildOrder) IndexFrom(name string) int {
	if name == "" {
		return -1
	}
	if at, ok := c.names[name]; ok {
		return at
	}
	if sequence, ok := SequenceOfName(name); ok {
		return c.firstFrom(declaredRank(sequence), len(c.ranks))
	}
	if c.natural && shapeOf(name) == c.shape {
		// It may be declared to be newer than those that have a sequence: of them it tells nothing.
		return c.firstFrom(rankOf(&Build{Name: name}, true), c.declared)
	}
	return -1
}

// firstFrom is the index of the first of the oldest n builds whose rank is not less.
func (c *BuildOrder) firstFrom(rank BuildRank, n int) int {
	at, _ := slices.BinarySearchFunc(c.ranks[:n], rank, CompareRanks)
	if at == n {
		return -1
	}
	return at
}
