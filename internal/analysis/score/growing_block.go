package score

import "heapdrift/ingest/quantity"

// One block that is reallocated to ever more bytes leaks whatever it is filled with, though the number of blocks never
// changes.
const (
	fewBlocks      = 4    // as many may be held by all of a signature
	growingRises   = 0.6  // of the intervals in which bytes must rise
	growingFalls   = 0.05 // of the bytes that it rose by may be given back
	growingLater   = 0.4  // of the first half's growth the second half must have
	growingAtLeast = 1.25 // times what it was
	growingFew     = 6    // snapshots it takes
	// growingLooks is how many snapshots are looked at: a block that grows by a share of itself is resized ever more
	// seldom, so that of more intervals ever fewer have a rise.
	growingLooks = 10
)

// A resizing is how one block, or a few, grew.
type resizing struct {
	from, to         int64 // bytes
	rises, intervals int
}

// GrowsInPlace reports whether a series is of one block, or of a few, that is resized to ever more bytes from the first
// snapshots to the last.
func GrowsInPlace(s *Series) bool { return resizingOf(s) != nil }

// resizingOf is nil of a series of another kind.
func resizingOf(s *Series) *resizing {
	first := 0
	for first < len(s.Count) && s.Count[first] == 0 {
		first++
	}
	if len(s.Count)-first < len(s.Count)/2 {
		return nil
	}
	counts, bytes := looks(s.Count[first:]), looks(s.Bytes[first:])
	n := len(counts)
	if n < growingFew {
		return nil
	}
	rises, rose, fell := 0, int64(0), int64(0)
	for i := range counts {
		if counts[i] < 1 || counts[i] > fewBlocks {
			return nil
		}
		if i == 0 {
			continue
		}
		if step := bytes[i] - bytes[i-1]; step > 0 {
			rises++
			rose += step
		} else {
			fell -= step
		}
	}
	half := (n - 1) / 2
	before, later := bytes[half]-bytes[0], bytes[n-1]-bytes[n-1-half]
	if counts[n-1] > counts[0]+1 || float64(rises) < growingRises*float64(n-1) ||
		float64(fell) > growingFalls*float64(rose) ||
		float64(later) < growingLater*float64(before) || float64(bytes[n-1]) < growingAtLeast*float64(bytes[0]) ||
		bytes[n-1] <= bytes[n-1-(n-1)/3] {
		return nil
	}
	return &resizing{bytes[0], bytes[n-1], rises, n - 1}
}

// looks are at most growingLooks of the values, in even steps, the first and the last among them.
func looks(values []int64) []int64 {
	n := len(values)
	if n <= growingLooks {
		return values
	}
	list := make([]int64, growingLooks)
	for i := range list {
		list[i] = values[i*(n-1)/(growingLooks-1)]
	}
	return list
}

func (r *resizing) clause() Clause {
	return clause("growing-block", true,
		"Reallocated from %s to %s, in %d of %s, while the number of blocks stays: the contents are never discarded.",
		quantity.Bytes(r.from), quantity.Bytes(r.to), r.rises, quantity.Plural(r.intervals, "interval"))
}
