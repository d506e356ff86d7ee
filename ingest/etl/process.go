package etl

// Processes, group 3. Fields by wmicore.mof (Process_TypeGroup1) and real traces of versions 1 to 5:
//
//	1 Start, 2 End, 3 DCStart, 4 DCEnd, 39 Defunct
//	v0  PID P, PPID P, SID, Image bytes
//	v1  PageDirectoryBase P, PID u32, PPID u32, SessionId u32, ExitStatus i32, SID, Image bytes
//	v2  UniqueProcessKey P, PID u32, PPID u32, SessionId u32, ExitStatus i32, SID, Image bytes, CommandLine UTF-16
//	v3  … ExitStatus i32, DirectoryTableBase P, SID, Image, CommandLine
//	v4  … DirectoryTableBase P, Flags u32, SID, Image, CommandLine, PackageFullName UTF-16, AppId UTF-16
//	v5  as v4, and ExitTime u64 (Defunct)
//
// SID is a u32 0, or a TOKEN_USER of two pointers and the SID itself: u8 revision, u8 count, 6 bytes, count u32.

// A ProcessFlags is a set of bits of Flags in version 4 of the event.
type ProcessFlags uint32

// The bits that matter.
const (
	ProcessPackaged ProcessFlags = 1
	ProcessWOW64    ProcessFlags = 2
)

// ProcessEvent is a process that started, ended, or was there.
type ProcessEvent struct {
	Key         uint64 // address of the kernel's object, 0 before version 2: tells processes of one PID apart
	PID, Parent uint32 // process ids
	Session     uint32 // number of the session of Windows that it ran in
	ExitStatus  int32
	Flags       ProcessFlags
	Image       string // file name, cut to 15 bytes by old versions of Windows
	CommandLine string
}

// Process decodes KindProcessStart, KindProcessEnd, KindProcessDCStart, KindProcessDCEnd and KindProcessDefunct. What
// comes behind an impossible SID is left empty. ok is false where the payload is too short.
func (e *Event) Process() (p ProcessEvent, ok bool) {
	var rest []byte
	switch e.Version {
	case 0:
		if !e.has(0, 2) {
			return p, false
		}
		p.PID, p.Parent, rest = uint32(e.p(0, 0)), uint32(e.p(0, 1)), e.from(0, 2)
	default:
		fixed, pointers := 16, 1
		if e.Version >= 3 {
			pointers = 2
		}
		if e.Version >= 4 {
			fixed = 20
		}
		if !e.has(fixed, pointers) {
			return p, false
		}
		p = ProcessEvent{PID: e.u32(0, 1), Parent: e.u32(4, 1), Session: e.u32(8, 1), ExitStatus: int32(e.u32(12, 1))}
		if e.Version >= 2 {
			p.Key = e.p(0, 0)
		}
		if e.Version >= 4 {
			p.Flags = ProcessFlags(e.u32(16, 2))
		}
		rest = e.from(fixed, pointers)
	}
	n := sidSize(rest, int(e.PointerBytes))
	if n < 0 {
		return p, true
	}
	rest = rest[n:]
	p.Image, n = asciiz(rest)
	if e.Version >= 2 {
		p.CommandLine, _ = utf16z(rest[n:])
	}
	return p, true
}

// sidSize is how many bytes the SID at the start of b takes, -1 where it is cut short.
func sidSize(b []byte, pointer int) int {
	if len(b) < 4 {
		return -1
	}
	if le.Uint32(b) == 0 {
		return 4
	}
	user := 2 * pointer
	if len(b) < user+8 {
		return -1
	}
	n := user + 8 + 4*int(b[user+1])
	if n > len(b) {
		return -1
	}
	return n
}
