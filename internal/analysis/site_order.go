package analysis

import (
	"cmp"
	"slices"

	"heapdrift/ingest/capture"
)

// A siteRank is what sites are ordered by, as far as numbers tell: a list of them is sorted without a look at the sites.
type siteRank struct {
	below                       bool   // what heaps took from the system comes last: the heaps' own sites say where it went
	grown                       Amount // where a process ended, as of the instant before
	outstanding                 int64  // bytes
	allocatedBytes, allocations int64  // of traces
	site                        *judgedSite
}

func rankOf(s *judgedSite) siteRank {
	r := siteRank{below: s.key.Kind == capture.KindHeapVirtual, grown: s.BeforeExit(), outstanding: s.Outstanding.Bytes, site: s}
	if s.Lifetimes != nil {
		r.allocatedBytes, r.allocations = s.Allocated.Bytes, s.Allocated.Count
	}
	return r
}

// compareRanks orders sites as a report does: most growth first. No two sites are equal.
func compareRanks(a, b siteRank) int {
	switch {
	case a.below != b.below:
		if a.below {
			return 1
		}
		return -1
	case a.grown.Bytes != b.grown.Bytes:
		return cmp.Compare(b.grown.Bytes, a.grown.Bytes)
	case a.grown.Count != b.grown.Count:
		return cmp.Compare(b.grown.Count, a.grown.Count)
	case a.outstanding != b.outstanding:
		return cmp.Compare(b.outstanding, a.outstanding)
	}
	x, y := a.site, b.site
	return cmp.Or(cmp.Compare(b.allocatedBytes, a.allocatedBytes), cmp.Compare(b.allocations, a.allocations),
		cmp.Compare(x.signature, y.signature), slices.Compare(x.key.Stack[:], y.key.Stack[:]), cmp.Compare(x.heapHandle, y.heapHandle), cmp.Compare(x.place, y.place))
}

// inOrderOfSites is sites as a report lists them. Each core sorts a part.
func inOrderOfSites(sites []*judgedSite) []*judgedSite {
	ranks := make([]siteRank, len(sites))
	half := len(sites) / 2
	var both crew
	for _, part := range [][2]int{{0, half}, {half, len(sites)}} {
		both.Go(func() {
			for i := part[0]; i < part[1]; i++ {
				ranks[i] = rankOf(sites[i])
			}
			slices.SortFunc(ranks[part[0]:part[1]], compareRanks)
		})
	}
	both.Wait()
	out, low, high := sites[:0], ranks[:half], ranks[half:]
	for len(low) > 0 && len(high) > 0 {
		if compareRanks(low[0], high[0]) <= 0 {
			out, low = append(out, low[0].site), low[1:]
		} else {
			out, high = append(out, high[0].site), high[1:]
		}
	}
	for _, rest := range slices.Concat(low, high) {
		out = append(out, rest.site)
	}
	return out
}
