package etl

import (
	"math/bits"
	"math/rand/v2"
)

// A stackKey is a reference to a stack that is defined later. Keys are addresses in the session's cache: unique at one
// time, and re-used. The kernel's part and the process's are kept apart, and so are the files of a trace.
type stackKey struct {
	key    uint64
	source uint16
	user   bool
}

// A keyUse follows a key through the trace.
type keyUse struct {
	stackKey
	pending bool      // it was referred to since its last definition
	stack   StackID   // what it stands for since then, or NoStack where nobody has asked
	uses    uint32    // operations that have it, and wait for the definition
	next    uint32    // definitions that came
	stacks  []StackID // what it stands for, by definition, as far as a survey has shown
}

// keys are all keys that events referred to: open addressing over numbers plus one.
type keys struct {
	uses  []keyUse
	index []uint32 // a power of two
	seed  uint64
	salt  uint64

	touched uint64 // keeps the reads of touch from being left out
}

func newKeys() keys {
	return keys{index: make([]uint32, 1<<8), seed: rand.Uint64(), salt: rand.Uint64() | 1}
}

// home is the place in the index that a key belongs to.
func (ks *keys) home(k stackKey) uint64 {
	part := uint64(k.source) << 1
	if k.user {
		part |= 1
	}
	// The trace chooses the keys, but not which of them fall together.
	high, low := bits.Mul64(k.key^ks.seed^part<<47, ks.salt)
	return (high ^ low) & uint64(len(ks.index)-1)
}

// together is how many events of a buffer are looked up at once.
const together = 32

// touch reads what references to keys will read, for all of them at a time, so that the waits for memory overlap. It
// changes nothing.
func (ks *keys) touch(frames []frame, source uint16) {
	var places [together]uint64
	var numbers [together]uint32
	n := 0
	for i := range frames[:min(len(frames), together)] {
		if f := &frames[i]; f.offset == eventOnly && (f.kind == KindStackKeyUser || f.kind == KindStackKeyKernel) {
			places[n] = ks.home(stackKey{f.b, source, f.kind == KindStackKeyUser})
			n++
		}
	}
	for i := range places[:n] {
		numbers[i] = ks.index[places[i]]
	}
	sum := uint64(0)
	for _, number := range numbers[:n] {
		if number != 0 {
			sum += ks.uses[number-1].key
		}
	}
	ks.touched += sum
}

// slot is where a key is, or where it belongs.
func (ks *keys) slot(k stackKey) *uint32 {
	mask := uint64(len(ks.index) - 1)
	for i := ks.home(k); ; i = (i + 1) & mask {
		if n := ks.index[i]; n == 0 || ks.uses[n-1].stackKey == k {
			return &ks.index[i]
		}
	}
}

// find returns what is known of a key, nil for nothing. It is good until the next refer.
func (ks *keys) find(k stackKey) *keyUse {
	if n := *ks.slot(k); n != 0 {
		return &ks.uses[n-1]
	}
	return nil
}

// refer takes in a reference. What it returns is good until the next one.
func (ks *keys) refer(k stackKey) *keyUse {
	slot := ks.slot(k)
	if *slot == 0 {
		ks.uses = append(ks.uses, keyUse{stackKey: k})
		if *slot = uint32(len(ks.uses)); 2*len(ks.uses) > len(ks.index) {
			ks.index = make([]uint32, 2*len(ks.index))
			for i := range ks.uses {
				*ks.slot(ks.uses[i].stackKey) = uint32(i + 1)
			}
		}
		slot = ks.slot(k)
	}
	use := &ks.uses[*slot-1]
	use.pending = true
	return use
}

// define takes in a definition. It returns nil where nothing has referred to the key since the last one.
func (ks *keys) define(k stackKey, pointer uint8) *keyUse {
	use := ks.find(k)
	if (use == nil || !use.pending) && pointer == 4 {
		// With /3GB, programs reach into the upper half: where nothing of the kernel waits for the key, a process does.
		k.user = !k.user
		use = ks.find(k)
	}
	if use == nil || !use.pending {
		return nil
	}
	use.pending = false
	use.next++
	return use
}
