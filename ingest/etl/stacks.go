package etl

import (
	"bytes"
	"hash/maphash"
	"math/rand/v2"
)

// A StackID names a stack of a trace; NoStack is none. Equal stacks may have several ids: one that came as a kernel
// part and a user part has its own, and so has one of a key that was not defined. Canonical gives equal stacks equal
// ids.
type StackID uint32

// NoStack says that no stack was recorded.
const NoStack StackID = 0

// A stackNode is what an id stands for.
type stackNode struct {
	form stackForm
	a, b uint32 // addresses: the numbers of the first in Stacks.flat and of the one behind the last; pair: kernel and user part; alias: a alone
}

type stackForm uint8

const (
	formAddresses stackForm = iota
	formUnknown             // of a key that was not defined yet
	formPair
	formAlias // a: another stack, which has the same addresses
)

// Stacks holds the stacks of a trace, equal ones once. Addresses are return addresses, innermost first.
type Stacks struct {
	nodes []stackNode
	flat  []byte // addresses, 8 bytes each
	slots []slot // hash table of the nodes that hold addresses or pairs; a power of two
	used  int
	seed  maphash.Seed
	salt  uint64 // the seed of pairs
	work  []uint64
	wide  []byte
}

// A slot is the upper half of a hash, and the id of what has it; the id is never 0 in a slot that is taken.
type slot struct {
	tag uint32
	id  StackID
}

func newStacks() *Stacks {
	return &Stacks{nodes: []stackNode{{}}, slots: make([]slot, 1<<10), seed: maphash.MakeSeed(), salt: rand.Uint64()}
}

// Len is one more than the largest id.
func (s *Stacks) Len() int { return len(s.nodes) }

// Append appends the addresses of a stack to to: those in the kernel, then those of the process. Parts whose key was
// not defined are missing.
func (s *Stacks) Append(to []uint64, id StackID) []uint64 {
	switch n := s.nodes[id]; n.form {
	case formUnknown:
		return to
	case formPair:
		return s.Append(s.Append(to, StackID(n.a)), StackID(n.b))
	case formAlias:
		return s.Append(to, StackID(n.a))
	default:
		for b := s.addresses(n); len(b) > 0; b = b[addressSize:] {
			to = append(to, le.Uint64(b))
		}
		return to
	}
}

// Canonical returns the one id that all stacks with the same addresses share. That id may not have been given to an
// event before.
func (s *Stacks) Canonical(id StackID) StackID {
	if n := s.nodes[id]; n.form == formAddresses {
		return id
	}
	s.work = s.Append(s.work[:0], id)
	s.wide = s.wide[:0]
	for _, a := range s.work {
		s.wide = le.AppendUint64(s.wide, a)
	}
	return s.intern(s.wide)
}

// Plain reports whether Canonical returns the id itself.
func (s *Stacks) Plain(id StackID) bool { return id != NoStack && s.nodes[id].form == formAddresses }

// intern returns the id of a stack, whose addresses lie in b as 8 bytes each.
func (s *Stacks) intern(b []byte) StackID {
	b = b[:len(b)&^(addressSize-1)]
	if len(b) == 0 {
		return NoStack
	}
	at, hash := s.find(b)
	if id := s.slots[at].id; id != NoStack {
		return id
	}
	s.nodes = append(s.nodes, s.keep(b))
	return s.put(at, hash, StackID(len(s.nodes)-1))
}

// find returns the slot of a stack, free where it is not known.
func (s *Stacks) find(b []byte) (at int, hash uint64) {
	hash = maphash.Bytes(s.seed, b)
	mask := len(s.slots) - 1
	at = int(hash) & mask
	for s.slots[at].id != NoStack && (s.slots[at].tag != uint32(hash>>32) || !s.holds(s.slots[at].id, b)) {
		at = (at + 1) & mask
	}
	return at, hash
}

// keep keeps addresses.
func (s *Stacks) keep(b []byte) stackNode {
	start := uint32(len(s.flat) / addressSize)
	s.flat = append(s.flat, b...)
	return stackNode{formAddresses, start, start + uint32(len(b)/addressSize)}
}

// define gives a stack of which only a key was known its addresses. Others are left alone.
func (s *Stacks) define(id StackID, b []byte) {
	if id == NoStack || s.nodes[id].form != formUnknown || len(b) == 0 {
		return
	}
	at, hash := s.find(b)
	if known := s.slots[at].id; known != NoStack {
		s.nodes[id] = stackNode{form: formAlias, a: uint32(known)}
		return
	}
	s.nodes[id] = s.keep(b)
	s.put(at, hash, id)
}

// addressSize is how many bytes an address has where stacks are compared.
const addressSize = 8

// addresses are those of a node that holds addresses.
func (s *Stacks) addresses(n stackNode) []byte {
	return s.flat[int(n.a)*addressSize : int(n.b)*addressSize]
}

// holds reports whether a node holds the addresses that lie in b.
func (s *Stacks) holds(id StackID, b []byte) bool {
	n := s.nodes[id]
	return n.form == formAddresses && int(n.b-n.a)*addressSize == len(b) && bytes.Equal(s.addresses(n), b)
}

// pair returns the id of a stack made of a part in the kernel and one of the process.
func (s *Stacks) pair(kernel, user StackID) StackID {
	if kernel == NoStack || user == NoStack {
		return kernel | user
	}
	want := stackNode{formPair, uint32(kernel), uint32(user)}
	hash := s.hashPair(want)
	mask := len(s.slots) - 1
	at := int(hash) & mask
	for ; s.slots[at].id != NoStack; at = (at + 1) & mask {
		if s.nodes[s.slots[at].id] == want {
			return s.slots[at].id
		}
	}
	s.nodes = append(s.nodes, want)
	return s.put(at, hash, StackID(len(s.nodes)-1))
}

// unknown returns the id of a stack of which only a key is known.
func (s *Stacks) unknown() StackID {
	s.nodes = append(s.nodes, stackNode{form: formUnknown})
	return StackID(len(s.nodes) - 1)
}

// put enters a node at a free slot.
func (s *Stacks) put(at int, hash uint64, id StackID) StackID {
	s.slots[at] = slot{uint32(hash >> 32), id}
	if s.used++; s.used*2 >= len(s.slots) {
		s.grow()
	}
	return id
}

// grow doubles the hash table.
func (s *Stacks) grow() {
	old := s.slots
	s.slots = make([]slot, 2*len(old))
	mask := len(s.slots) - 1
	for _, x := range old {
		if x.id == NoStack {
			continue
		}
		at := int(s.hash(x.id)) & mask
		for s.slots[at].id != NoStack {
			at = (at + 1) & mask
		}
		s.slots[at] = x
	}
}

// hash is what intern and pair use.
func (s *Stacks) hash(id StackID) uint64 {
	n := s.nodes[id]
	if n.form == formPair {
		return s.hashPair(n)
	}
	return maphash.Bytes(s.seed, s.addresses(n))
}

// hashPair spreads the bits of a pair (the finalizer of splitmix64). Which parts meet is the trace's choice, which of
// them fall together in the table is not.
func (s *Stacks) hashPair(n stackNode) uint64 {
	x := (uint64(n.a)<<32 | uint64(n.b)) ^ s.salt
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
