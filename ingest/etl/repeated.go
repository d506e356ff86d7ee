package etl

import (
	"cmp"
	"context"
	"math"
	"slices"

	"heapdrift/ingest/sorting"
)

// One recording may be given several times: merged in several ways, or merged and not. Its events have the same time
// stamps in each file, whatever wrote it. Counted together, each allocation would be there several times.

// sketchKinds are the events by which files are compared, and mapKinds those without which no stack has a module.
var (
	sketchKinds = Kinds(KindHeapCreate, KindHeapAlloc, KindHeapReAlloc, KindHeapDestroy, KindHeapFree,
		KindVirtualAlloc, KindVirtualFree)
	mapKinds = Kinds(KindImageLoad, KindImageDCStart, KindImageDCEnd)
)

const (
	// sketched is how many events of a file are compared: those with the least hashes, which are the same events in files
	// of one recording.
	sketched = 4096
	// repeatedShare is the part of a file's events that another one has, from which it is the same recording: a merge may
	// leave a few out.
	repeatedShare = 0.99
)

// A sketch is what tells whether files are of one recording.
type sketch struct {
	hashes []uint64 // of memory events, the least, ascending; more than sketched of them while they are gathered
	count  int64    // of memory events
	maps   bool     // it has events of images
}

func (s *sketch) add(e *Event) {
	if mapKinds.Has(e.Kind) {
		s.maps = true
		return
	}
	s.count++
	s.hashes = append(s.hashes, mix(uint64(e.Stamp)^uint64(e.Kind)<<56))
	if len(s.hashes) == 4*sketched {
		s.trim()
	}
}

func (s *sketch) trim() {
	slices.Sort(s.hashes)
	s.hashes = slices.Compact(s.hashes)
	s.hashes = s.hashes[:min(len(s.hashes), sketched)]
}

// mix is the finalizer of SplitMix64: stamps of neighbours become unlike.
func mix(v uint64) uint64 {
	v = (v ^ v>>30) * 0xBF58476D1CE4E5B9
	v = (v ^ v>>27) * 0x94D049BB133111EB
	return v ^ v>>31
}

// isIn reports whether another file has the memory events of this one.
func (s *sketch) isIn(other *sketch) bool {
	if s.count == 0 || other.count == 0 {
		return false
	}
	bound := uint64(math.MaxUint64) // above it, a sketch may lack events of its file
	for _, of := range []*sketch{s, other} {
		if len(of.hashes) == sketched {
			bound = min(bound, of.hashes[sketched-1])
		}
	}
	all, there := 0, 0
	for _, h := range s.hashes {
		if h > bound {
			break
		}
		all++
		if _, ok := slices.BinarySearch(other.hashes, h); ok {
			there++
		}
	}
	return all > 0 && float64(there) >= repeatedShare*float64(all)
}

// mayRepeat reports whether files may hold the same events: one of them was written by a merge, or two by sessions of
// one name that began together. It saves a pass over files that were recorded apart.
func (t *Trace) mayRepeat() bool {
	files := t.info.Files
	for i := range files {
		a := &files[i].LogFile
		if len(files) > 1 && a.Mode&ModeRelog != 0 {
			return true
		}
		for k := range files[:i] {
			if b := &files[k].LogFile; a.Logger == b.Logger && a.Stamp == b.Stamp && a.Mode&ModeNewFile == 0 {
				return true
			}
		}
	}
	return false
}

// A Repeat says that all memory events of File are in Of too. Both are indexes into the sources that Open was given.
type Repeat struct {
	FileIndex, OfIndex int
	Same               bool // all memory events of Of are in File, too
}

// Repeats finds the files whose memory events are all in another file, which is no repeat itself. Of files with the
// same events, the one that stays is one with images, then the one with most bytes of events. It takes a pass over the
// events where files may hold the same.
func (t *Trace) Repeats(ctx context.Context) ([]Repeat, error) {
	if !t.mayRepeat() {
		return nil, nil
	}
	sketches := make([]sketch, len(t.sources))
	take := func(e *Event) error {
		sketches[e.SourceIndex].add(e)
		return nil
	}
	if err := t.events(ctx, sketchKinds|mapKinds, preparer{}, new(pass), merge{fn: take}); err != nil {
		return nil, err
	}
	order := make([]int, len(sketches))
	for i := range sketches {
		sketches[i].trim()
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &sketches[a], &sketches[b]
		if x.isIn(y) && y.isIn(x) {
			if x.maps != y.maps {
				return map[bool]int{true: -1, false: 1}[x.maps]
			}
			return cmp.Compare(t.info.Files[b].Bytes, t.info.Files[a].Bytes)
		}
		return cmp.Compare(y.count, x.count)
	})
	var found []Repeat
	var kept []int
	for _, i := range order {
		s := &sketches[i]
		k := slices.IndexFunc(kept, func(k int) bool { return s.isIn(&sketches[k]) && (sketches[k].maps || !s.maps) })
		if k < 0 {
			kept = append(kept, i)
			continue
		}
		found = append(found, Repeat{i, kept[k], sketches[kept[k]].isIn(s)})
	}
	sorting.Stable(found, func(a, b Repeat) int { return a.FileIndex - b.FileIndex })
	return found, nil
}
