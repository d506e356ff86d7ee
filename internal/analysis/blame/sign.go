package blame

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
)

// maxFrames is how many frames with a name a signature has at most: the blame frame and four of its callers. More would
// tell leaks of one cause apart by who came by; fewer would merge those of a shared helper.
const maxFrames = 5

// A Signature is the identity of a leak. It depends on names alone, so that the same leak has the same signature in
// another run, another build and another kind of evidence. Where a compiler leaves frames out, because the last call of
// a function became a jump or evidence has no inline frames, the leak has another signature: FindReplacements finds it
// again.
type Signature struct {
	ID    string // "sig1:" and 32 hex digits
	Fine  string // finer: of the whole stack but the allocator's frames and the thread's start; a form as ID
	Leaf  string // coarser: of the origin and the blamed frame alone; a form as ID
	Title string // for people: origin via plumbing | blamed frame; at most 255 characters
	// Frames are the names that the signature is made of, the blamed frame first. Used are their indexes in the stack.
	Frames []string
	Used   []int
	// Provisional says that a frame of Frames has no name: the signature holds for one build, and symbols will replace
	// it.
	Provisional bool
}

// A Signer makes the signatures or ids of many stacks in memory of its own. It is for one goroutine.
type Signer struct {
	h    hasher
	used []int
}

// Sign makes the signature of a stack that was placed: of the frame to blame and the next frames toward the root of the
// same layer. Plumbing and other layers between them are left out, recursion counts once, and so does a lambda that is
// called by the function it is written in.
//
// The last is for stability: where the compiler inlines such a lambda and the evidence has no inline frames, as the
// text of UMDH, only the function remains. The frame to blame is still the lambda, because its file and line say more.
func Sign(kind string, stack []*Class, p MarkedStack) Signature {
	return new(Signer).Sign(kind, stack, p)
}

// Sign is the function Sign, in the memory of the Signer.
func (s *Signer) Sign(kind string, stack []*Class, p MarkedStack) Signature {
	var out Signature
	h := &s.h
	if p.Blame < 0 || p.Blame >= len(stack) || len(p.Marks) != len(stack) {
		out.Title = "no stack"
		out.ID, out.Fine, out.Leaf = h.sum("id", kind, nil), h.sum("fine", kind, nil), h.sum("leaf", kind, nil)
		return out
	}
	out.Used = appendUsed(make([]int, 0, 16), stack, p)
	out.Frames = make([]string, len(out.Used))
	for i, at := range out.Used {
		out.Frames[i] = stack[at].Name()
		out.Provisional = out.Provisional || stack[at].Unnamed
	}
	out.ID = h.sum("id", kind, stack, out.Used...)
	out.Leaf = h.sum("leaf", kind, stack, out.Used[0], p.Origin)
	s.used = appendFine(s.used[:0], stack, p)
	out.Fine = h.sum("fine", kind, stack, s.used...)
	out.Title = title(stack, p, stack[out.Used[0]])
	return out
}

// SignatureID is the ID of the signature that Sign makes.
func SignatureID(kind string, stack []*Class, p MarkedStack) string {
	return new(Signer).SignatureID(kind, stack, p)
}

// SignatureID is the function SignatureID, in the memory of the Signer.
func (s *Signer) SignatureID(kind string, stack []*Class, p MarkedStack) string {
	if p.Blame < 0 || p.Blame >= len(stack) || len(p.Marks) != len(stack) {
		return s.h.sum("id", kind, nil)
	}
	s.used = appendUsed(s.used[:0], stack, p)
	return s.h.sum("id", kind, stack, s.used...)
}

// appendUsed chooses the frames that a signature is made of, in a list that is empty.
func appendUsed(list []int, stack []*Class, p MarkedStack) []int {
	layer := p.Marks[p.Blame].Layer
	if !layer.isOrigin() {
		return append(list, p.Blame)
	}
	for i := p.Blame; i < len(stack); i++ {
		if p.Marks[i].Layer != layer {
			continue
		}
		for n := len(list); n > 0 && stack[list[n-1]].isWithin(stack[i]); n-- {
			list = list[:n-1]
		}
		list = eraseLoop(append(list, i), stack)
	}
	return cut(list, stack)
}

// isWithin reports whether a frame is a lambda that is written in the function of another.
func (c *Class) isWithin(other *Class) bool {
	return c.scope != "" && !other.Unnamed && c.scope == other.name
}

// cut keeps as many frames as a signature has. Those without a name do not count: several of them may be the allocator
// of which nobody knows it, and behind them two leaks may part. Such a signature is one build's anyway.
func cut(list []int, stack []*Class) []int {
	named := 0
	for k, at := range list {
		if stack[at].Unnamed {
			continue
		}
		if named++; named == maxFrames {
			return list[:k+1]
		}
	}
	return list
}

// eraseLoop takes off the end of a list what lies between two frames of one function, and the second of them: of A B C
// B the C B. However deep functions recur into each other, and wherever in the cycle the stack begins, the same path is
// left.
func eraseLoop(list []int, stack []*Class) []int {
	end := len(list) - 1
	for k := range end {
		if stack[list[k]].isNamedAs(stack[list[end]]) {
			return list[:k+1]
		}
	}
	return list
}

// maxPeriod bounds the cycles that are folded.
const maxPeriod = 64

// foldEnd takes off the end of a list that repeats what is before it: of A B C B C the second B C. A list is folded
// frame by frame, so one step leaves nothing to fold.
func foldEnd(list []int, stack []*Class) []int {
	for period := 1; 2*period <= len(list) && period <= maxPeriod; period++ {
		first, second := list[len(list)-2*period:len(list)-period], list[len(list)-period:]
		if slices.EqualFunc(first, second, func(a, b int) bool { return stack[a].isNamedAs(stack[b]) }) {
			return list[:len(list)-period]
		}
	}
	return list
}

// appendFine lists the frames from the allocator's entry, malloc or realloc, to the last before the thread's start.
// Only what repeats at once is folded: plumbing that several functions use must not hide those between.
func appendFine(list []int, stack []*Class, p MarkedStack) []int {
	first := 0
	for first+1 < len(stack) && isAllocating(p.Marks[first+1].Layer) && isAllocating(p.Marks[first].Layer) {
		first++
	}
	for i := first; i < len(stack) && (p.Marks[i].Layer != LayerBase || i == p.Blame); i++ {
		list = foldEnd(append(list, i), stack)
	}
	return list
}

func isAllocating(l Layer) bool {
	return l == LayerAllocator || l == LayerHeapGrowth || l == LayerTool
}

// A hasher makes ids of fields. Each field is preceded by its length, so that no two lists of fields collide.
type hasher struct{ b []byte }

func (h *hasher) field(s string) {
	h.b = binary.LittleEndian.AppendUint64(h.b, uint64(len(s)))
	h.b = append(h.b, s...)
}

// name is field of a frame's name.
func (h *hasher) name(c *Class) {
	at := len(h.b)
	h.b = c.appendName(binary.LittleEndian.AppendUint64(h.b, 0))
	binary.LittleEndian.PutUint64(h.b[at:], uint64(len(h.b)-at-8))
}

// SignatureVersion is hashed with every signature, and begins its id, before a colon.
const SignatureVersion = "sig1"

// sum is the id of the names that some frames of a stack have.
func (h *hasher) sum(part, kind string, stack []*Class, frames ...int) string {
	h.b = h.b[:0]
	h.field(SignatureVersion)
	h.field(part)
	h.field(kind)
	for _, at := range frames {
		h.name(stack[at])
	}
	sum := sha256.Sum256(h.b)
	id := make([]byte, 0, len(SignatureVersion)+1+32)
	id = append(append(id, SignatureVersion...), ':')
	return string(hex.AppendEncode(id, sum[:16]))
}
