package capture

import (
	"hash/maphash"
	"slices"
)

// A FrameID identifies an interned frame within its capture.
type FrameID uint32

// A StackID identifies an interned stack within its capture.
type StackID uint32

// NoStack is the empty stack: nothing was recorded.
const NoStack StackID = 0

// A Frame is one return address, or text for evidence that came symbolised, or both.
type Frame struct {
	Address uint64 // return address; 0 where only text is known
	Text    uint32 // index for Stacks.Text; 0 for none
}

// A Text is a frame as the evidence spells it.
type Text struct {
	Module   string
	Function string // "" where the evidence could not name it
	Offset   uint64 // of the return address from the function's start, or from the module's where Function is ""
	File     string
	Line     uint32 // 0 for none
	Inline   bool
}

// Stacks interns frames and stacks: equal ones are stored once. The zero value is ready for use.
// It is not safe for concurrent writers.
type Stacks struct {
	frames []Frame
	texts  []Text    // [0] is unused
	flat   []FrameID // all stacks, one behind the other, innermost frame first
	ends   []uint32  // ends[id] is the end of stack id in flat; ends[NoStack] is 0

	frameIDs map[Frame]FrameID
	textIDs  map[Text]uint32
	stackIDs map[uint64][]StackID // by hash of the frame ids
	seed     maphash.Seed
}

// FrameCount is the number of distinct frames; they are numbered from 0.
func (s *Stacks) FrameCount() int { return len(s.frames) }

// Count is the number of distinct stacks, the empty one included; they are numbered from 0.
func (s *Stacks) Count() int { return max(1, len(s.ends)) }

// Frame returns the frame with the given id.
func (s *Stacks) Frame(id FrameID) Frame { return s.frames[id] }

// Text returns a frame's text, or nil where the evidence had an address only.
func (s *Stacks) Text(f Frame) *Text {
	if f.Text == 0 {
		return nil
	}
	return &s.texts[f.Text]
}

// Stack returns a stack's frames, innermost first. The slice is shared and must not be written to.
func (s *Stacks) Stack(id StackID) []FrameID {
	if id == NoStack {
		return nil
	}
	return s.flat[s.ends[id-1]:s.ends[id]:s.ends[id]]
}

// AddAddress interns the frame of a return address.
func (s *Stacks) AddAddress(address uint64) FrameID { return s.add(Frame{Address: address}) }

// AddText interns a frame that came symbolised; address is 0 where the evidence does not print it.
// Text holds on to the strings it is given.
func (s *Stacks) AddText(text Text, address uint64) FrameID {
	if s.textIDs == nil {
		s.textIDs = map[Text]uint32{}
		s.texts = append(s.texts[:0], Text{})
	}
	id, ok := s.textIDs[text]
	if !ok {
		id = uint32(len(s.texts))
		s.texts = append(s.texts, text)
		s.textIDs[text] = id
	}
	return s.add(Frame{Address: address, Text: id})
}

func (s *Stacks) add(f Frame) FrameID {
	if s.frameIDs == nil {
		s.frameIDs = map[Frame]FrameID{}
	}
	id, ok := s.frameIDs[f]
	if !ok {
		id = FrameID(len(s.frames))
		s.frames = append(s.frames, f)
		s.frameIDs[f] = id
	}
	return id
}

// AddStack interns a stack, innermost frame first. No frames give NoStack.
func (s *Stacks) AddStack(frames []FrameID) StackID {
	if len(frames) == 0 {
		return NoStack
	}
	if s.stackIDs == nil {
		s.stackIDs, s.seed = map[uint64][]StackID{}, maphash.MakeSeed()
	}
	if len(s.ends) == 0 {
		s.ends = append(s.ends, 0)
	}
	hash := s.hash(frames)
	for _, id := range s.stackIDs[hash] {
		if slices.Equal(s.Stack(id), frames) {
			return id
		}
	}
	id := StackID(len(s.ends))
	s.flat = append(s.flat, frames...)
	s.ends = append(s.ends, uint32(len(s.flat)))
	s.stackIDs[hash] = append(s.stackIDs[hash], id)
	return id
}

func (s *Stacks) hash(frames []FrameID) uint64 {
	h := uint64(len(frames))
	for _, f := range frames {
		h = h*0x9E3779B97F4A7C15 ^ maphash.Comparable(s.seed, f)
	}
	return h
}
