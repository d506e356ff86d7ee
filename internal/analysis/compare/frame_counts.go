package compare

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
)

// FrameCounts are the frames that the signatures of a run are made of, leaking or not, and how many stacks of the run
// hold each. They tell whether the run would have shown a leak that is gone. Frames are kept as hashes, because a run
// has tens of thousands. FrameCounts are empty for a run that proves nothing by what it does not show.
type FrameCounts struct {
	stacks map[uint64]uint32
	total  uint32 // stacks of the run
}

// CountFrames counts the frames of a report. The result is empty where the report proves nothing by what it does not
// show. It proves something only if its evidence lists all held blocks, or all allocations of its time, lost none of
// them, and decides: a difference, damaged evidence and too few snapshots prove nothing.
func CountFrames(r *analysis.Report) FrameCounts {
	s := FrameCounts{stacks: map[uint64]uint32{}}
	s.countLists(r.ExitLists)
	if !r.Suffices() {
		return s
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if !f.IsHeld() { // what is not in a list may have been held, and freed before the program ended
			continue
		}
		s.total += uint32(f.Sites)
		if isProvisional(f.Frames) { // its stacks may be those of any leak
			continue
		}
		for k, frame := range f.Frames {
			if !slices.Contains(f.Frames[:k], frame) {
				s.stacks[hash(frame)] += uint32(f.Sites)
			}
		}
	}
	return s
}

// StacksWith is how many stacks of the run have a frame with this name.
func (s FrameCounts) StacksWith(frame string) int { return int(s.stacks[hash(frame)]) }

// A RanFrame is a frame of a leak that ran in a build without that leak.
type RanFrame struct {
	Frame  string // its name; "" where a list of leaks at exit shows it, and no frame
	Blamed bool   // it is the blamed function, else its caller
	Stacks int    // stacks of the run that have the frame
}

// Text names the frame that shows that the leak is gone in a build.
func (c *RanFrame) Text(build string) string { return c.textFor("build " + build) }

// textFor is Text for a result by its name.
func (c *RanFrame) textFor(side string) string {
	if c.Frame == "" {
		return fmt.Sprintf("gone in %s: not in its list of leaks at exit", side)
	}
	who := "caller"
	if c.Blamed {
		who = "blamed function"
	}
	return fmt.Sprintf("gone in %s, where its %s %s ran (in %s)", side, who, c.Frame, quantity.Plural(c.Stacks, "other stack"))
}

// With manyStacks or more, a frame that more than half of them hold is a dispatcher or a message loop. That it ran
// does not show that a branch of it ran. With fewer stacks, the share means little.
const manyStacks = 20

// FindRan returns the frame that shows that code of a leak ran, in a run without the leak: the blamed function, else
// its caller; nil for none. Frames further out run for many reasons. So do entry points, the first frame of a thread,
// and a frame of most stacks. A provisional signature changes with the next build, so its absence means nothing.
func (s FrameCounts) FindRan(frames []string) *RanFrame {
	if isProvisional(frames) {
		return nil
	}
	for i, frame := range frames[:min(2, len(frames))] {
		n := s.StacksWith(frame)
		if n == 0 || blame.IsEntry(frames, i) || s.total >= manyStacks && n > int(s.total)/2 {
			continue
		}
		return &RanFrame{Frame: frame, Blamed: i == 0, Stacks: n}
	}
	return nil
}

// isProvisional reports whether a signature of the frames is provisional: a frame is an offset in a module, as blame
// has it where symbols are missing.
func isProvisional(frames []string) bool {
	return slices.ContainsFunc(frames, func(frame string) bool { return strings.Contains(frame, blame.UnnamedFrame) })
}

func hash(frame string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(frame)) // never fails
	return h.Sum64()
}

// entry is how many bytes a frame has in Bytes: its hash and the count of stacks.
const entry = 12

// Bytes encodes the counts: the number of stacks, then hash and count of each frame, by hash ascending; all
// little-endian. It is empty where nothing was seen.
func (s FrameCounts) Bytes() []byte {
	if len(s.stacks) == 0 {
		return []byte{}
	}
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+entry*len(s.stacks)), s.total)
	for _, h := range slices.Sorted(maps.Keys(s.stacks)) {
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(b, h), s.stacks[h])
	}
	return b
}

// DecodeFrameCounts decodes what Bytes gave.
func DecodeFrameCounts(b []byte) (FrameCounts, error) {
	s := FrameCounts{stacks: make(map[uint64]uint32, len(b)/entry)}
	if len(b) == 0 {
		return s, nil
	}
	if len(b)%entry != 4 {
		return s, fmt.Errorf("compare: %d bytes are no list of frames", len(b))
	}
	s.total = binary.LittleEndian.Uint32(b)
	for b = b[4:]; len(b) > 0; b = b[entry:] {
		s.stacks[binary.LittleEndian.Uint64(b)] = binary.LittleEndian.Uint32(b[8:])
	}
	return s, nil
}
