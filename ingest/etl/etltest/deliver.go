package etltest

import "slices"

// usual is how long after its event a stack is delivered, in units of the clock: never at once.
const usual = 20

// A delivery is a part of a stack on its way.
type delivery struct {
	record
	target int64 // raw time of the event that it belongs to
	user   bool
}

// stacks adds the stacks of all records, as plain ones or through the caches of their session: the kernel's part and
// then the user's, at raw times that no two of a session share, so that what a key means never depends on how ties are
// broken.
func (r *recording) stacks() {
	parts := 0
	for i := range r.all {
		if e := &r.all[i]; e.stack > 0 {
			parts += min(len(r.s.Stacks[e.stack-1].Kernel), 1) + min(len(r.s.Stacks[e.stack-1].User), 1)
		}
	}
	all := make([]delivery, 0, parts)
	for i := range r.all {
		e := &r.all[i]
		if e.stack == 0 {
			continue
		}
		d := delivery{record: *e, target: e.raw}
		d.raw += usual + e.late
		if e.roams {
			d.cpu = (d.cpu + 1) % r.s.CPUs
		}
		stack := &r.s.Stacks[e.stack-1]
		if len(stack.Kernel) > 0 {
			all = append(all, d)
		}
		if len(stack.User) > 0 {
			d.user = true
			d.raw += usual
			all = append(all, d)
		}
	}
	all = inOrder(all, func(d *delivery) int64 { return d.raw })
	r.all = slices.Grow(r.all, parts)
	for _, heap := range []bool{false, true} {
		r.deliver(all, heap)
	}
}

// deliver adds the stacks of one session.
func (r *recording) deliver(all []delivery, heap bool) {
	caches := r.caches(heap)
	last := r.f.raw(-1000, r.s.Start)
	for i := range all {
		d := &all[i]
		if d.heap != heap {
			continue
		}
		last = max(d.raw, last+2)
		out := record{raw: last, cpu: d.cpu, heap: d.heap}
		frames := r.frames(d.stack-1, d.user)
		if r.f.Keys == 0 {
			out.event = stackEvent(r.f.Bits, StackPlain, d.target, d.pid, d.tid, frames...)
			r.all = append(r.all, out)
			continue
		}
		cache, op := caches[0], byte(StackKeyKernel)
		if d.user {
			cache, op = caches[1], StackKeyUser
		}
		key, evicted := cache.key(d.stack - 1)
		if evicted >= 0 {
			gone := out
			gone.raw--
			gone.event = keyEvent(r.f.Bits, StackKeyDelete, key, r.frames(evicted, d.user))
			r.all = append(r.all, gone)
		}
		out.event = stackEvent(r.f.Bits, op, d.target, d.pid, d.tid, key)
		r.all = append(r.all, out)
	}
	if r.f.Keys == 0 {
		return
	}
	last = max(last, r.f.raw(r.s.End, r.s.Start))
	for i, cache := range caches {
		cache.rundown(func(key uint64, stack int) {
			last++
			r.all = append(r.all,
				record{raw: last, heap: heap, event: keyEvent(r.f.Bits, StackKeyRundown, key, r.frames(stack, i == 1))})
		})
	}
}

// caches are the kernel's and the user's of a session. On 64-bit Windows both number their keys alike; what a
// definition is about shows in its frames. With 4-byte addresses it would not, and they differ.
func (r *recording) caches(heap bool) [2]*stackCache {
	first := uint64(0xFFFFB48100010000)
	if heap {
		first += 0x1000000
	}
	second := first
	if r.f.Bits == 32 {
		second += 0x800000
	}
	return [2]*stackCache{newStackCache(r.f.Keys, first), newStackCache(r.f.Keys, second)}
}

// frames are a part of a stack, as wide as the kernel's addresses.
func (r *recording) frames(stack int, user bool) []uint64 {
	if user {
		return r.s.Stacks[stack].User
	}
	return r.s.Stacks[stack].Kernel
}
