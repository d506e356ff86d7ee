package etl

import "slices"

// A StackID names a stack of a trace; NoStack is none. Ids given out during a pass name what the trace says at that
// point: an id of a key whose definition comes later, or of a kernel part and a user part. Canonical makes equal stacks
// have equal ids.
type StackID uint32

// NoStack says that no stack was recorded.
const NoStack StackID = 0

// A stackNode is what an id stands for.
type stackNode struct {
	form stackForm
	a, b uint32 // addresses: where in Stacks.flat they begin and end; key: its definition; pair: kernel and user part
}

type stackForm uint8

const (
	formAddresses stackForm = iota
	formKey
	formPair
)

// Stacks holds the stacks of a trace, equal ones once. Addresses are return addresses, innermost first.
type Stacks struct {
	nodes []stackNode
	flat  []uint64
	slots []StackID // hash table of the nodes that hold addresses or pairs; a power of two
	used  int
	work  []uint64
}

func newStacks() *Stacks {
	return &Stacks{nodes: []stackNode{{}}, slots: make([]StackID, 1<<10)}
}

// Len is one more than the largest id.
func (s *Stacks) Len() int { return len(s.nodes) }

// Append appends the addresses of a stack to to: those in the kernel, then those of the process. Parts whose key was
// never defined are missing.
func (s *Stacks) Append(to []uint64, id StackID) []uint64 {
	switch n := s.nodes[id]; n.form {
	case formKey:
		return s.Append(to, StackID(n.a))
	case formPair:
		return s.Append(s.Append(to, StackID(n.a)), StackID(n.b))
	default:
		return append(to, s.flat[n.a:n.b]...)
	}
}

// Canonical is the one id of all stacks with these addresses, once the pass that made the id has ended. It may be new.
func (s *Stacks) Canonical(id StackID) StackID {
	if n := s.nodes[id]; n.form == formAddresses {
		return id
	}
	s.work = s.Append(s.work[:0], id)
	return s.intern(s.work)
}

// Complete reports whether every key of the stack was defined.
func (s *Stacks) Complete(id StackID) bool {
	switch n := s.nodes[id]; n.form {
	case formKey:
		return n.a != 0
	case formPair:
		return s.Complete(StackID(n.a)) && s.Complete(StackID(n.b))
	}
	return true
}

// intern returns the id of a stack.
func (s *Stacks) intern(addresses []uint64) StackID {
	if len(addresses) == 0 {
		return NoStack
	}
	hash := uint64(len(addresses))
	for _, a := range addresses {
		hash = mix(hash ^ a)
	}
	slot := s.find(hash, func(n stackNode) bool {
		return n.form == formAddresses && int(n.b-n.a) == len(addresses) && slices.Equal(s.flat[n.a:n.b], addresses)
	})
	if s.slots[slot] == 0 {
		start := uint32(len(s.flat))
		s.flat = append(s.flat, addresses...)
		s.put(slot, stackNode{formAddresses, start, uint32(len(s.flat))})
		return StackID(len(s.nodes) - 1)
	}
	return s.slots[slot]
}

// pair returns the id of a stack made of a part in the kernel and one of the process.
func (s *Stacks) pair(kernel, user StackID) StackID {
	if kernel == NoStack || user == NoStack {
		return kernel | user
	}
	want := stackNode{formPair, uint32(kernel), uint32(user)}
	slot := s.find(mix(uint64(kernel)<<32|uint64(user)), func(n stackNode) bool { return n == want })
	if s.slots[slot] == 0 {
		s.put(slot, want)
		return StackID(len(s.nodes) - 1)
	}
	return s.slots[slot]
}

// pending returns the id of a stack of which only a key is known yet.
func (s *Stacks) pending() StackID {
	s.nodes = append(s.nodes, stackNode{form: formKey})
	return StackID(len(s.nodes) - 1)
}

// define says what the key of a pending stack stands for.
func (s *Stacks) define(id, definition StackID) { s.nodes[id].a = uint32(definition) }

// find looks for a node; the slot it returns is that of the node, or a free one.
func (s *Stacks) find(hash uint64, equal func(stackNode) bool) int {
	mask := len(s.slots) - 1
	at := int(hash) & mask
	for s.slots[at] != 0 && !equal(s.nodes[s.slots[at]]) {
		at = (at + 1) & mask
	}
	return at
}

// put adds a node at a free slot.
func (s *Stacks) put(slot int, n stackNode) {
	s.nodes = append(s.nodes, n)
	s.slots[slot] = StackID(len(s.nodes) - 1)
	if s.used++; s.used*2 < len(s.slots) {
		return
	}
	old := s.slots
	s.slots = make([]StackID, 2*len(old))
	for _, id := range old {
		if id != 0 {
			s.slots[s.find(s.hash(s.nodes[id]), func(stackNode) bool { return false })] = id
		}
	}
}

// hash is what intern and pair use.
func (s *Stacks) hash(n stackNode) uint64 {
	if n.form == formPair {
		return mix(uint64(n.a)<<32 | uint64(n.b))
	}
	hash := uint64(n.b - n.a)
	for _, a := range s.flat[n.a:n.b] {
		hash = mix(hash ^ a)
	}
	return hash
}

// mix spreads the bits of x (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
