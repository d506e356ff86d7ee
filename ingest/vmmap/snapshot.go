package vmmap

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/sorting"
)

// A snapshot sums regions as they come.
type snapshot struct {
	process process
	room    *int   // heaps that the file may still bring
	top     region // the reservation read last
	inside  totals // of the blocks in it
	blocks  int64  // in it
	uses    map[capture.UseName]*capture.UseTotal
	space   capture.Space
	taken   []capture.AddressRange // for the map
	left    int64                  // reservations that there was no room for in it
	end     uint64                 // of the highest region
	heaps   map[int64]*capture.HeapFacts
	repeat  map[int64]*capture.RepeatedReservations // by size

	regions   int64
	malformed tally // elements that were not understood
	unknown   tally // regions of a use that is not known
	disorder  tally // regions that overlap those before
	differing tally // reservations whose blocks do not make them
	homeless  int64 // regions of heaps that there was no room for
	cut       int64 // line where the file ends early, 0 where not
}

// totals are what reservations and their blocks are compared by.
type totals struct{ commit, privateBytes, workingSet int64 }

// A tally counts something and remembers the line of the first.
type tally struct{ n, line int64 }

func (t *tally) add(line int64) {
	if t.n++; t.n == 1 {
		t.line = line
	}
}

// The limits on what is kept of a snapshot.
const (
	maxHeaps    = 5000
	maxLargest  = 50
	maxMapped   = 1 << 18 // reservations in the map: 2 GB consist of 32,768 at most
	maxRepeated = 20
	maxSizes    = 10_000 // different sizes that are counted for Repeated
	manyOfASize = 8      // reservations of one size from which on they are told
)

func newSnapshot(p process, room *int) *snapshot {
	return &snapshot{process: p, room: room, uses: map[capture.UseName]*capture.UseTotal{},
		heaps: map[int64]*capture.HeapFacts{}, repeat: map[int64]*capture.RepeatedReservations{}}
}

// element takes one region.
func (s *snapshot) element(attributes []xml.Attr, line int64) {
	r, ok := parseRegion(attributes)
	if !ok {
		s.malformed.add(line)
		return
	}
	end := s.top.address + uint64(s.top.size)
	switch {
	case r.address < s.top.address, r.address < end && r.address+uint64(r.size) > end:
		s.disorder.add(line)
	case r.address < end:
		s.blocks++
		s.inside.commit = sum(s.inside.commit, r.commit)
		s.inside.privateBytes = sum(s.inside.privateBytes, r.privateBytes)
		s.inside.workingSet = sum(s.inside.workingSet, sum(r.privateWS, r.shareableWS))
		return
	}
	s.settle(line)
	s.top = r
}

// settle counts the reservation that is complete now.
func (s *snapshot) settle(line int64) {
	r := &s.top
	if r.size == 0 {
		return
	}
	own := totals{r.commit, r.privateBytes, sum(r.privateWS, r.shareableWS)}
	if s.blocks > 0 {
		switch own {
		case s.inside:
		case totals{}:
			own = s.inside // only the blocks have figures
		default:
			s.differing.add(line)
		}
	}
	use, known := useOf(r)
	if !known {
		s.unknown.add(line)
	}
	s.count(use, r, own)
	s.blocks, s.inside, s.top = 0, totals{}, region{}
}

func (s *snapshot) count(use capture.UseName, r *region, own totals) {
	s.regions++
	u := s.uses[use]
	if u == nil {
		u = &capture.UseTotal{Name: use}
		s.uses[use] = u
	}
	u.Regions++
	u.Reserved = sum(u.Reserved, r.size)
	u.Largest = max(u.Largest, r.size)
	s.end = max(s.end, r.address+uint64(r.size))
	if use == capture.UseFree {
		if r.size > s.space.LargestFree {
			s.space.LargestFree, s.space.LargestFreeAt = r.size, capture.Address(r.address)
		}
		return
	}
	if len(s.taken) < maxMapped {
		s.taken = append(s.taken,
			capture.AddressRange{Address: capture.Address(r.address), Size: r.size, Use: use, Committed: own.commit})
	} else {
		s.left++
	}
	u.Committed = sum(u.Committed, own.commit)
	u.Private = sum(u.Private, own.privateBytes)
	s.space.PrivateBytes = sum(s.space.PrivateBytes, own.privateBytes)
	s.space.WorkingSet = sum(s.space.WorkingSet, own.workingSet)
	if r.address > math.MaxUint32 {
		s.process.Bits = 64
	}
	switch use {
	case capture.UseHeap:
		s.heap(r, own)
	case capture.UsePrivate, capture.UseManaged, capture.UseMapped, capture.UsePageHeap:
		s.large(use, r, own)
	}
}

// heap adds a region to the heap that its Id names.
func (s *snapshot) heap(r *region, own totals) {
	h := s.heaps[r.id]
	if h == nil {
		if r.id < 0 {
			return // which heap it belongs to is not said
		}
		if len(s.heaps) == maxHeaps || *s.room == 0 {
			s.homeless++
			return
		}
		*s.room--
		h = &capture.HeapFacts{Handle: capture.Address(r.address), Kind: "heap", Name: r.details,
			Note: "the handle is the lowest address of its regions, and VMMap does not say it"}
		if strings.Contains(strings.ToUpper(r.details), "LOW FRAGMENTATION") {
			h.FrontEnd = "LFH"
		}
		s.heaps[r.id] = h
	}
	h.Handle = min(h.Handle, capture.Address(r.address))
	h.Segments++
	h.Reserved, h.Committed = sum(h.Reserved, r.size), sum(h.Committed, own.commit)
}

// large keeps the largest reservations, and counts those of one size.
func (s *snapshot) large(use capture.UseName, r *region, own totals) {
	if n := len(s.space.Largest); n < maxLargest || r.size > s.space.Largest[n-1].Reserved {
		at, _ := slices.BinarySearchFunc(s.space.Largest, r.size, func(l capture.Reservation, size int64) int {
			return cmp.Or(cmp.Compare(size, l.Reserved), -1) // behind those of the same size
		})
		s.space.Largest = slices.Insert(s.space.Largest, at,
			capture.Reservation{Address: capture.Address(r.address), Use: use, Reserved: r.size,
				Committed: own.commit, Protect: protectionOf(r), Note: r.details})
		s.space.Largest = s.space.Largest[:min(len(s.space.Largest), maxLargest)]
	}
	same := s.repeat[r.size]
	if same == nil {
		if len(s.repeat) == maxSizes {
			return
		}
		same = &capture.RepeatedReservations{ReservedEach: r.size, First: capture.Address(r.address)}
		s.repeat[r.size] = same
	}
	same.Count++
	same.CommittedTotal = sum(same.CommittedTotal, own.commit)
}

// truncate says that the file ends inside this snapshot, after the given line.
func (s *snapshot) truncate(line int64) { s.cut = max(1, line) }

// finish makes the capture, or nil where there is no region.
func (s *snapshot) finish() *capture.Capture {
	s.settle(s.malformed.line)
	if s.regions == 0 {
		return nil
	}
	for _, name := range capture.UseNames {
		if u := s.uses[name]; u != nil {
			s.space.Uses = append(s.space.Uses, *u)
		}
	}
	s.states()
	s.repeated()
	s.space.Bits, s.space.Limit = s.width()
	if s.left == 0 {
		s.space.Map = capture.DrawSpaceMap(s.taken)
	}
	m := &capture.Memory{Source: "VMMap", Space: &s.space}
	for _, id := range sortedKeys(s.heaps) {
		m.Heaps = append(m.Heaps, *s.heaps[id])
	}
	if s.unknown.n > 0 {
		m.Notes = append(m.Notes,
			capture.Note{Topic: capture.TopicMethod,
				Text: fmt.Sprintf("%d regions are of a use that is not known; they count as the system's", s.unknown.n)})
	}
	c := &capture.Capture{Kind: Kind, Shape: capture.ShapeFacts, Process: s.process.Process, Memory: m,
		Snapshots: []capture.Snapshot{{TakenAt: s.process.takenAt, LowerBound: s.cut > 0}}}
	s.warn(c)
	return c
}

// width tells the program's bits and, of one of 32, the address space that it may use: VMMap lists what is free up to
// its end, and the last 64 KB are nobody's. Of a file that ends early the highest region says nothing.
func (s *snapshot) width() (bits uint8, limit int64) {
	const gigabyte = 1 << 30
	free := s.uses[capture.UseFree] != nil
	switch {
	case s.end > 1<<32:
		return 64, 0
	case s.cut > 0 || !free || s.end < gigabyte:
		return 0, 0
	}
	return 32, int64(max(2, (s.end+gigabyte-1)/gigabyte) * gigabyte)
}

// states tells the space by state, as Windows names it.
func (s *snapshot) states() {
	var commit, reserve, free capture.Share
	commit.Name, reserve.Name, free.Name = "MEM_COMMIT", "MEM_RESERVE", "MEM_FREE"
	for _, u := range s.space.Uses {
		if u.Name == capture.UseFree {
			free.Regions, free.Bytes = u.Regions, u.Reserved
			continue
		}
		commit.Bytes = sum(commit.Bytes, u.Committed)
		reserve.Bytes = sum(reserve.Bytes, max(0, u.Reserved-u.Committed))
	}
	s.space.States = []capture.Share{commit, reserve}
	if free.Regions > 0 {
		s.space.States = append(s.space.States, free)
	}
}

// repeated tells the sizes that many reservations have, those with the most bytes first.
func (s *snapshot) repeated() {
	for _, size := range sortedKeys(s.repeat) {
		if same := s.repeat[size]; same.Count >= manyOfASize {
			s.space.Repeated = append(s.space.Repeated, *same)
		}
	}
	bytes := func(r capture.RepeatedReservations) float64 { return float64(r.ReservedEach) * float64(r.Count) }
	sorting.Stable(s.space.Repeated,
		func(a, b capture.RepeatedReservations) int { return cmp.Compare(bytes(b), bytes(a)) })
	s.space.Repeated = s.space.Repeated[:min(len(s.space.Repeated), maxRepeated)]
}

// warn says what limits the numbers.
func (s *snapshot) warn(c *capture.Capture) {
	for _, w := range []struct {
		code    capture.Code
		t       tally
		message string
	}{
		{capture.Malformed, s.malformed, "%d regions have no size, or a number that is none, and are not counted"},
		{capture.Inconsistent, s.disorder, "%d regions overlap those before them: what they share is counted twice"},
		{capture.Inconsistent, s.differing,
			"the blocks of %d reservations do not make their sums; the sums of the reservations count"},
	} {
		if w.t.n > 0 {
			c.Warnings = append(c.Warnings, capture.Warning{Code: w.code, Message: fmt.Sprintf(w.message, w.t.n), Count: w.t.n,
				Place: fmt.Sprintf("line %d", w.t.line)})
		}
	}
	if s.homeless > 0 {
		c.Warnings = append(c.Warnings, capture.Warning{Code: capture.Truncated, Count: s.homeless,
			Message: fmt.Sprintf("the file has more heaps than can be told: %d regions are in the sums of the space and in no heap", s.homeless)})
	}
	if s.cut > 0 {
		c.Warnings = append(c.Warnings,
			capture.Warning{Code: capture.Truncated, Count: 1, Place: fmt.Sprintf("line %d", s.cut),
				Message: "the file ends inside this snapshot: the regions behind that are missing, save it again"})
	}
}

func sortedKeys[V any](m map[int64]V) []int64 {
	keys := make([]int64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// sum adds sizes, none of which is negative, and stops at the largest number there is.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
