package etl

// A stackCache numbers the stacks that one decoding goroutine meets. Most of what joining costs is finding out that a
// stack was met before; so that is done in parallel, and while the event is in the processor's cache. A number is never
// given out twice.
type stackCache struct {
	kinds  KindSet // of events that get a number
	stacks *Stacks
	before uint32 // numbers given out by caches that became too large
}

// A stackCache that has so many bytes of addresses is given up for an empty one.
const stackCacheSize = 8 << 20

// number gives an event the number of its stack.
func (c *stackCache) number(f *frame, e *Event) {
	if shapes[f.header].pointer != addressSize || c.before >= 1<<31 {
		return
	}
	if c.stacks == nil || len(c.stacks.flat) >= stackCacheSize {
		if c.stacks != nil {
			c.before += uint32(c.stacks.Len())
		}
		c.stacks = newStacks()
	}
	if id := c.stacks.intern(e.frames()); id != NoStack {
		f.stack = c.before + uint32(id)
	}
}

// A walker finds the stacks of events, those first that their decoders have given a number.
type walker struct {
	stacks   *Stacks
	byNumber [maxWorkers][]cachedStack
	wide     []byte
}

// A cachedStack is a stack that was met before.
type cachedStack struct {
	id     StackID
	kernel bool
}

// walk returns the stack that an event holds.
func (w *walker) walk(e *Event) cachedStack {
	list := w.byNumber[e.worker]
	if int(e.stack) < len(list) && list[e.stack].id != NoStack {
		return list[e.stack]
	}
	addresses := w.addresses(e)
	found := cachedStack{id: w.stacks.intern(addresses), kernel: inKernel(addresses, e.PointerBytes)}
	if e.stack != 0 {
		for int(e.stack) >= len(list) {
			list = append(list, cachedStack{})
		}
		list[e.stack] = found
		w.byNumber[e.worker] = list
	}
	return found
}

// addresses are those that an event holds, innermost first, 8 bytes each.
func (w *walker) addresses(e *Event) []byte {
	b := e.frames()
	if e.PointerBytes == addressSize {
		return b[:len(b)&^(addressSize-1)]
	}
	w.wide = w.wide[:0]
	for ; len(b) >= 4; b = b[4:] {
		w.wide = le.AppendUint64(w.wide, uint64(le.Uint32(b)))
	}
	return w.wide
}

// kernelStart is where addresses of the kernel begin: on 64-bit Windows the upper half, on 32-bit Windows the upper 2
// GB.
func kernelStart(pointer uint8) uint64 {
	if pointer == 4 {
		return 1 << 31
	}
	return 1 << 63
}

// inKernel reports whether addresses of 8 bytes each are those of the kernel: what called them, the outermost, is.
func inKernel(addresses []byte, pointer uint8) bool {
	n := len(addresses) - addressSize
	return n >= 0 && le.Uint64(addresses[n:]) >= kernelStart(pointer)
}
