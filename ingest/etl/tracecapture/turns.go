package tracecapture

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/etl"
	"heapdrift/ingest/sorting"
)

// turns are the images of one process of which several had the same addresses, one after the other. The address of a
// frame does not tell which of them it lies in: when its memory was allocated does.
type turns struct {
	images []etl.Image // with a size; each once, however often it was loaded
	loaded [][]stretch // by image: when it was, ascending
	shown  []bool      // by image: it is one of those whose addresses tell
	shared [][2]uint64 // ranges of those that are not shown: first and last address, ascending and apart
	found  map[uint64][]int32
	steps  int   // that may still be taken: input chooses how often images change places
	left   int64 // frames that steps did not suffice for
}

// A stretch is the time from a load to an unload.
type stretch struct{ from, to int64 }

// The limits beyond which frames are counted to the image that was there longest, as a warning says: of images of one
// process that are not shown, and of steps to tell those of its stacks apart.
const (
	mostTurns     = 4096
	mostTurnSteps = 50_000_000
)

// newTurns looks for images that had the same addresses; nil where none had, or too many.
func newTurns(images []etl.Image, from, to int64) *turns {
	taken, others := inTurn(images, from, to)
	if len(others) == 0 {
		return nil
	}
	t := &turns{found: map[uint64][]int32{}, steps: mostTurnSteps}
	type identity struct {
		base, size uint64
		stamp      uint32
		path       string
	}
	known := map[identity]int{}
	add := func(image *etl.Image, shown bool) {
		id := identity{image.Base, image.Size, image.TimeDateStamp, strings.ToLower(image.Path)}
		at, ok := known[id]
		if !ok {
			at = len(t.images)
			known[id] = at
			t.images, t.loaded, t.shown = append(t.images, *image), append(t.loaded, nil), append(t.shown, shown)
		}
		t.loaded[at] = append(t.loaded[at], span(image))
	}
	isTaken := make(map[*etl.Image]bool, len(taken))
	for _, image := range taken {
		isTaken[image] = true
		add(image, true)
	}
	shown := len(t.images)
	for i := range images {
		if images[i].Size > 0 && !isTaken[&images[i]] {
			add(&images[i], false)
		}
		if len(t.images)-shown > mostTurns {
			return nil
		}
	}
	for _, list := range t.loaded {
		sorting.Stable(list, func(x, y stretch) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to)) })
	}
	slices.SortFunc(others, func(x, y *etl.Image) int { return cmp.Compare(x.Base, y.Base) })
	for _, image := range others {
		if n := len(t.shared); n > 0 && image.Base <= t.shared[n-1][1] {
			t.shared[n-1][1] = max(t.shared[n-1][1], last(image))
			continue
		}
		t.shared = append(t.shared, [2]uint64{image.Base, last(image)})
	}
	return t
}

// inTurn divides images that have a size: those that were there longest, of which none overlaps another, by base; and
// those that had the same addresses at other times.
func inTurn(images []etl.Image, from, to int64) (taken, others []*etl.Image) {
	order := make([]*etl.Image, len(images))
	for i := range images {
		order[i] = &images[i]
	}
	slices.SortStableFunc(order, func(x, y *etl.Image) int { return cmp.Compare(stay(y, from, to), stay(x, from, to)) })
	for _, image := range order {
		at := sort.Search(len(taken), func(i int) bool { return last(taken[i]) >= image.Base })
		switch {
		case image.Size == 0:
		case at == len(taken) || taken[at].Base > last(image):
			taken = slices.Insert(taken, at, image)
		case !same(taken[at], image):
			others = append(others, image)
		}
	}
	return taken, others
}

// isShared reports whether the image at an address depends on the time.
func (t *turns) isShared(address uint64) bool {
	at := sort.Search(len(t.shared), func(i int) bool { return t.shared[i][1] >= address })
	return at < len(t.shared) && t.shared[at][0] <= address
}

// at are the images that had an address.
func (t *turns) at(address uint64) []int32 {
	list, ok := t.found[address]
	if !ok {
		t.steps -= len(t.images)
		for i := range t.images {
			if image := &t.images[i]; image.Base <= address && address <= last(image) {
				list = append(list, int32(i))
			}
		}
		t.found[address] = list
	}
	return list
}

// span is when an image was loaded, and when it was gone.
func span(image *etl.Image) stretch {
	s := stretch{math.MinInt64, math.MaxInt64}
	if image.Load != etl.UnknownTime {
		s.from = image.Load
	}
	if image.Unload != etl.UnknownTime {
		s.to = image.Unload
	}
	return s
}

// away is how far from a time the nearest stretch is.
func away(list []stretch, at int64) uint64 {
	next := sort.Search(len(list), func(i int) bool { return list[i].from > at })
	least := uint64(math.MaxUint64)
	if next < len(list) {
		least = uint64(list[next].from) - uint64(at)
	}
	if next > 0 {
		before := list[next-1]
		if at < before.to {
			return 0
		}
		least = min(least, uint64(at)-uint64(before.to)+1)
	}
	return least
}

// of is the image that had a shared address at a time, or was there nearest to it: what a stack names was loaded when
// it was recorded, and clocks of events differ.
func (t *turns) of(address uint64, at int64) int32 {
	best, least := int32(-1), uint64(math.MaxUint64)
	for _, i := range t.at(address) {
		if far := away(t.loaded[i], at); best < 0 || far < least {
			best, least = i, far
		}
	}
	return best
}

// An era is a stretch of time in which the shared addresses of a stack lie in the same images.
type era struct {
	from   int64   // MinInt64 of the first
	images []int32 // of each shared address of the stack, in its order
}

// eras are those of a stack; none where no address of it is shared.
func (t *turns) eras(addresses []uint64) []era {
	var shared []uint64
	var stretches []stretch
	candidates := 0
	for _, a := range addresses {
		if !t.isShared(a) {
			continue
		}
		shared = append(shared, a)
		candidates += len(t.at(a))
		for _, i := range t.at(a) {
			if t.steps -= len(t.loaded[i]); t.steps < 0 {
				break
			}
			stretches = append(stretches, t.loaded[i]...)
		}
	}
	if len(shared) == 0 {
		return nil
	}
	times := changes(stretches)
	if t.steps -= len(times) * candidates; t.steps < 0 {
		t.left += int64(len(shared))
		return nil
	}
	var list []era
	for _, at := range times {
		images := make([]int32, len(shared))
		for i, a := range shared {
			images[i] = t.of(a, at)
		}
		if n := len(list); n == 0 || !slices.Equal(list[n-1].images, images) {
			list = append(list, era{at, images})
		}
	}
	return list
}

// changes are the times at which it may change which stretch is there, or nearest.
func changes(list []stretch) []int64 {
	sorting.Stable(list, func(x, y stretch) int { return cmp.Compare(x.from, y.from) })
	times, end := []int64{math.MinInt64}, int64(math.MinInt64)
	for i, s := range list {
		if i > 0 && s.from > end { // in the middle between the two
			times = append(times, int64(uint64(end)+(uint64(s.from)-uint64(end))/2+1))
		}
		times, end = append(times, s.from, s.to), max(end, s.to)
	}
	slices.Sort(times)
	return slices.Compact(times)
}

// formers collects the former images that stacks of a capture name.
type formers struct {
	turns  *turns
	images []etl.Image
	places map[int32]int // by image of the turns: place in images
}

// add adds the frames of a stack whose shared addresses lie in these images.
func (f *formers) add(frames []capture.FrameID, stacks *capture.Stacks, addresses []uint64,
	shared []int32) []capture.FrameID {
	for _, a := range addresses {
		if !f.turns.isShared(a) {
			frames = append(frames, stacks.AddAddress(a))
			continue
		}
		image := shared[0]
		shared = shared[1:]
		if f.turns.shown[image] {
			frames = append(frames, stacks.AddAddress(a))
			continue
		}
		place, ok := f.places[image]
		if !ok {
			if f.places == nil {
				f.places = map[int32]int{}
			}
			place = len(f.images)
			f.places[image], f.images = place, append(f.images, f.turns.images[image])
		}
		frames = append(frames, stacks.AddFormer(a, place))
	}
	return frames
}
