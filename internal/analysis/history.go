package analysis

import (
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// A history is the modules that the snapshots of one life of a process show. A library may be unloaded while its blocks
// stay allocated. Their stacks still hold addresses in the library, and only other snapshots show the module there.
type history struct {
	first     int // part
	maps      []*capture.ModuleMap
	parts     []part
	known     map[uint64][]sighting
	contested map[uint64]bool // addresses at which snapshots show several modules
	// still: all parts show the same modules at the same addresses, so that no part can lend another a module.
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

// lend finds the module at an address where a part shows none: the module that all other parts show there or, if they
// differ, the module of the nearest part. Of two equally near parts the earlier counts: a stack is older than its
// snapshot.
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

// isSameImage reports whether two snapshots show the same image at the same address.
func isSameImage(a, b *capture.Module) bool {
	return a.Base == b.Base && a.Size == b.Size && strings.EqualFold(a.Path, b.Path)
}

// warnContested warns of addresses where snapshots show different modules.
func (s *series) warnContested(histories []*history) {
	for p, h := range histories {
		if h == nil || p != h.first || len(h.contested) == 0 {
			continue
		}
		n := int64(len(h.contested))
		s.warn(capture.ModuleMoved, n, verb(n, "return address is", "return addresses are")+
			" in unloaded modules, and other snapshots show several modules there. The module of the nearest snapshot is used.")
	}
}

func verb(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return quantity.Count(n) + " " + more
}
