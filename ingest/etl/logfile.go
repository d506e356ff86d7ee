package etl

import "time"

// A LogFileMode is a set of bits of EVENT_TRACE_LOGFILE's LogFileMode.
type LogFileMode uint32

// The bits that matter to a reader.
const (
	ModeCircular   LogFileMode = 0x00000002
	ModeNewFile    LogFileMode = 0x00000008 // one of several files of a session
	ModeRelog      LogFileMode = 0x00010000 // written by a merge
	ModeCompressed LogFileMode = 0x04000000
	ModeNoPerCPU   LogFileMode = 0x10000000 // EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING
)

// A ClockType says what time stamps count.
type ClockType uint32

// The clocks of EVENT_TRACE_PROPERTIES.Wnode.ClientContext.
const (
	ClockQPC    ClockType = 1 // ticks of QueryPerformanceCounter
	ClockSystem ClockType = 2 // FILETIME, 100 ns
	ClockCycles ClockType = 3 // CPU cycles
)

// A LogFile is what a file's header event says about the session (TRACE_LOGFILE_HEADER, evntrace.h):
//
//	field               64-bit  32-bit
//	BufferSize u32       0x00    0x00
//	Version u8[4]        0x04    0x04   major, minor, sub, subminor
//	ProviderVersion u32  0x08    0x08   build of the operating system
//	NumberOfProcessors   0x0C    0x0C
//	EndTime FILETIME     0x10    0x10   0 in an unfinished file
//	LogFileMode u32      0x20    0x20
//	BuffersWritten u32   0x24    0x24   0 or stale in an unfinished file
//	PointerSize u32      0x2C    0x2C   of the kernel; events say their own
//	EventsLost u32       0x30    0x30
//	CpuSpeedInMHz u32    0x34    0x34
//	TimeZone.Bias i32    0x48    0x40   minutes, UTC = local + Bias
//	BootTime FILETIME    0xF8    0xF0
//	PerfFreq i64         0x100   0xF8
//	StartTime FILETIME   0x108   0x100
//	ReservedFlags u32    0x110   0x108  clock type
//	BuffersLost u32      0x114   0x10C
//	LoggerName\0 LogFileName\0 UTF-16 behind it
type LogFile struct {
	BufferSize     uint32    // bytes
	Version        [4]uint8  // of the log format: major, minor, sub, subminor
	Build          uint32    // build number of Windows
	CPUs           uint32    // processors
	Start, End     time.Time // UTC; End is zero in an unfinished file
	Boot           time.Time // UTC
	Mode           LogFileMode
	BuffersWritten uint32 // 0 or stale in an unfinished file
	Bits           uint8  // width of the log-file header, 32 or 64
	EventsLost     uint32
	BuffersLost    uint32
	CPUSpeed       uint32        // MHz
	ZoneBias       time.Duration // UTC = local time + ZoneBias
	Frequency      int64         // of QueryPerformanceCounter, per second
	Clock          ClockType
	Stamp          int64  // time stamp of the header event: Start on the session's clock
	Logger         string // name of the session
	Name           string // as the session named its file
	startFiletime  int64
}

// Sizes of TRACE_LOGFILE_HEADER and of what is in it.
const (
	logFileMin32    = 0x110
	logFileMin64    = 0x118
	timeZoneAligned = 0xB0 // TIME_ZONE_INFORMATION, 0xAC bytes, and 4 of padding
)

// parseLogFile reads the payload of the header event; bits is the width by that event's own header.
func parseLogFile(p []byte, bits uint8, stamp int64) (LogFile, bool) {
	least, zone := logFileMin64, 0x48
	if bits == 32 {
		least, zone = logFileMin32, 0x40
	}
	if len(p) < least {
		return LogFile{}, false
	}
	tail := p[zone+timeZoneAligned:]
	l := LogFile{
		BufferSize:     le.Uint32(p),
		Version:        [4]uint8(p[4:8]),
		Build:          le.Uint32(p[0x08:]),
		CPUs:           le.Uint32(p[0x0C:]),
		End:            filetime(int64(le.Uint64(p[0x10:]))),
		Mode:           LogFileMode(le.Uint32(p[0x20:])),
		BuffersWritten: le.Uint32(p[0x24:]),
		Bits:           bits,
		EventsLost:     le.Uint32(p[0x30:]),
		CPUSpeed:       le.Uint32(p[0x34:]),
		ZoneBias:       time.Duration(int32(le.Uint32(p[zone:]))) * time.Minute,
		Boot:           filetime(int64(le.Uint64(tail))),
		Frequency:      int64(le.Uint64(tail[0x08:])),
		startFiletime:  int64(le.Uint64(tail[0x10:])),
		Clock:          ClockType(le.Uint32(tail[0x18:])),
		BuffersLost:    le.Uint32(tail[0x1C:]),
		Stamp:          stamp,
	}
	l.Start = filetime(l.startFiletime)
	var n int
	l.Logger, n = utf16z(p[least:])
	l.Name, _ = utf16z(p[least+n:])
	return l, true
}

// filetimeUnix is 1970-01-01 in FILETIME, which counts 100 ns since 1601.
const filetimeUnix = 116444736000000000

// filetime converts a FILETIME; 0 is the zero time.
func filetime(v int64) time.Time {
	if v == 0 {
		return time.Time{}
	}
	v -= filetimeUnix
	return time.Unix(v/1e7, v%1e7*100).UTC()
}
