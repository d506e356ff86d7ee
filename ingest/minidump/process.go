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
//	TimeZoneId u32          0x38   1 standard time, 2 daylight saving
//	TimeZone                0x3C   TIME_ZONE_INFORMATION, 172 bytes: Bias i32 0x00, StandardBias i32 0x54, DaylightBias i32 0xA8, in minutes
//	BuildString             0xE8   u16[260]
//	DbgBldStr               0x2F0  u16[40]
type Process struct {
	PID     uint32    // 0 unknown
	Created time.Time // UTC
	// User and Kernel are the times that it ran, in whole seconds.
	User, Kernel time.Duration
	// Bias is UTC minus the machine's local time; 0 where the dump does not say.
	Bias        time.Duration
	BuildString string // of Windows: "19041.1.amd64fre.vb_release.191206-1406"
	DebugBuild  string // of the writer: "dbghelp.i386,10.0.22000.1"
}

const (
	miscInfoLeast  = 24
	miscInfoSize   = 832 // of what is read: later fields say nothing of memory
	buildStringAt  = 0xE8
	debugBuildAt   = 0x2F0
	miscHasPID     = 0x001
	miscHasTimes   = 0x002
	miscHasZone    = 0x040
	miscHasBuildID = 0x100
	zoneIDAt       = 0x38
	zoneAt         = 0x3C
	zoneSize       = 172
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
	if flags&miscHasZone != 0 && len(b) >= zoneAt+zoneSize {
		process.Bias = zoneBias(le.Uint32(b[zoneIDAt:]), b[zoneAt:])
	}
	if flags&miscHasBuildID != 0 && len(b) >= miscInfoSize {
		process.BuildString, process.DebugBuild = wide(b[buildStringAt:debugBuildAt]), wide(b[debugBuildAt:])
	}
	return process, p.err()
}

// zoneBias is what local time is behind UTC. No zone is further from it than a day.
func zoneBias(id uint32, zone []byte) time.Duration {
	minutes := int32(le.Uint32(zone))
	switch id {
	case 1:
		minutes += int32(le.Uint32(zone[0x54:]))
	case 2:
		minutes += int32(le.Uint32(zone[0xA8:]))
	}
	if bias := time.Duration(minutes) * time.Minute; bias.Abs() <= 24*time.Hour {
		return bias
	}
	return 0
}
