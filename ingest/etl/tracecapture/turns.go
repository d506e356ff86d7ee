package tracecapture

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/etl"
)

// turns are the images of one process of which several had the same addresses, one after the other. The address of a frame does not
// tell which of them it lies in: when its stack was recorded does.
type turns struct {
	images []etl.Image // with a size, by base
	shown  []bool      // by image: it is one of those whose addresses tell
	shared [][2]uint64 // ranges of those that are not shown: first and last address, ascending and apart
	found  map[uint64][]int32
}

// The limits beyond which frames are counted to the image that was there longest, as the warning says: of images of one process
// that are not shown, and of times at which the images of one stack change.
const (
	mostTurns = 4096
	mostEras  = 256
)

// newTurns looks for images that had the same addresses; nil where none had. Where too many had, it is nil as well.
func newTurns(images []etl.Image, from, to int64) *turns {
	taken, others := inTurn(images, from, to)
	if len(others) == 0 || len(others) > mostTurns {
		return nil
	}
	t := &turns{found: map[uint64][]int32{}}
	for _, image := range taken {
		t.images, t.shown = append(t.images, *image), append(t.shown, true)
	}
	for _, image := range others {
		t.images, t.shown = append(t.images, *image), append(t.shown, false)
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

// inTurn divides images that have a size: those that were there longest, of which none overlaps another, by base; and those that had
// the same addresses at other times.
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
func span(image *etl.Image) (from, to int64) {
	from, to = math.MinInt64, math.MaxInt64
	if image.Load != etl.Unknown {
		from = image.Load
	}
	if image.Unload != etl.Unknown {
		to = image.Unload
	}
	return from, to
}

// of is the image that had a shared address at a time, or was there nearest to it: what a stack names was loaded when it was
// recorded, and clocks of events differ.
func (t *turns) of(address uint64, at int64) int32 {
	best, least := int32(-1), uint64(math.MaxUint64)
	for _, i := range t.at(address) {
		from, to := span(&t.images[i])
		away := uint64(0)
		switch {
		case at < from:
			away = uint64(from) - uint64(at)
		case at >= to:
			away = uint64(at) - uint64(to) + 1
		}
		if best < 0 || away < least {
			best, least = i, away
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
	times := []int64{math.MinInt64}
	for _, a := range addresses {
		if !t.isShared(a) {
			continue
		}
		shared = append(shared, a)
		for _, i := range t.at(a) {
			from, to := span(&t.images[i])
			times = append(times, from, to)
			for _, k := range t.at(a) { // between two that were not loaded the nearer counts
				if next, _ := span(&t.images[k]); to != math.MaxInt64 && next > to {
					times = append(times, int64(uint64(to)+(uint64(next)-uint64(to))/2+1))
				}
			}
		}
	}
	if len(shared) == 0 {
		return nil
	}
	slices.Sort(times)
	times = slices.Compact(times)
	var list []era
	for _, at := range times {
		images := make([]int32, len(shared))
		for i, a := range shared {
			images[i] = t.of(a, at)
		}
		if n := len(list); n > 0 && (slices.Equal(list[n-1].images, images) || n == mostEras) {
			continue
		}
		list = append(list, era{at, images})
	}
	return list
}

// formers collects the former images that stacks of a capture name.
type formers struct {
	turns  *turns
	images []etl.Image
	places map[int32]int // by image of the turns: place in images
}

// add adds the frames of a stack whose shared addresses lie in these images.
func (f *formers) add(frames []capture.FrameID, stacks *capture.Stacks, addresses []uint64, shared []int32) []capture.FrameID {
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
