package etltest

import "math/rand/v2"

// A craftedTrace writes one kind of trace that costs its readers more than its size suggests.
type craftedTrace struct {
	f   Format
	out *recorder
	at  int64
	rng *rand.Rand
}

const (
	craftedPID, craftedTID = 1000, 2000
	craftedHeap            = 0x10000
	craftedCode            = 0x7FF600000000
)

// Crafted maps a name to a writer of a trace with n of one thing, such as processes or heaps, of which programs have
// few.
// "processes".
var Crafted = map[string]func(n int) []byte{
	"processes": craftedBy(func(c *craftedTrace, i int) {
		pid := uint32(craftedPID + 4*i)
		c.process(opStart, pid)
		c.alloc(craftedHeap, i, pid, craftedTID)
	}),
	"processes of one id": craftedBy(func(c *craftedTrace, i int) {
		c.process(opStart, craftedPID)
		c.alloc(craftedHeap, 0, craftedPID, craftedTID)
		c.process(opEnd, craftedPID)
	}),
	"processes without memory": craftedBy(func(c *craftedTrace, i int) {
		c.process(opStart, uint32(craftedPID+4*i))
		if i == 0 {
			c.alloc(craftedHeap, 0, craftedPID, craftedTID)
		}
	}),
	"heaps": craftedBy(func(c *craftedTrace, i int) { c.alloc(craftedHeap*uint64(i+1), i, craftedPID, craftedTID) }),
	"heaps destroyed": craftedBy(func(c *craftedTrace, i int) {
		c.alloc(craftedHeap, i, craftedPID, craftedTID)
		c.put(HeapEvent(64, HeapDestroy, []uint64{craftedHeap + uint64(i&1)}), craftedPID)
	}),
	"threads": craftedBy(func(c *craftedTrace, i int) { c.alloc(craftedHeap, i, craftedPID, uint32(4*i)) }),
	"stacks": craftedBy(func(c *craftedTrace, i int) {
		c.alloc(craftedHeap, i, craftedPID, craftedTID)
		c.put(stackEvent(64, StackPlain, c.at, craftedPID, craftedTID, c.frames()...), 0)
	}),
	"stack keys given out again": craftedBy(func(c *craftedTrace, i int) {
		c.alloc(craftedHeap, i, craftedPID, craftedTID)
		key := uint64(0x100000 + i%256*64)
		c.put(stackEvent(64, StackKeyUser, c.at, craftedPID, craftedTID, key), 0)
		c.put(keyEvent(64, StackKeyDelete, key, []uint64{craftedCode + uint64(i%5000)*16, craftedCode}), 0)
	}),
	"stack keys not defined": craftedBy(func(c *craftedTrace, i int) {
		c.alloc(craftedHeap, i, craftedPID, craftedTID)
		c.put(stackEvent(64, StackKeyUser, c.at, craftedPID, craftedTID, 0x100000+uint64(i)*64), 0)
	}),
	"images of one address": craftedBy(func(c *craftedTrace, i int) {
		m := Image{Base: 0x10000000, Size: 0x10000, Path: `\Device\HarddiskVolume3\x\m` + string(rune('0'+i%7)) + ".dll"}
		c.put(c.f.ImageEvent(opcodeImageLoad, craftedPID, &m), 0)
		c.alloc(craftedHeap, i, craftedPID, craftedTID)
		c.put(stackEvent(64, StackPlain, c.at, craftedPID, craftedTID, 0x10000005), 0)
		c.put(c.f.ImageEvent(imageUnload, craftedPID, &m), 0)
	}),
	"a commit in pieces": craftedBy(func(c *craftedTrace, i int) {
		if i == 0 {
			c.put(VirtualEvent(64, VirtualAlloc, 1<<32, 1<<40, craftedPID, 0x3000), 0)
		}
		c.put(VirtualEvent(64, VirtualFree, 1<<32+uint64(i)*0x2000, 0x1000, craftedPID, 0x4000), 0)
	}),
	"addresses that fall together": craftedBy(func(c *craftedTrace, i int) {
		const inverse = 0xF1DE83E19937733D // of the factor that tables of addresses mostly multiply by
		c.put(HeapEvent(64, HeapAlloc, []uint64{craftedHeap, 64, uint64(i+1) * inverse}, 3), craftedPID)
	}),
	"one block resized": craftedBy(func(c *craftedTrace, i int) {
		c.put(HeapEvent(64, HeapReAlloc, []uint64{craftedHeap, 0x20000, 0x20000, 64 + uint64(i%1000), 64}, 3), craftedPID)
	}),
}

// craftedBy writes n steps.
func craftedBy(step func(c *craftedTrace, i int)) func(n int) []byte {
	return func(n int) []byte {
		const start = 133_500_000_000_000_000
		var m memory
		f := Format{}.filled()
		c := &craftedTrace{f: f, out: newRecorder(&m, f, start, int64(n)*100_000, 1), at: f.raw(1000, start),
			rng: rand.New(rand.NewPCG(1, 2))}
		for i := range n {
			step(c, i)
		}
		if err := c.out.close(); err != nil {
			panic(err) // of memory
		}
		return m.b
	}
}

// put writes an event of a process.
func (c *craftedTrace) put(e Event, pid uint32) {
	c.at += 10
	c.out.put(0, &e, pid, craftedTID, c.at)
}

func (c *craftedTrace) process(op byte, pid uint32) {
	c.put(c.f.ProcessEvent(op, &Process{PID: pid, Name: "app.exe", Key: 0xFFFFB4815F000000 + uint64(pid)*64}), 0)
}

// alloc allocates the block with a number.
func (c *craftedTrace) alloc(heap uint64, number int, pid, tid uint32) {
	e := HeapEvent(64, HeapAlloc, []uint64{heap, 64, 0x20000 + uint64(number)*16}, 3)
	c.at += 10
	c.out.put(0, &e, pid, tid, c.at)
}

// frames are those of a stack that no other has, of 20,000.
func (c *craftedTrace) frames() []uint64 {
	list := make([]uint64, 24)
	for i := range list {
		list[i] = craftedCode + uint64(c.rng.IntN(20_000))*64
	}
	return list
}
