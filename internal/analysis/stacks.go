package analysis

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"heapdrift/internal/analysis/blame"
)

// A StackRef names a stack of a report: one more than its index in Report.Stacks, so that the zero value names none. In
// JSON it is the index, and −1 for none.
type StackRef int32

// MarshalJSON writes the index.
func (s StackRef) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, int64(s)-1, 10), nil }

// UnmarshalJSON reads the index.
func (s *StackRef) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || n < -1 || n == math.MaxInt32 {
		return fmt.Errorf("analysis: %q is no number of a stack", text)
	}
	*s = StackRef(n + 1)
	return nil
}

// Stacks are the stacks of a report and their frames, each stored once, as numbers: a *Frame is made when it is asked
// for.
type Stacks struct {
	rows  []frameRow
	texts []string     // names of modules, functions, files and types; texts[0] is ""
	marks []blame.Mark // marks[0] is that of a frame without a layer
	list  []uint32     // frames of all stacks, one behind the other, innermost first
	ends  []uint32     // by stack, where it ends in list

	textIDs map[string]uint32
	markIDs map[blame.Mark]uint16
	added   *stackIndex // of Add; nil until then
}

// A frameRow is a Frame in numbers.
type frameRow struct {
	address, offset              uint64
	module, function, file, kind uint32 // of texts; kind is Frame.Type
	line                         uint32
	mark                         uint16 // of marks
	flags                        rowFlags
}

type rowFlags uint8

const (
	rowInline rowFlags = 1 << iota
	rowApprox
	rowHasAddress
	rowHasOffset
)

// stackIndex finds what Add has added.
type stackIndex struct {
	rows   map[frameRow]uint32
	stacks map[string]StackRef // by the numbers of the frames
}

func newStacks() *Stacks {
	return &Stacks{texts: []string{""}, marks: []blame.Mark{{}}, textIDs: map[string]uint32{"": 0},
		markIDs: map[blame.Mark]uint16{{}: 0}}
}

// Count is the number of stacks; nil has none.
func (s *Stacks) Count() int {
	if s == nil {
		return 0
	}
	return len(s.ends)
}

// FrameCount is the number of distinct frames; nil has none.
func (s *Stacks) FrameCount() int {
	if s == nil {
		return 0
	}
	return len(s.rows)
}

// FrameNumbers are the frames of a stack, innermost first, as numbers for Frame. The slice is shared and must not be
// written to.
func (s *Stacks) FrameNumbers(ref StackRef) []uint32 {
	if ref <= 0 {
		return nil
	}
	from := uint32(0)
	if ref > 1 {
		from = s.ends[ref-2]
	}
	return s.list[from:s.ends[ref-1]:s.ends[ref-1]]
}

// Frame makes the frame with this number.
func (s *Stacks) Frame(number uint32) *Frame {
	r := &s.rows[number]
	m := &s.marks[r.mark]
	f := &Frame{
		Module: s.texts[r.module], Function: s.texts[r.function], File: s.texts[r.file], Line: r.line,
		Inline: r.flags&rowInline != 0,
		Layer:  m.Layer, Rule: m.Rule, Type: s.texts[r.kind], Approx: r.flags&rowApprox != 0,
	}
	if r.flags&rowHasOffset != 0 {
		f.Offset = hexNumber(r.offset)
	}
	if r.flags&rowHasAddress != 0 {
		f.Address = hexNumber(r.address)
	}
	return f
}

// Frames makes the frames of a stack, innermost first.
func (s *Stacks) Frames(ref StackRef) []*Frame {
	numbers := s.FrameNumbers(ref)
	frames := make([]*Frame, len(numbers))
	for i, n := range numbers {
		frames[i] = s.Frame(n)
	}
	return frames
}

// Add adds a stack, innermost frame first; a stack that is there already keeps its ref. No frames give the zero
// StackRef. Offsets and addresses are as a report writes them, or "".
func (s *Stacks) Add(frames []*Frame) (StackRef, error) {
	if len(frames) == 0 {
		return 0, nil
	}
	numbers := make([]uint32, len(frames))
	for i, f := range frames {
		if f == nil {
			return 0, fmt.Errorf("analysis: frame %d of a stack is missing", i)
		}
		n, err := s.addFrame(f)
		if err != nil {
			return 0, err
		}
		numbers[i] = n
	}
	return s.addNumbers(numbers), nil
}

func (s *Stacks) addFrame(f *Frame) (uint32, error) {
	r, err := s.row(f)
	if err != nil {
		return 0, err
	}
	n, ok := s.index().rows[r]
	if !ok {
		n = s.appendRow(r)
	}
	return n, nil
}

// row is a frame in numbers.
func (s *Stacks) row(f *Frame) (frameRow, error) {
	r := frameRow{
		module: s.text(f.Module), function: s.text(f.Function), file: s.text(f.File), kind: s.text(f.Type), line: f.Line,
		mark: s.mark(blame.Mark{Layer: f.Layer, Rule: f.Rule}),
	}
	if len(s.marks) > undecidedMark { // a project has fewer rules
		return r, fmt.Errorf("analysis: frames of more than %d rules", undecidedMark)
	}
	var err error
	if r.offset, err = r.hex(f.Offset, rowHasOffset); err != nil {
		return r, fmt.Errorf("analysis: offset of a frame: %w", err)
	}
	if r.address, err = r.hex(f.Address, rowHasAddress); err != nil {
		return r, fmt.Errorf("analysis: address of a frame: %w", err)
	}
	if f.Inline {
		r.flags |= rowInline
	}
	if f.Approx {
		r.flags |= rowApprox
	}
	return r, nil
}

// appendRow adds a frame, which may be there.
func (s *Stacks) appendRow(r frameRow) uint32 {
	n := uint32(len(s.rows))
	s.rows = append(s.rows, r)
	if s.added != nil {
		s.added.rows[r] = n
	}
	return n
}

// appendStack adds a stack, which may be there.
func (s *Stacks) appendStack(numbers []uint32) StackRef {
	s.list = append(s.list, numbers...)
	s.ends = append(s.ends, uint32(len(s.list)))
	ref := StackRef(len(s.ends))
	if s.added != nil {
		s.added.stacks[string(stackKey(numbers))] = ref
	}
	return ref
}

// stackKey is what stacks are found by.
func stackKey(numbers []uint32) []byte {
	key := make([]byte, 0, 4*len(numbers))
	for _, n := range numbers {
		key = binary.LittleEndian.AppendUint32(key, n)
	}
	return key
}

// hex reads a number that hexNumber wrote; "" is none.
func (r *frameRow) hex(text string, has rowFlags) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	v, err := strconv.ParseUint(text, 0, 64)
	if err == nil && hexNumber(v) != text {
		err = fmt.Errorf("%q is no hexadecimal number", text)
	}
	r.flags |= has
	return v, err
}

func (s *Stacks) addNumbers(numbers []uint32) StackRef {
	ref, ok := s.index().stacks[string(stackKey(numbers))]
	if !ok {
		ref = s.appendStack(numbers)
	}
	return ref
}

// index is what Add finds what is there by.
func (s *Stacks) index() *stackIndex {
	if s.added == nil {
		s.added = &stackIndex{make(map[frameRow]uint32, len(s.rows)), make(map[string]StackRef, len(s.ends))}
		for i, r := range s.rows {
			s.added.rows[r] = uint32(i)
		}
		for i := range s.ends {
			ref := StackRef(i + 1)
			s.added.stacks[string(stackKey(s.FrameNumbers(ref)))] = ref
		}
	}
	return s.added
}

func (s *Stacks) text(t string) uint32 {
	id, ok := s.textIDs[t]
	if !ok {
		id = uint32(len(s.texts))
		s.texts = append(s.texts, t)
		s.textIDs[t] = id
	}
	return id
}

func (s *Stacks) mark(m blame.Mark) uint16 {
	id, ok := s.markIDs[m]
	if !ok {
		id = uint16(len(s.marks))
		s.marks = append(s.marks, m)
		s.markIDs[m] = id
	}
	return id
}

// only is the named stacks with their frames and nothing else. It gives each name its new one.
func (s *Stacks) only(names []*StackRef) *Stacks {
	out := newStacks()
	rows := map[uint32]uint32{}
	for _, name := range names {
		numbers := slices.Clone(s.FrameNumbers(*name))
		for i, n := range numbers {
			at, ok := rows[n]
			if !ok {
				at = out.take(s, n)
				rows[n] = at
			}
			numbers[i] = at
		}
		*name = 0
		if len(numbers) > 0 {
			*name = out.addNumbers(numbers)
		}
	}
	return out
}

// take adds a frame of other stacks, unless it is there.
func (s *Stacks) take(from *Stacks, number uint32) uint32 {
	r := from.rows[number]
	r.module, r.function, r.file, r.kind = s.text(from.texts[r.module]), s.text(from.texts[r.function]),
		s.text(from.texts[r.file]), s.text(from.texts[r.kind])
	r.mark = s.mark(from.marks[r.mark])
	n, ok := s.index().rows[r]
	if !ok {
		n = s.appendRow(r)
	}
	return n
}
