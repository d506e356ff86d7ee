package minidump

import "time"

// A Process is what the dump says of the process (MINIDUMP_MISC_INFO to _5, of 24, 44, 232, 832 and 1364 bytes):
//
//	SizeOfInfo u32          0x00
//	Flags1 u32              0x04   which of the following are set
//	ProcessId u32           0x08
//	ProcessCreateTime u32   0x0C   seconds since 1970
//	ProcessUserTime u32     0x10   seconds
//	ProcessKernelTime u32   0x14   seconds
//	BuildString             0xE8   u16[260]
//	DbgBldStr               0x2F0  u16[40]
type Process struct {
	PID     uint32    // 0 unknown
	Created time.Time // UTC
	// User and Kernel are the times that it ran, in whole seconds.
	User, Kernel time.Duration
	BuildString  string // of Windows: "19041.1.amd64fre.vb_release.191206-1406"
	DebugBuild   string // of the writer: "dbghelp.i386,10.0.22000.1"
}

const (
	miscInfoLeast  = 24
	miscInfoSize   = 832 // of what is read: later fields say nothing of memory
	buildStringAt  = 0xE8
	debugBuildAt   = 0x2F0
	miscHasPID     = 0x001
	miscHasTimes   = 0x002
	miscHasBuildID = 0x100
)

// Process reads what the dump says of the process; it is zero where it does not.
func (d *Dump) Process() (Process, error) {
	p := &problems{stream: StreamMiscInfo}
	s, ok := d.stream(StreamMiscInfo)
	if !ok {
		p.add(CodeNoStream, -1, 0, 1, "the dump does not say which process it is of")
		return Process{}, p.err()
	}
	b, ok := d.head(s, miscInfoSize, miscInfoLeast, p)
	if !ok {
		return Process{}, p.err()
	}
	size, flags := int64(le.Uint32(b)), le.Uint32(b[0x04:])
	if size < int64(len(b)) {
		b = b[:max(size, miscInfoLeast)]
	}
	var process Process
	if flags&miscHasPID != 0 {
		process.PID = le.Uint32(b[0x08:])
	}
	if flags&miscHasTimes != 0 {
		process.User = time.Duration(le.Uint32(b[0x10:])) * time.Second
		process.Kernel = time.Duration(le.Uint32(b[0x14:])) * time.Second
		if created := le.Uint32(b[0x0C:]); created != 0 {
			process.Created = time.Unix(int64(created), 0).UTC()
		}
	}
	if flags&miscHasBuildID != 0 && len(b) >= miscInfoSize {
		process.BuildString, process.DebugBuild = wide(b[buildStringAt:debugBuildAt]), wide(b[debugBuildAt:])
	}
	return process, p.err()
}
