package analysis

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/figures"
)

// A history is the modules that the snapshots of one life of a process show. A library may be unloaded while its blocks
// stay allocated: their stacks still hold addresses in it, and only other snapshots tell which module was there.
type history struct {
	first     int // part
	maps      []*capture.ModuleMap
	parts     []part
	known     map[uint64][]sighting
	contested map[uint64]bool // addresses at which snapshots show several modules
	// still says that all parts show the same modules at the same places, so that no part can lend another a module.
	still bool
}

// A sighting is a module that a part shows at an address.
type sighting struct {
	part   int
	module *capture.Module
}

// histories makes the history of each part's life; nil for a life that one part shows.
func (s *series) histories() []*history {
	list := make([]*history, len(s.parts))
	for first := 0; first < len(s.parts); {
		end := first + 1
		for end < len(s.parts) && s.lives[end] == s.lives[first] {
			end++
		}
		if end-first > 1 {
			h := &history{first: first, parts: s.parts[first:end], known: map[uint64][]sighting{}, contested: map[uint64]bool{}}
			h.still = !slices.ContainsFunc(h.parts, func(p part) bool { return !slices.Equal(p.Modules, h.parts[0].Modules) })
			for i := range h.parts {
				h.maps = append(h.maps, capture.NewModuleMap(h.parts[i].Modules))
			}
			for p := first; p < end; p++ {
				list[p] = h
			}
		}
		first = end
	}
	return list
}

// lend is the module at an address that a part shows none at: the one that all others show there, or, where they
// disagree, that of the nearest. Of two that are as near the earlier counts: a stack is older than the snapshot that it
// is in.
func (h *history) lend(p int, address uint64) *capture.Module {
	seen, ok := h.known[address]
	if !ok {
		for i, m := range h.maps {
			if at := m.Find(address); at >= 0 {
				seen = append(seen, sighting{h.first + i, &h.parts[i].Modules[at]})
			}
		}
		h.known[address] = seen
	}
	var nearest *sighting
	for i := range seen {
		here := &seen[i]
		if nearest == nil || distance(here.part, p) < distance(nearest.part, p) {
			nearest = here
		}
		if !isSameImage(here.module, seen[0].module) {
			h.contested[address] = true
		}
	}
	if nearest == nil {
		return nil
	}
	return nearest.module
}

func distance(a, b int) int { return max(a-b, b-a) }

// isSameImage reports whether two snapshots show one image at one place.
func isSameImage(a, b *capture.Module) bool {
	return a.Base == b.Base && a.Size == b.Size && strings.EqualFold(a.Path, b.Path)
}

// warnContested warns of addresses of which it is not certain whose they were.
func (s *series) warnContested(histories []*history) {
	for p, h := range histories {
		if h == nil || p != h.first || len(h.contested) == 0 {
			continue
		}
		n := int64(len(h.contested))
		s.warn(capture.ModuleMoved, n, fmt.Sprintf(
			"%s in a module that its own snapshot does not list any more, and other snapshots of the process list several modules there at different times: each counts for that of the nearest snapshot",
			verb(n, "return address lies", "return addresses lie")))
	}
}

func verb(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return figures.Count(n) + " " + more
}
