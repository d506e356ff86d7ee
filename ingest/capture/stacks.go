package capture

import "slices"

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
	// Module is 1 + the index in Capture.Modules of a former module, which had the address when the stack was recorded;
	// 0 where the address tells the module.
	Module uint32
}

// A FrameText is a frame as the evidence spells it.
type FrameText struct {
	Module   string // as the evidence prints it before the "!"; "" where it prints none
	Function string // "" where the evidence could not name it
	Offset   uint64 // of the return address from the function's start, or from the module's where Function is ""
	File     string // source file; "" for none
	Line     uint32 // 0 for none
	Inline   bool   // it was inlined into the next frame outwards
}

// Stacks interns frames and stacks: equal ones are stored once. The zero value is ready for use.
// It is not safe for concurrent writers.
type Stacks struct {
	frames frameList
	texts  []FrameText // [0] is unused
	flat   []FrameID   // all stacks, one behind the other, innermost frame first
	ends   []uint32    // ends[id] is the end of stack id in flat; ends[NoStack] is 0

	frameIDs index
	stackIDs index
	textIDs  map[FrameText]uint32
	touched  uint64
}

// FrameCount is the number of distinct frames; they are numbered from 0.
func (s *Stacks) FrameCount() int { return s.frames.n }

// Count is the number of distinct stacks, the empty one included; they are numbered from 0.
func (s *Stacks) Count() int { return max(1, len(s.ends)) }

// Frame returns the frame with the given id.
func (s *Stacks) Frame(id FrameID) Frame { return *s.frames.at(uint32(id)) }

// Text returns a frame's text, or nil where the evidence had an address only.
func (s *Stacks) Text(f Frame) *FrameText {
	if f.Text == 0 {
		return nil
	}
	return &s.texts[f.Text]
}

// HasTexts reports whether any frame has text.
func (s *Stacks) HasTexts() bool { return len(s.texts) > 0 }

// Stack returns a stack's frames, innermost first. The slice is shared and must not be written to.
func (s *Stacks) Stack(id StackID) []FrameID {
	if id == NoStack {
		return nil
	}
	return s.flat[s.ends[id-1]:s.ends[id]:s.ends[id]]
}

// AddAddress interns the frame of a return address.
func (s *Stacks) AddAddress(address uint64) FrameID { return s.add(Frame{Address: address}) }

// AddAddresses interns the frames of return addresses and appends their ids to ids. It is faster than a call of
// AddAddress for each: the table's slots of all of them are on their way from memory at the same time.
func (s *Stacks) AddAddresses(ids []FrameID, addresses []uint64) []FrameID {
	if n := uint64(len(s.frameIDs.slots)); n > 0 {
		var touched uint64
		for _, a := range addresses {
			touched |= s.frameIDs.slots[uint64(hashFrame(Frame{Address: a}))&(n-1)]
		}
		s.touched = touched // keeps the compiler from leaving the loop out
	}
	for _, a := range addresses {
		ids = append(ids, s.add(Frame{Address: a}))
	}
	return ids
}

// AddFormer interns the frame of a return address in a former module, an index into Capture.Modules.
func (s *Stacks) AddFormer(address uint64, module int) FrameID {
	return s.add(Frame{Address: address, Module: uint32(module) + 1})
}

// AddText interns a frame that came symbolised; address is 0 where the evidence does not print it.
// Text holds on to the strings it is given.
func (s *Stacks) AddText(text FrameText, address uint64) FrameID {
	if s.textIDs == nil {
		s.textIDs = make(map[FrameText]uint32, len(s.texts))
		if len(s.texts) == 0 {
			s.texts = append(s.texts, FrameText{})
		}
		for id := 1; id < len(s.texts); id++ {
			s.textIDs[s.texts[id]] = uint32(id)
		}
	}
	id, ok := s.textIDs[text]
	if !ok {
		id = uint32(len(s.texts))
		s.texts = append(s.texts, text)
		s.textIDs[text] = id
	}
	return s.add(Frame{Address: address, Text: id})
}

// Trim frees the memory that only adding needs, which is more than what frames and stacks take. The next Add after it
// builds that again, once.
func (s *Stacks) Trim() {
	s.flat, s.ends = slices.Clip(s.flat), slices.Clip(s.ends)
	s.frameIDs.free()
	s.stackIDs.free()
	s.frameIDs, s.stackIDs, s.textIDs = index{}, index{}, nil
}

// reindex undoes Trim.
func (s *Stacks) reindex() {
	for row := range uint32(s.frames.n) {
		hash := hashFrame(*s.frames.at(row))
		s.frameIDs.fill(s.frameIDs.find(hash, func(uint32) bool { return false }), hash, row)
	}
	for id := StackID(1); int(id) < s.Count(); id++ {
		hash := hashStack(s.Stack(id))
		s.stackIDs.fill(s.stackIDs.find(hash, func(uint32) bool { return false }), hash, uint32(id))
	}
}

func hashStack(frames []FrameID) uint32 {
	sum := uint64(len(frames))
	for _, f := range frames {
		sum = mix(sum ^ uint64(f))
	}
	return uint32(sum)
}

// hashFrame keeps address and text apart by a number that is not known, else an address could make up for a text.
func hashFrame(f Frame) uint32 {
	return uint32(mix(f.Address ^ (uint64(f.Module)<<32|uint64(f.Text))*salt))
}

func (s *Stacks) add(f Frame) FrameID {
	if s.frameIDs.slots == nil && s.frames.n > 0 {
		s.reindex()
	}
	hash := hashFrame(f)
	slot := s.frameIDs.find(hash, func(row uint32) bool { return *s.frames.at(row) == f })
	if *slot != 0 {
		return FrameID(rowIn(slot))
	}
	row := s.frames.add(f)
	s.frameIDs.fill(slot, hash, row)
	return FrameID(row)
}

// AddStack interns a stack, innermost frame first. No frames give NoStack.
func (s *Stacks) AddStack(frames []FrameID) StackID {
	if len(frames) == 0 {
		return NoStack
	}
	if len(s.ends) == 0 {
		s.ends = append(s.ends, 0)
	} else if s.stackIDs.slots == nil {
		s.reindex()
	}
	hash := hashStack(frames)
	slot := s.stackIDs.find(hash, func(row uint32) bool { return slices.Equal(s.Stack(StackID(row)), frames) })
	if *slot != 0 {
		return StackID(rowIn(slot))
	}
	if len(s.flat)+len(frames) > cap(s.flat) {
		s.flat = slices.Grow(s.flat, max(64, len(s.flat), len(frames)))
	}
	s.flat = append(s.flat, frames...)
	s.ends = append(s.ends, uint32(len(s.flat)))
	s.stackIDs.fill(slot, hash, uint32(len(s.ends)-1))
	return StackID(len(s.ends) - 1)
}
