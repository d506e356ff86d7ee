package analysis

import (
	"cmp"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/sorting"
)

// siteRanking orders sites as a report does: most growth first, where a process ended as of the instant before. Memory
// that heaps took from the system comes last: the heaps' own sites say where it went.
var siteRanking = ranking[*judgedSite]{
	numbers: []func(*judgedSite) int64{
		func(s *judgedSite) int64 {
			if s.key.kind == capture.KindHeapVirtual {
				return 0
			}
			return 1
		},
		func(s *judgedSite) int64 { return s.GrowthBeforeExit().Bytes },
		func(s *judgedSite) int64 { return s.GrowthBeforeExit().Count },
		func(s *judgedSite) int64 { return s.Outstanding.Bytes },
		func(s *judgedSite) int64 { return s.allocated().Bytes },
		func(s *judgedSite) int64 { return s.allocated().Count },
	},
	rest: sortByStack,
}

// allocated is how much a site of a trace allocated.
func (s *judgedSite) allocated() Amount {
	if s.Lifetimes == nil {
		return Amount{}
	}
	return s.Allocated
}

// sortByStack orders sites of equal figures by signature, stack and heap. No two are equal.
func sortByStack(sites []*judgedSite) {
	slices.SortFunc(sites, func(a, b *judgedSite) int { return cmp.Compare(a.signature, b.signature) })
	for from := 0; from < len(sites); {
		to := from + 1
		oneStack := true
		for to < len(sites) && sites[to].signature == sites[from].signature {
			oneStack = oneStack && sites[to].key.stack == sites[from].key.stack
			to++
		}
		equals := sites[from:to]
		if !oneStack {
			identify(equals)
		}
		slices.SortFunc(equals, func(a, b *judgedSite) int {
			return cmp.Or(slices.Compare(a.stackKey[:], b.stackKey[:]), cmp.Compare(a.heapHandle, b.heapHandle),
				cmp.Compare(a.place, b.place))
		})
		from = to
	}
}

// identify gives sites the Keys of their stacks, on all cores. Several sites may have one stack.
func identify(sites []*judgedSite) {
	type stack struct {
		frames *frames
		id     capture.StackID
	}
	keys, list := map[stack]*Key{}, []stack(nil)
	add := func(of stack) {
		if of.id != capture.NoStack && keys[of] == nil {
			keys[of] = new(Key)
			list = append(list, of)
		}
	}
	for _, site := range sites {
		add(stack{site.frames, site.stack})
		for _, alias := range site.aliases {
			add(stack{site.frames, alias})
		}
	}
	inParts(len(list), func(from, to int) {
		var h hasher
		for _, of := range list[from:to] {
			*keys[of] = of.frames.keys.key(&h, of.id)
		}
	})
	var h hasher
	for _, site := range sites {
		if site.stack == capture.NoStack {
			site.stackKey = site.idKey(&h)
			continue
		}
		candidates := []Key{*keys[stack{site.frames, site.stack}]}
		for _, alias := range site.aliases {
			candidates = append(candidates, *keys[stack{site.frames, alias}])
		}
		if len(candidates) > 1 {
			sorting.Unstable(candidates, func(a, b Key) int { return slices.Compare(a[:], b[:]) })
		}
		site.stackKey = joint(&h, slices.Compact(candidates))
	}
}

// idKey is the Key of a site of whose stack nothing but the id is known; the zero Key without an id.
func (s *judgedSite) idKey(h *hasher) Key {
	if len(s.traces) == 0 {
		return Key{}
	}
	h.string("id")
	h.uint(uint64(s.life))
	h.uint(s.traces[0])
	return h.key()
}
