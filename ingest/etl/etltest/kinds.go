package etltest

// HarmlessEvents are events of every kind and version that change no lifetime, about a process and one of its heaps:
// what a reader must pass over, count or decode without harm. They can be a scenario's Extras.
func (f Format) HarmlessEvents(p *Process, heap uint64) []Event {
	f = f.filled()
	all := append(heapNoise(p.Bits, heap, p.PID), memoryNoise(f.Bits, p, heap)...)
	for v := range 5 { // −1 for 0
		old := f
		old.ProcessVersion, old.ThreadVersion, old.ImageVersion = max(v, 1), max(v, 1), max(min(v, 3), 1)
		if v == 0 {
			old.ProcessVersion, old.ThreadVersion, old.ImageVersion = -1, -1, -1
		}
		all = append(all, old.ProcessEvent(opDCEnd, p))
		for i := range p.Threads {
			all = append(all, old.ThreadEvent(opDCEnd, p.PID, &p.Threads[i]))
		}
		for i := range p.Images {
			all = append(all, old.ImageEvent(imageDCEnd, p.PID, &p.Images[i]))
		}
	}
	for i := range p.Threads {
		all = append(all, f.ThreadNameEvent(p.PID, p.Threads[i].TID, p.Threads[i].Name))
	}
	return append(all, f.foreign()...)
}

// foreign are events of no interest, in the envelopes that the kernel's events do not come in.
func (f *Format) foreign() []Event {
	provider := NewGUID(0x901d2afa, 0x4ff6, 0x46d7, 0x8d0e53645e1a47f5) // Microsoft-Windows-Heap-Snapshot
	blob := payload{}                                                   // SnapshotInstance, Sequence, BufferLength u32, Buffer
	blob.u32(1, 0, 16)
	blob.u8(make([]byte, 16)...)
	total := payload{} // SnapshotInstance, TotalDataSize u32
	total.u32(1, 16)
	text := payload{}
	text.wide("made up")
	frames := []uint64{0x7FF600001111, 0x7FF600002222}
	return []Event{
		{Envelope: ManifestHeader, Provider: provider, ID: 100, Version: 1, Payload: blob.b,
			Items: []Item{StackItem(64, 7, frames)}},
		{Envelope: ManifestHeader, Provider: provider, ID: 200, Version: 1, Payload: total.b},
		{Envelope: ManifestHeader, Provider: provider, ID: 100, Version: 1, Bits: 32, Payload: blob.b,
			Items: []Item{{12, []byte("traits")}, StackItem(32, 8, []uint64{0x401111})}},
		{Envelope: ManifestHeader, Provider: provider, ID: 100, Version: 1, Payload: blob.b,
			Items: []Item{StackKeyItem(64, 9, 0xFFFFB48100010000)}},
		{Envelope: MessageHeader, Provider: provider, ID: 10, Payload: text.b},
		{Envelope: SilentHeader, ID: 11, Payload: text.b},
		{Envelope: ErrorHeader, Op: 1, Payload: text.b},
		{Envelope: InstanceHeader, Provider: provider, Op: 1, Payload: text.b},
		{Envelope: InstanceHeader, Provider: provider, Op: 1, Bits: 32, Payload: text.b},
		{Envelope: ClassicHeader, Provider: provider, Op: 10, Bits: 32, Payload: text.b},
		{Envelope: CompactHeader, Group: 0x01, Op: 10, Payload: text.b},
		{Envelope: CompactHeader, Group: 0x01, Op: 10, Bits: 32, Payload: text.b},
		{Envelope: PerfInfoHeader, Group: 0x0F, Op: 46, Version: 2, Payload: text.b},
		{Envelope: PerfInfoHeader, Group: 0x0F, Op: 46, Version: 2, Bits: 32, PEBS: true, Payload: text.b},
		{Envelope: PerfInfoHeader, Group: 0x0F, Op: 47, Version: 2, PEBS: true, Counters: 7, Payload: text.b},
		{Envelope: PerfInfoHeader, Group: 0x0F, Op: 47, Version: 2, Counters: 1},
		{Envelope: PerfInfoHeader, Group: groupHeader, Op: 8, Version: 2}, // RDComplete
	}
}

// memoryNoise are all events of memory that change no lifetime: heap ranges, counters, faults.
func memoryNoise(bits int, p *Process, heap uint64) []Event {
	use := []Counters{{0xFFFFFFFF, 10, 0, 0, 10}, {p.PID, 2000, 3000, 40000, 1500}}
	return []Event{
		HeapRangeEvent(p.Bits, HeapRangeCreate, []uint64{heap, 0x100000}, 2),
		HeapRangeEvent(p.Bits, HeapRangeReserve, []uint64{heap, heap + 0x100000, 0x100000}),
		HeapRangeEvent(p.Bits, HeapRangeRelease, []uint64{heap, heap + 0x100000, 0x100000}),
		HeapRangeRundownEvent(p.Bits, 2, heap, 2, p.PID, [][2]uint64{{heap, 0x100000}}),
		HeapRangeRundownEvent(p.Bits, 3, heap, 2, p.PID, [][2]uint64{{heap, 0x100000}, {heap + 0x200000, 0x10000}}),
		HeapRangeRundownEvent(p.Bits, 3, heap, 2, p.PID, nil),
		HeapRangeEvent(p.Bits, HeapRangeDestroy, []uint64{heap + 0x70000000}),
		MemInfoEvent(bits, 4000, false),
		MemInfoEvent(bits, 4000, true),
		ProcessMemInfoEvent(bits, 1, use),
		ProcessMemInfoEvent(bits, 2, use),
		HardFaultEvent(bits, heap, p.PID+4),
	}
}

// heapNoise are all events of one heap that neither begin nor end a block, in every version.
func heapNoise(bits int, heap uint64, pid uint32) []Event {
	all := []Event{
		HeapExpandEvent(bits, 2, HeapExpand, heap, heap+0x10000, 0x4000),
		HeapExpandEvent(bits, 3, HeapExpand, heap, heap+0x14000, 0x4000),
		HeapSnapshotEvent(bits, 2, heap, pid, 2),
		HeapSnapshotEvent(bits, 3, heap, pid, 2),
		HeapExpandEvent(bits, 3, HeapContract, heap, heap+0x14000, 0x4000),
		HeapEvent(bits, HeapCommit, []uint64{heap, heap + 0x20000, 0x1000}, 2),
		HeapEvent(bits, HeapDecommit, []uint64{heap, heap + 0x20000, 0x1000}, 5),
		HeapEvent(bits, HeapSubsegmentInit, []uint64{heap, heap + 0x400, 0x20, 127}, 1),
		HeapEvent(bits, HeapAffinityEnable, []uint64{heap}, 4),
		HeapEvent(bits, HeapAffinityAssigned, nil, 7),                          // as the MOF class has it
		HeapEvent(bits, HeapAffinityAssigned, []uint64{heap, heap + 0x400}, 7), // as ntwmi.h has it
		HeapEvent(bits, HeapSubsegmentActivated, []uint64{heap, heap + 0x400}),
		HeapEvent(bits, HeapAffinityChanged, []uint64{heap, heap + 0x400}, 7),
		HeapEvent(bits, HeapReuseThreshold, []uint64{heap, heap + 0x400}, 4),
	}
	for _, op := range []byte{HeapLock, HeapUnlock, HeapValidate, HeapWalk} {
		all = append(all, HeapEvent(bits, op, []uint64{heap}))
	}
	for _, op := range []byte{HeapSubsegmentAlloc, HeapSubsegmentFree, HeapSubsegmentAllocCached,
		HeapSubsegmentFreeCached} {
		all = append(all, HeapEvent(bits, op, []uint64{heap, heap + 0x400, 0x1000, 0x20}))
	}
	for op := byte(39); op <= 41; op++ { // snapshots of a heap's parts, whose layout nobody has published
		all = append(all, HeapEvent(bits, op, []uint64{heap}, 1, 2, 3))
	}
	return all
}
