package etltest

import "slices"

// Opcodes of group 0x18, stacks.
const (
	StackPlain      = 32
	StackKeyCreate  = 34
	StackKeyDelete  = 35
	StackKeyRundown = 36
	StackKeyKernel  = 37
	StackKeyUser    = 38
)

// stackEvent is the head of an event about a stack: EventTimeStamp u64, ProcessId u32, ThreadId u32, then in P the
// frames of a plain one, or the key.
func stackEvent(bits int, op byte, target int64, pid, tid uint32, rest ...uint64) Event {
	p := payload{bits: bits}
	p.u64(uint64(target))
	p.u32(pid, tid)
	p.ptr(rest...)
	return Event{Envelope: PerfInfoHeader, Group: groupStack, Op: op, Version: 2, Payload: p.b}
}

// keyEvent defines a key: StackKey P, the frames.
func keyEvent(bits int, op byte, key uint64, frames []uint64) Event {
	p := payload{bits: bits}
	p.ptr(key)
	p.ptr(frames...)
	return Event{Envelope: PerfInfoHeader, Group: groupStack, Op: op, Version: 2, Payload: p.b}
}

// A stackCache is the kernel's: few slots, a key names a slot, and what is thrown out of a slot is logged with its
// frames, which thereby are the frames of all references to the key since the last such event.
type stackCache struct {
	slots []int // stacks; −1 for none
	of    map[int]int
	next  int // slot to be thrown out
	first uint64
}

func newStackCache(slots int, first uint64) *stackCache {
	return &stackCache{slots: slices.Repeat([]int{-1}, slots), of: make(map[int]int, slots), first: first}
}

// key returns the key of a stack, and which stack had to go from its slot, or −1.
func (c *stackCache) key(stack int) (key uint64, evicted int) {
	slot, cached := c.of[stack]
	if cached {
		return c.named(slot), -1
	}
	slot, c.next = c.next, (c.next+1)%len(c.slots)
	evicted = c.slots[slot]
	delete(c.of, evicted)
	c.slots[slot], c.of[stack] = stack, slot
	return c.named(slot), evicted
}

func (c *stackCache) named(slot int) uint64 { return c.first + uint64(slot)*0x40 }

// rundown tells what is in the cache, as the kernel does when the session stops.
func (c *stackCache) rundown(tell func(key uint64, stack int)) {
	for slot, stack := range c.slots {
		if stack >= 0 {
			tell(c.named(slot), stack)
		}
	}
}
