package score

import "heapdrift/ingest/quantity"

// A block that is reallocated to more and more bytes leaks its contents, though the number of blocks stays.
const (
	fewBlocks             = 4    // the most blocks the series may hold at once
	growingRises          = 0.6  // least share of the intervals with a rise
	growingFalls          = 0.05 // largest share of the rise that is given back
	growingLater          = 0.4  // least growth of the second half, as a share of the first half's
	growingAtLeast        = 1.25 // least ratio of the last size to the first
	growingLeastSnapshots = 6
	// growingSamples is how many evenly spread snapshots are compared. A block that grows geometrically is resized more
	// and more rarely, so with more samples fewer intervals would show a rise.
	growingSamples = 10
)

// A resizing is how one block, or a few, grew.
type resizing struct {
	from, to         int64 // bytes
	rises, intervals int
}

// GrowsInPlace reports whether a series is of one block, or of a few, that is resized to ever more bytes from the first
// snapshots to the last.
func GrowsInPlace(s *Series) bool { return resizingOf(s) != nil }

// resizingOf returns how the block grew; nil where the series shows no such block.
func resizingOf(s *Series) *resizing {
	first := 0
	for first < len(s.Count) && s.Count[first] == 0 {
		first++
	}
	if len(s.Count)-first < len(s.Count)/2 { // it appeared only in the second half
		return nil
	}
	counts, bytes := samples(s.Count[first:]), samples(s.Bytes[first:])
	n := len(counts)
	if n < growingLeastSnapshots {
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
		bytes[n-1] <= bytes[n-1-(n-1)/3] { // it stopped growing in the last third
		return nil
	}
	return &resizing{bytes[0], bytes[n-1], rises, n - 1}
}

// samples returns growingSamples of the values, evenly spread from the first to the last; all where there are no more.
func samples(values []int64) []int64 {
	n := len(values)
	if n <= growingSamples {
		return values
	}
	list := make([]int64, growingSamples)
	for i := range list {
		list[i] = values[i*(n-1)/(growingSamples-1)]
	}
	return list
}

func (r *resizing) clause() Clause {
	return clause("growing-block", true,
		"Reallocated from %s to %s, in %d of %s, while the number of blocks stays: the contents are never discarded.",
		quantity.Bytes(r.from), quantity.Bytes(r.to), r.rises, quantity.Plural(r.intervals, "interval"))
}
