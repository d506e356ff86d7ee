package ntheap

// keySamples is how many subsegments of a heap are asked for the key.
const keySamples = 512

// recoverKey finds the number with which containers disguise where their blocks begin and how far apart they are. Both
// are known otherwise, the distance exactly and the beginning where nothing but a bitmap lies before, so each container
// gives the number; what most of them give is it. It is the same for all heaps of a process.
//
//	EncodedOffsets = (distance<<16 | beginning) ^ container ^ _LFH_HEAP ^ key, the lower 32 bits of each
func (o *opening) recoverKey() error {
	votes, all := map[uint32]int{}, 0
	steps := 0
	step := func() error {
		if steps++; steps%stepsBetweenChecks == 0 {
			return o.ctx.Err()
		}
		return nil
	}
	for _, h := range o.hs.List {
		heap, ok := h.kind.(*ntHeap)
		if !ok || heap.layout.lfh == nil || !heap.layout.lfh.encoded {
			continue
		}
		found, err := heap.subsegments(o.w, step, keySamples)
		if err != nil && o.ctx.Err() != nil {
			return o.ctx.Err()
		}
		for i := range found { // those before a break in the list too
			s := &found[i]
			field, ok := o.w.u32(s.container + heap.layout.lfh.headerOffsets)
			if !ok {
				continue
			}
			stride := uint32(s.blockSize) * uint32(heap.layout.entry.granularity)
			plain := stride<<16 | uint32(heap.layout.assumedFirst(s, o.w.pointerSize()))&0xFFFF
			votes[field^uint32(s.container)^uint32(heap.frontEnd)^plain]++
			all++
		}
	}
	best := 0
	for key, n := range votes {
		if n > best || n == best && key < o.hs.lfhKey {
			best, o.hs.lfhKey = n, key
		}
	}
	if o.hs.keyed = 2*best > all; !o.hs.keyed {
		o.hs.lfhKey = 0
		if all > 0 {
			o.hs.note("containers of the low-fragmentation heap disagree about their key; their blocks are assumed to begin behind the bitmap")
		}
	}
	return nil
}
