package minidumptest

import "time"

// streams is how many entries the directory has.
func (d Dump) streams() int {
	n := len(d.Comments) + len(d.Extra) + d.Unused
	for _, there := range []bool{
		!d.System.Absent, d.Process != nil, d.Modules != nil, d.Unloaded != nil, d.Threads != nil, d.hasNames(), d.hasInfos(),
		d.Handles != nil, d.Regions != nil, d.CommentA != "", d.Exception != nil, d.Counters != nil, d.Memory != nil,
	} {
		if there {
			n++
		}
	}
	return n
}

func (d Dump) hasNames() bool {
	for _, t := range d.Threads {
		if t.Name != "" {
			return true
		}
	}
	return false
}

func (d Dump) hasInfos() bool {
	for _, t := range d.Threads {
		if t.Start != 0 || !t.Created.IsZero() {
			return true
		}
	}
	return false
}

// describe adds all streams but that of memory.
func (d Dump) describe(b *builder) {
	if !d.System.Absent {
		d.system(b)
	}
	if d.Process != nil {
		d.misc(b)
	}
	if d.Modules != nil {
		d.modules(b)
	}
	if d.Unloaded != nil {
		d.unloaded(b)
	}
	if d.Threads != nil {
		d.threads(b)
	}
	if d.Handles != nil {
		d.handles(b)
	}
	if d.Regions != nil {
		d.regions(b)
	}
	if d.Exception != nil {
		d.exception(b)
	}
	if d.Counters != nil {
		d.counters(b)
	}
	for _, c := range d.Comments {
		b.stream(11, func() { b.fixedText(c, len(c)+1) })
	}
	if d.CommentA != "" {
		b.stream(10, func() { b.bytes = append(b.bytes, d.CommentA+"\x00"...) })
	}
	for _, s := range d.Extra {
		b.stream(s.Type, func() { b.bytes = append(b.bytes, s.Data...) })
	}
}

func (d Dump) system(b *builder) {
	s := d.System
	if s.Major == 0 {
		s.Major, s.Build = 10, 19045
	}
	if s.Platform == 0 {
		s.Platform = 2
	}
	pack := b.text(s.ServicePack)
	b.stream(7, func() {
		b.u16(map[string]uint16{"": 9, "x64": 9, "x86": 0, "arm": 5, "arm64": 12}[s.Arch])
		b.u16(6)
		b.u16(0)
		b.u8(max(s.Processors, 1))
		b.u8(max(s.Product, 1))
		b.u32s(s.Major, s.Minor, s.Build, s.Platform, pack)
		b.zeros(2 + 2 + 24) // suite, reserved, features of the processor
	})
}

func (d Dump) misc(b *builder) {
	p := d.Process
	b.stream(15, func() {
		size, flags := uint32(24), uint32(3)
		if p.Build != "" || p.ZoneID != 0 {
			size, flags = 832, 0x143
		}
		b.u32s(size, flags, p.PID, seconds(p.Created), uint32(p.User/time.Second), uint32(p.Kernel/time.Second))
		if size > 24 {
			b.zeros(5*4 + 3*4) // frequencies; integrity and flags
			b.u32s(p.ZoneID, uint32(p.Bias))
			b.zeros(64 + 16 + 4 + 64 + 16) // the name of standard time, when it begins, its bias; that of daylight saving
			b.u32(uint32(p.DaylightBias))
			b.fixedText(p.Build, 260)
			b.fixedText(p.DebugBuild, 40)
		}
	})
}

func (d Dump) modules(b *builder) {
	names, records, sizes := make([]uint32, len(d.Modules)), make([]uint32, len(d.Modules)), make([]uint32, len(d.Modules))
	for i, m := range d.Modules {
		names[i] = b.text(m.Path)
		if m.PDB != "" {
			record := m.codeView()
			records[i], sizes[i] = b.blob(record), uint32(len(record))
		}
	}
	b.stream(4, func() {
		b.u32(uint32(len(d.Modules)))
		for i, m := range d.Modules {
			b.u64(m.Base)
			b.u32s(m.Size, m.Checksum, m.Timestamp, names[i])
			if v := m.Version; v != [4]uint16{} {
				high, low := uint32(v[0])<<16|uint32(v[1]), uint32(v[2])<<16|uint32(v[3])
				b.u32s(0xFEEF04BD, 0x10000, high, low, high, low, 0x3F, 0, 0x40004, 2, 0, 0, 0)
			} else {
				b.zeros(52)
			}
			b.u32s(sizes[i], records[i], 0, 0)
			b.u64s(0, 0)
		}
	})
}

func (m Module) codeView() []byte {
	b := &builder{}
	if m.NB10 {
		b.bytes = append(b.bytes, "NB10"...)
		b.u32s(0, m.Timestamp, m.Age)
	} else {
		b.bytes = append(append(b.bytes, "RSDS"...), m.GUID[:]...)
		b.u32(m.Age)
	}
	return append(append(b.bytes, m.PDB...), 0)
}

func (d Dump) unloaded(b *builder) {
	names := make([]uint32, len(d.Unloaded))
	for i, m := range d.Unloaded {
		names[i] = b.text(m.Name)
	}
	b.stream(14, func() {
		b.u32s(12, 24, uint32(len(d.Unloaded)))
		for i, m := range d.Unloaded {
			b.u64(m.Base)
			b.u32s(m.Size, m.Checksum, m.Timestamp, names[i])
		}
	})
}

func (d Dump) handles(b *builder) {
	types, names := make([]uint32, len(d.Handles)), make([]uint32, len(d.Handles))
	known := map[string]uint32{}
	for i, h := range d.Handles {
		if known[h.Type] == 0 {
			known[h.Type] = b.text(h.Type)
		}
		types[i], names[i] = known[h.Type], b.text(h.Name)
	}
	b.stream(12, func() {
		b.u32s(16, 40, uint32(len(d.Handles)), 0)
		for i, h := range d.Handles {
			b.u64(h.Handle)
			b.u32s(types[i], names[i], h.Attributes, h.Access, h.HandleCount, h.PointerCount, 0, 0)
		}
	})
}

func (d Dump) regions(b *builder) {
	b.stream(16, func() {
		b.u32s(16, 48)
		b.u64(uint64(len(d.Regions)))
		for _, r := range d.Regions {
			b.u64s(r.Base, r.AllocationBase)
			b.u32s(r.AllocationProtect, 0)
			b.u64(r.Size)
			b.u32s(r.State, r.Protect, r.Type, 0)
		}
	})
}

func (d Dump) exception(b *builder) {
	e := d.Exception
	var context []byte
	if e.Registers != nil {
		context = Context(d.System.Arch, *e.Registers)
	}
	at := b.blob(context)
	b.stream(6, func() {
		b.u32s(e.Thread, 0, e.Code, 0)
		b.u64s(0, e.Address)
		b.u32s(uint32(len(e.Parameters)), 0)
		for i := range 15 {
			if i < len(e.Parameters) {
				b.u64(e.Parameters[i])
			} else {
				b.u64(0)
			}
		}
		b.u32s(uint32(len(context)), at)
	})
}

func (d Dump) counters(b *builder) {
	c := d.Counters
	b.stream(22, func() {
		if c.Revision == 1 {
			b.u16(1)
			b.u16(0)
			b.u32(c.PageFaults)
			b.u64s(c.PeakWorkingSet, c.WorkingSet, 0, 0, 0, 0, c.Pagefile, c.PeakPagefile, c.Private)
			return
		}
		b.u16(2)
		b.u16(0x1F) // all are there
		b.u32(c.PageFaults)
		b.u64s(c.PeakWorkingSet, c.WorkingSet, 0, 0, 0, 0, c.Pagefile, c.PeakPagefile)
		b.u64s(c.PeakVirtualSize, c.VirtualSize, c.Private, c.PrivateWorkingSet, c.SharedCommit)
		b.u64s(0, 0, 0, 0, 0) // of the job
	})
}

// listMemory adds the list of memory and returns where its bytes begin.
func (d Dump) listMemory(b *builder) int64 {
	if d.Memory == nil {
		return int64(len(b.bytes))
	}
	b.align(8)
	list := 16 + 16*len(d.Memory)
	if d.Small {
		list = 4 + 16*len(d.Memory)
	}
	at := max(int64(len(b.bytes)+list), d.MemoryAt)
	if d.Small {
		b.stream(5, func() {
			b.u32(uint32(len(d.Memory)))
			offset := at
			for _, m := range d.Memory {
				b.u64(m.Address)
				b.u32s(uint32(m.size()), uint32(offset))
				offset += int64(m.size())
			}
		})
		return at
	}
	b.stream(9, func() {
		b.u64s(uint64(len(d.Memory)), uint64(at))
		for _, m := range d.Memory {
			b.u64s(m.Address, m.size())
		}
	})
	return at
}
