package compare

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"heapdrift/internal/analysis"
)

// Seen is every frame that the signatures of a side are made of, leaking or not: whether a leak that is gone would have been
// seen. Frames are kept as hashes, because a run has tens of thousands.
type Seen map[uint64]struct{}

// SeenIn is what the findings of a report show.
func SeenIn(findings []analysis.Finding) Seen {
	s := Seen{}
	for i := range findings {
		s.add(findings[i].Frames)
	}
	return s
}

func (s Seen) add(frames []string) {
	for _, f := range frames {
		s[hash(f)] = struct{}{}
	}
}

// Has reports whether a frame was seen.
func (s Seen) Has(frame string) bool {
	_, ok := s[hash(frame)]
	return ok
}

func hash(frame string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(frame)) // never fails
	return h.Sum64()
}

// Bytes are the hashes, ascending, eight bytes each, little-endian.
func (s Seen) Bytes() []byte {
	b := make([]byte, 0, 8*len(s))
	for _, h := range slices.Sorted(maps.Keys(s)) {
		b = binary.LittleEndian.AppendUint64(b, h)
	}
	return b
}

// Take adds what Bytes gave.
func (s Seen) Take(b []byte) error {
	if len(b)%8 != 0 {
		return fmt.Errorf("compare: %d bytes are no list of frames", len(b))
	}
	for ; len(b) > 0; b = b[8:] {
		s[binary.LittleEndian.Uint64(b)] = struct{}{}
	}
	return nil
}
