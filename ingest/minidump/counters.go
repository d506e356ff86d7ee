package minidump

// Counters are what the system counts of the process, in bytes. There are two layouts, by Revision; what a layout does
// not have, or its flags say is not set, is 0.
//
//	MINIDUMP_PROCESS_VM_COUNTERS_1, 80 bytes        _2, 152 bytes
//	Revision u16                    0x00            0x00
//	Flags u16                       –               0x02
//	PageFaultCount u32              0x04            0x04
//	PeakWorkingSetSize u64          0x08            0x08
//	WorkingSetSize u64              0x10            0x10
//	Quota… u64, four                0x18            0x18
//	PagefileUsage u64               0x38            0x38
//	PeakPagefileUsage u64           0x40            0x40
//	PeakVirtualSize u64             –               0x48
//	VirtualSize u64                 –               0x50
//	PrivateUsage u64                0x48            0x58
//	PrivateWorkingSetSize u64       –               0x60
//	SharedCommitUsage u64           –               0x68
//	Job… u64, five                  –               0x70
type Counters struct {
	Revision          uint16
	PageFaults        uint32
	WorkingSet        uint64
	PeakWorkingSet    uint64
	PagefileUsage     uint64
	PeakPagefileUsage uint64
	VirtualSize       uint64
	PeakVirtualSize   uint64
	PrivateUsage      uint64 // the commit charge
	PrivateWorkingSet uint64
	SharedCommit      uint64
}

const (
	counters1Size = 0x50
	counters2Size = 0x70 // of what is read: the job's are not the process's
	// The flags of the second layout (MINIDUMP_PROCESS_VM_COUNTERS_x).
	countersVirtualSize = 0x02
	countersEx          = 0x04 // PrivateUsage
	countersEx2         = 0x08 // PrivateWorkingSetSize and SharedCommitUsage
)

// Counters reads what the system counts; nil where the dump does not have it.
func (d *Dump) Counters() (*Counters, error) {
	s, ok := d.stream(StreamVMCounters)
	if !ok {
		return nil, nil
	}
	p := &problems{stream: StreamVMCounters}
	b, ok := d.head(s, counters2Size, counters1Size, p)
	if !ok {
		return nil, p.err()
	}
	c := &Counters{
		Revision:          le.Uint16(b),
		PageFaults:        le.Uint32(b[0x04:]),
		PeakWorkingSet:    le.Uint64(b[0x08:]),
		WorkingSet:        le.Uint64(b[0x10:]),
		PagefileUsage:     le.Uint64(b[0x38:]),
		PeakPagefileUsage: le.Uint64(b[0x40:]),
	}
	switch flags := le.Uint16(b[0x02:]); {
	case c.Revision < 2:
		c.PrivateUsage = le.Uint64(b[0x48:])
	case len(b) < counters2Size:
		p.add(CodeTruncated, -1, s.Offset, 1, "counters of revision %d have %d bytes; they need %d",
			c.Revision, len(b), counters2Size)
	default:
		if flags&countersVirtualSize != 0 {
			c.PeakVirtualSize, c.VirtualSize = le.Uint64(b[0x48:]), le.Uint64(b[0x50:])
		}
		if flags&countersEx != 0 {
			c.PrivateUsage = le.Uint64(b[0x58:])
		}
		if flags&countersEx2 != 0 {
			c.PrivateWorkingSet, c.SharedCommit = le.Uint64(b[0x60:]), le.Uint64(b[0x68:])
		}
	}
	return c, p.err()
}

// SystemMemory is the memory of the machine, in bytes (MINIDUMP_SYSTEM_MEMORY_INFO_1, of which the first 148 bytes are
// read):
//
//	BasicInfo       0x04   PageSize u32 0x08, NumberOfPhysicalPages u32 0x0C
//	BasicPerfInfo   0x74   in pages: AvailablePages u64 0x74, CommittedPages u64 0x7C, CommitLimit u64 0x84, PeakCommitment u64 0x8C
type SystemMemory struct {
	Physical, Available     uint64 // of the machine's memory: all, and free or standby
	Committed, CommitLimit  uint64 // commit charge of all processes, and its limit
	PeakCommitted, PageSize uint64
}

const systemMemorySize = 0x94

// SystemMemory reads how much memory the machine had; it is nil where the dump does not say.
func (d *Dump) SystemMemory() (*SystemMemory, error) {
	s, ok := d.stream(StreamSystemMemoryInfo)
	if !ok {
		return nil, nil
	}
	p := &problems{stream: StreamSystemMemoryInfo}
	b, ok := d.head(s, systemMemorySize, systemMemorySize, p)
	if !ok {
		return nil, p.err()
	}
	page := uint64(le.Uint32(b[0x08:]))
	pages := func(at int) uint64 { return le.Uint64(b[at:]) * page }
	return &SystemMemory{
		PageSize: page, Physical: uint64(le.Uint32(b[0x0C:])) * page, Available: pages(0x74),
		Committed: pages(0x7C), CommitLimit: pages(0x84), PeakCommitted: pages(0x8C),
	}, p.err()
}
