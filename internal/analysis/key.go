package analysis

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/blame"
)

// A Key is a 128-bit content hash.
type Key [16]byte

// String prints the key in hex digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// hasher builds a Key from fields; each field is closed by its length, so that no two lists of fields collide.
type hasher struct{ b []byte }

func (h *hasher) string(s string) {
	h.b = append(h.b, s...)
	h.b = binary.LittleEndian.AppendUint32(h.b, uint32(len(s)))
}
func (h *hasher) uint(v uint64) { h.b = binary.LittleEndian.AppendUint64(h.b, v) }
func (h *hasher) key() Key {
	sum := sha256.Sum256(h.b)
	h.b = h.b[:0]
	return Key(sum[:16])
}

// stackKeys says which stacks of a capture are equal, and to which of other captures: by numbers while sites are
// merged, and by Keys, which cost more and outlast the program, for whoever stores them. Addresses count as module and
// offset in it, so equal stacks are equal wherever the modules were loaded; an address outside every module counts as
// it is.
type stackKeys struct {
	capture *capture.Capture
	modules []capture.Module // the capture's, behind them those that lend gave
	places  *capture.ModuleMap
	lend    func(address uint64) *capture.Module // of addresses outside the capture's modules; nil where nobody knows more
	lent    map[uint64]int                       // what it gave, by address: index into modules, or −1
	within  []int32                              // by FrameID: index into modules, −1 for none; nil where few frames are asked for
	numbers *stackNumbers
	stacks  []stackNumber // by StackID; 0 until asked for
	// Of each of modules: its number among numbers, its name and its path in lower case.
	moduleNumbers          []uint64
	lowerNames, lowerPaths []string
}

func newStackKeys(c *capture.Capture, numbers *stackNumbers, lend func(address uint64) *capture.Module) *stackKeys {
	k := &stackKeys{capture: c, places: capture.NewModuleMap(c.Modules), lend: lend, lent: map[uint64]int{},
		numbers: numbers, stacks: make([]stackNumber, c.Stacks.Count())}
	for i := range c.Modules {
		k.list(&c.Modules[i])
	}
	k.locate()
	return k
}

// next makes the keys of a capture of the same modules, none of which another capture can lend. Stacks that have their
// id and their addresses in both have one number, so it is not looked for twice, and few of the frames are.
func (k *stackKeys) next(c *capture.Capture) *stackKeys {
	n := &stackKeys{
		capture: c, modules: slices.Clip(k.modules), places: k.places, numbers: k.numbers,
		stacks:        make([]stackNumber, c.Stacks.Count()),
		moduleNumbers: slices.Clip(k.moduleNumbers), lowerNames: slices.Clip(k.lowerNames),
		lowerPaths: slices.Clip(k.lowerPaths),
	}
	if c.Process.Bits != k.capture.Process.Bits {
		return n
	}
	before := make(map[uint64]capture.StackID, k.capture.Stacks.Count())
	for i := range k.capture.Sites {
		if s := &k.capture.Sites[i]; s.Trace != 0 {
			before[s.Trace] = s.Stack
		}
	}
	for i := range c.Sites {
		s := &c.Sites[i]
		if id := before[s.Trace]; id != capture.NoStack && n.stacks[s.Stack] == 0 && s.Stack != capture.NoStack &&
			hasSameAddresses(&c.Stacks, s.Stack, &k.capture.Stacks, id) {
			n.stacks[s.Stack] = k.number(id)
		}
	}
	return n
}

// hasSameAddresses reports whether two stacks of different captures have equal addresses, which nothing but modules
// names.
func hasSameAddresses(a *capture.Stacks, x capture.StackID, b *capture.Stacks, y capture.StackID) bool {
	return slices.EqualFunc(a.Stack(x), b.Stack(y), func(i, j capture.FrameID) bool {
		f := a.Frame(i)
		return f.Text == 0 && f == b.Frame(j)
	})
}

// moduleOf is the index of the module that a frame lies in, −1 for none.
func (k *stackKeys) moduleOf(id capture.FrameID) int {
	if k.within != nil {
		return int(k.within[id])
	}
	return k.places.Of(k.capture.Stacks.Frame(id))
}

// locate finds out where the frames lie.
func (k *stackKeys) locate() {
	c := k.capture
	n := c.Stacks.FrameCount()
	k.within = make([]int32, n)
	inParts(n, func(from, to int) {
		for id := from; id < to; id++ {
			k.within[id] = int32(k.places.Of(c.Stacks.Frame(capture.FrameID(id))))
		}
	})
	if k.lend != nil {
		for id, at := range k.within {
			if at < 0 {
				k.within[id] = int32(k.borrow(c.Stacks.Frame(capture.FrameID(id)).Address))
			}
		}
	}
}

func (k *stackKeys) list(m *capture.Module) {
	name := strings.ToLower(m.Name())
	k.modules = append(k.modules, *m)
	k.moduleNumbers = append(k.moduleNumbers, k.numbers.module(name, m.Size))
	k.lowerNames = append(k.lowerNames, name)
	k.lowerPaths = append(k.lowerPaths, strings.ToLower(m.Path))
}

// borrow is the index of the module that others show at an address outside the capture's own, or −1.
func (k *stackKeys) borrow(address uint64) int {
	if address == 0 {
		return -1
	}
	at, ok := k.lent[address]
	if ok {
		return at
	}
	at = -1
	if m := k.lend(address); m != nil {
		own := len(k.capture.Modules)
		at = slices.IndexFunc(k.modules[own:], func(other capture.Module) bool { return isSameImage(&other, m) })
		if at < 0 {
			at = len(k.modules) - own
			k.list(m)
		}
		at += own
	}
	k.lent[address] = at
	return at
}

// number is the number of a stack; NoStack has 0.
func (k *stackKeys) number(id capture.StackID) stackNumber {
	if id == capture.NoStack || k.stacks[id] != 0 {
		return k.stacks[id]
	}
	k.numbers.begin()
	for _, at := range k.programFrames(k.capture.Stacks.Stack(id)) {
		f := k.capture.Stacks.Frame(at)
		switch text, module := k.text(f), k.moduleOf(at); {
		case text != nil:
			k.numbers.text(textFrame{strings.ToLower(text.Module), text.Function, text.Offset})
		case module >= 0:
			k.numbers.offset(k.moduleNumbers[module], f.Address-k.modules[module].Base)
		default:
			k.numbers.address(f.Address)
		}
	}
	k.stacks[id] = k.numbers.end()
	return k.stacks[id]
}

// text identifies a frame in place of its address; nil where the address identifies it.
func (k *stackKeys) text(f capture.Frame) *capture.FrameText {
	if text := k.capture.Stacks.Text(f); text != nil && (text.Function != "" || f.Address == 0) {
		return text
	}
	return nil
}

// key is the Key of a stack; NoStack has the zero Key.
func (k *stackKeys) key(h *hasher, id capture.StackID) Key {
	if id == capture.NoStack {
		return Key{}
	}
	own := k.programFrames(k.capture.Stacks.Stack(id))
	frames := make([]byte, 0, len(own)*len(Key{}))
	for _, at := range own {
		key := k.frame(h, at)
		frames = append(frames, key[:]...)
	}
	sum := sha256.Sum256(frames)
	return Key(sum[:16])
}

func (k *stackKeys) frame(h *hasher, id capture.FrameID) Key {
	f := k.capture.Stacks.Frame(id)
	switch text, module := k.text(f), k.moduleOf(id); {
	case text != nil:
		h.string("text")
		h.string(strings.ToLower(text.Module))
		h.string(text.Function)
		h.uint(text.Offset)
	case module >= 0:
		h.string("rva")
		h.string(k.lowerNames[module])
		h.uint(k.modules[module].Size) // another size is another build: its offsets mean other code
		h.uint(f.Address - k.modules[module].Base)
	default:
		h.string("address")
		h.uint(f.Address)
	}
	return h.key()
}

// programFrames is a stack without the frames at its outer end that are not the program's: whether Windows records
// those of the emulation that runs a 32-bit program is chance, and one place in the program has stacks with and without
// them. A stack of nothing else is kept.
func (k *stackKeys) programFrames(stack []capture.FrameID) []capture.FrameID {
	end := len(stack)
	for i, id := range slices.Backward(stack) {
		f := k.capture.Stacks.Frame(id)
		name := k.moduleName(id)
		if k.capture.Process.Bits == 32 && f.Address > math.MaxUint32 || blame.RunsWOW64(name) {
			end = i
		} else if name != "ntdll" || f.Address != 0 { // without an address that may be the 64-bit one, in which such a thread starts
			break
		}
	}
	if end == 0 {
		return stack
	}
	return stack[:end]
}

// moduleName is the module of a frame in lower case, "" where it lies in none.
func (k *stackKeys) moduleName(id capture.FrameID) string {
	if text := k.capture.Stacks.Text(k.capture.Stacks.Frame(id)); text != nil && text.Module != "" {
		return strings.ToLower(text.Module)
	}
	if module := k.moduleOf(id); module >= 0 {
		return k.lowerNames[module]
	}
	return ""
}

// candidates returns the numbers of all stacks that a site may stem from, sorted, each once.
func (k *stackKeys) candidates(s *capture.Site) []stackNumber {
	if s.Stack == capture.NoStack {
		return nil
	}
	k.number(s.Stack)
	numbers := k.stacks[s.Stack : s.Stack+1 : s.Stack+1]
	for _, alias := range s.AliasStacks {
		numbers = append(numbers, k.number(alias))
	}
	if len(numbers) > 1 {
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
	}
	return numbers
}

// joint is the Key of a set of candidate stacks, sorted and each once: that of the only one, or one of their own.
func joint(h *hasher, candidates []Key) Key {
	switch len(candidates) {
	case 0:
		return Key{}
	case 1:
		return candidates[0]
	}
	h.string("alias")
	for _, c := range candidates {
		h.b = append(h.b, c[:]...)
	}
	return h.key()
}
