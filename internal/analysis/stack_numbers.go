package analysis

import (
	"encoding/binary"
	"hash/maphash"
)

// A stackNumber stands for the content of a stack, or of what a site has in its place; 0 is none.
type stackNumber int32

// stackNumbers numbers what stacks hold. Equal content has one number in all captures of a series. A stack is found by
// 128 bits of two hashes whose seeds nobody knows, so that no evidence can choose two that collide.
type stackNumbers struct {
	seeds   [2]maphash.Seed
	known   map[[2]uint64]stackNumber
	modules map[moduleName]uint64
	texts   map[textFrame]uint64
	content []byte // of the stack that is being told
}

// A moduleName tells modules apart. Another size is another build: its offsets mean other code.
type moduleName struct {
	lower string
	size  uint64
}

// A textFrame is a frame that is identified by its text.
type textFrame struct {
	lowerModule, function string
	offset                uint64
}

// What the first of the two words of a frame ends in; above it stands a number.
const (
	wordOffset = 1 + iota
	wordText
	wordAddress
	wordBits = 2
)

// Content that is no stack begins with one of these words. No frame has such a word.
const (
	wordJoint = (1 + iota) << wordBits
	wordID
)

func newStackNumbers() *stackNumbers {
	return &stackNumbers{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, known: map[[2]uint64]stackNumber{},
		modules: map[moduleName]uint64{}, texts: map[textFrame]uint64{},
	}
}

// numberIn is the number of a key, which gets the next one where it has none.
func numberIn[K comparable](known map[K]uint64, key K) uint64 {
	n, ok := known[key]
	if !ok {
		n = uint64(len(known))
		known[key] = n
	}
	return n
}

// module is the number of a module.
func (s *stackNumbers) module(lower string, size uint64) uint64 {
	return numberIn(s.modules, moduleName{lower, size})
}

func (s *stackNumbers) begin() { s.content = s.content[:0] }

func (s *stackNumbers) words(a, b uint64) {
	s.content = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(s.content, a), b)
}

func (s *stackNumbers) offset(module, offset uint64) { s.words(module<<wordBits|wordOffset, offset) }
func (s *stackNumbers) text(f textFrame)             { s.words(numberIn(s.texts, f)<<wordBits|wordText, 0) }
func (s *stackNumbers) address(address uint64)       { s.words(wordAddress, address) }

// end is the number of what was told since begin.
func (s *stackNumbers) end() stackNumber {
	key := [2]uint64{maphash.Bytes(s.seeds[0], s.content), maphash.Bytes(s.seeds[1], s.content)}
	n, ok := s.known[key]
	if !ok {
		n = stackNumber(len(s.known) + 1)
		s.known[key] = n
	}
	return n
}

// joint is the number of a set of candidate stacks, sorted and each once: that of the only one, or one of their own.
func (s *stackNumbers) joint(candidates []stackNumber) stackNumber {
	switch len(candidates) {
	case 0:
		return 0
	case 1:
		return candidates[0]
	}
	s.begin()
	s.words(wordJoint, uint64(len(candidates)))
	for _, c := range candidates {
		s.words(uint64(c), 0)
	}
	return s.end()
}

// id is the number of a stack of which nothing but its id is known, in one life of the process.
func (s *stackNumbers) id(life int, trace uint64) stackNumber {
	s.begin()
	s.words(wordID, uint64(life))
	s.words(trace, 0)
	return s.end()
}
