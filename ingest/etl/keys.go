package etl

// A stackKey is a reference to a stack that is defined later. Keys are addresses in the session's cache: unique at one
// time, and re-used. The kernel's part and the process's are kept apart, and so are the files of a trace.
type stackKey struct {
	key    uint64
	source uint16
	user   bool
}

// A keyUse is the stack that stands for a key until its next definition, and how often it was referred to.
type keyUse struct {
	stack StackID
	count int64
}

// kernelStart is where addresses of the kernel begin: on 64-bit Windows the upper half, on 32-bit Windows the upper 2 GB.
func kernelStart(pointer uint8) uint64 {
	if pointer == 4 {
		return 1 << 31
	}
	return 1 << 63
}

// inKernel reports whether frames are those of the kernel: what called them, the outermost, is.
func inKernel(frames []uint64, pointer uint8) bool {
	return len(frames) > 0 && frames[len(frames)-1] >= kernelStart(pointer)
}

// refer returns the stack of a key.
func (j *joiner) refer(k stackKey) StackID {
	use := j.keys[k]
	if use == nil {
		use = &keyUse{stack: j.out.Stacks.pending()}
		j.keys[k] = use
	}
	use.count++
	return use.stack
}

// define gives every reference to a key since its last definition the frames.
func (j *joiner) define(e *Event) {
	key, ok := e.StackKey()
	if !ok {
		j.out.Malformed++
		return
	}
	j.frames = e.AppendFrames(j.frames[:0])
	k := stackKey{key: key, source: e.Source, user: !inKernel(j.frames, e.Pointer)}
	use := j.keys[k]
	if use == nil && e.Pointer == 4 {
		// With /3GB, programs reach into the upper half: where nothing of the kernel waits for the key, a process does.
		k.user = !k.user
		use = j.keys[k]
	}
	if use == nil {
		return // referred to by nothing, or by events that are not of interest
	}
	j.out.Stacks.define(use.stack, j.out.Stacks.intern(j.frames))
	delete(j.keys, k)
}
