package etltest

// Opcodes that processes and threads share.
const (
	opStart, opEnd, opDCStart, opDCEnd = 1, 2, 3, 4

	ProcessTerminate    = 11
	ProcessPerfCounters = 32
	ProcessDefunct      = 39
	ThreadSetName       = 72
)

// kernelEnvelope is that of an event of a process, a thread or an image. Since Windows 8 inventories say nothing of who
// made them.
func (f *Format) kernelEnvelope(op byte) HeaderKind {
	if f.Build >= 9200 && (op == opDCStart || op == opDCEnd) {
		return PerfInfoHeader
	}
	return SystemHeader
}

// ProcessEvent is an event of a process's life in version 0 to 5 (5 for ProcessDefunct only).
//
//	0    ProcessId P, ParentId P, UserSID, ImageFileName
//	1    PageDirectoryBase P, ProcessId, ParentId, SessionId u32, ExitStatus i32, UserSID, ImageFileName
//	2    UniqueProcessKey P, …, ExitStatus, UserSID, ImageFileName, CommandLine
//	3    …, ExitStatus, DirectoryTableBase P, UserSID, …
//	4    …, DirectoryTableBase, Flags u32, UserSID, …, CommandLine, PackageFullName, ApplicationId
//	5    as 4, ExitTime u64
func (f Format) ProcessEvent(op byte, p *Process) Event {
	f = f.filled()
	v := f.ProcessVersion
	if op == ProcessDefunct {
		v = 5
	}
	e := payload{bits: f.Bits}
	if v == 0 {
		e.ptr(uint64(p.PID), uint64(p.Parent))
		e.sid(p.SID)
		e.ascii(p.Name)
	} else {
		e.ptr(p.Key)
		e.u32(p.PID, p.Parent, p.Session, uint32(p.ExitStatus))
		if v >= 3 {
			e.ptr(0x1AD000)
		}
		if v >= 4 {
			flags := uint32(0)
			if p.Package != "" {
				flags |= 1
			}
			if p.Bits == 32 && f.Bits == 64 {
				flags |= 2
			}
			e.u32(flags)
		}
		e.sid(p.SID)
		e.ascii(p.Name)
		if v >= 2 {
			e.wide(p.CommandLine)
		}
		if v >= 4 {
			e.wide(p.Package)
			e.wide("")
		}
		if v >= 5 {
			e.u64(0)
		}
	}
	return Event{Envelope: f.kernelEnvelope(op), Group: groupProcess, Op: op, Version: uint16(v), Payload: e.b}
}

// sid appends TOKEN_USER (two pointers) and the SID, or a zero u32 for none.
func (p *payload) sid(sid []byte) {
	if sid == nil {
		p.u32(0)
		return
	}
	p.ptr(0xFFFFB4815F464680, 0)
	p.u8(sid...)
}

// SID makes a security identifier of the authority 5 (NT) with the given sub-authorities.
func SID(sub ...uint32) []byte {
	p := payload{}
	p.u8(1, byte(len(sub)), 0, 0, 0, 0, 0, 5)
	p.u32(sub...)
	return p.b
}

// ThreadEvent is an event of a thread's life in version 0 to 4.
//
//	0    ThreadId u32, ProcessId u32
//	1    ProcessId, ThreadId u32, StackBase, StackLimit, UserStackBase, UserStackLimit, StartAddr, Win32StartAddr P,
//	     WaitMode i8
//	2    …, Win32StartAddr, TebBase P, SubProcessTag u32
//	3    Affinity P in place of StartAddr; …, SubProcessTag, BasePriority, PagePriority, IoPriority, ThreadFlags u8
//	4    …, ThreadName
func (f Format) ThreadEvent(op byte, pid uint32, t *Thread) Event {
	f = f.filled()
	v, e := f.ThreadVersion, payload{bits: f.Bits}
	if v == 0 {
		e.u32(t.TID, pid)
	} else {
		e.u32(pid, t.TID)
		e.ptr(0xFFFFF80012346000, 0xFFFFF80012340000, 0x170000, 0x16C000, 0xFF, 0x7FF612340000)
		switch v {
		case 1:
			e.u8(0)
		case 2:
			e.ptr(0x2F1000)
			e.u32(0)
		default:
			e.ptr(0x2F1000)
			e.u32(0)
			e.u8(8, 5, 2, 0)
		}
		if v >= 4 {
			e.wide(t.Name)
		}
	}
	return Event{Envelope: f.kernelEnvelope(op), Group: groupThread, Op: op, Version: uint16(v), Payload: e.b}
}

// ThreadNameEvent names a thread: ProcessId u32, ThreadId u32, the name.
func (f Format) ThreadNameEvent(pid, tid uint32, name string) Event {
	f = f.filled()
	p := payload{bits: f.Bits}
	p.u32(pid, tid)
	p.wide(name)
	return Event{Envelope: f.kernelEnvelope(ThreadSetName), Group: groupThread, Op: ThreadSetName,
		Version: 2, Payload: p.b}
}

// PerfCountersEvent is what a process had used when it ended: ProcessId, PageFaultCount, HandleCount, Reserved u32,
// then eleven P of which the last is PrivatePageCount, the given private bytes.
func (f Format) PerfCountersEvent(pid uint32, private uint64) Event {
	f = f.filled()
	p := payload{bits: f.Bits}
	p.u32(pid, 1234, 56, 0)
	p.ptr(1<<31, 1<<24, 1<<24, 1<<16, 1<<14, 1<<30, 1<<23, private, 1<<15, 1<<13, private)
	return Event{Envelope: PerfInfoHeader, Group: groupProcess, Op: ProcessPerfCounters, Version: 2, Payload: p.b}
}
