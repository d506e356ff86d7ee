package etltest

// Bits of LogFileMode.
const (
	modeSequential   = 0x1
	modeCircular     = 0x2
	modeRelogged     = 0x10000
	modeSystemLogger = 0x02000000
	modeCompressed   = 0x04000000
	modeOneStream    = 0x10000000
)

// header is the first buffer: the log file's header, from Windows 10 on also what partition the clock belongs to.
func (r *recorder) header() []byte {
	f := &r.f
	b := make([]byte, bufferHeader, f.BufferSize)
	origin := f.raw(0, r.start)
	e := Event{Envelope: SystemHeader, Group: groupHeader, Version: 2, Payload: r.logFile()}
	b = appendEvent(b, &e, f.Bits, 4, 8, origin)
	if f.Build >= 10240 { // PartitionInfoExtensionV2: version, 0 u16, PartitionType u32, QpcOffsetFromRoot i64, two GUIDs
		p := payload{}
		p.u16(2, 0)
		p.u32(1)
		p.u64(0)
		p.u8(make([]byte, 32)...)
		b = appendEvent(b, &Event{Envelope: SystemHeader, Group: groupHeader, Op: 80, Version: 2, Payload: p.b}, f.Bits,
			4, 8, origin)
	}
	filled := len(b)
	size := f.BufferSize
	if f.Compressed { // what the first buffer has no use for is cut
		size = min(size, (filled+0x1FF)&^0x1FF)
	}
	for len(b) < size {
		b = append(b, 0xFF)
	}
	seq := r.seq
	r.seq = 0
	r.head(b, filled, 0, 0, 0, typeHeader)
	r.seq = seq
	return b
}

// logFile is TRACE_LOGFILE_HEADER with its two texts.
func (r *recorder) logFile() []byte {
	f, p := &r.f, payload{bits: r.f.Bits}
	p.u32(uint32(f.BufferSize))
	major, minor := f.buildVersion()
	if f.Compressed {
		p.u8(major, minor, 2, 0)
	} else {
		p.u8(major, minor, 1, 5)
	}
	p.u32(f.Build, uint32(r.cpus))
	if f.Unfinished {
		p.u64(0)
	} else {
		p.u64(r.start + uint64(scaled(r.end, 1, 100))) // EndTime
	}
	size, mode, written := uint32(0), uint32(modeSequential), uint32(r.seq)+1-uint32(r.lost)
	if f.Ring > 0 {
		mode = modeCircular
		size = uint32(max(1, (f.Ring+1)*f.BufferSize>>20))
	}
	if f.Native {
		mode |= modeSystemLogger
	} else {
		mode |= modeRelogged
	}
	if f.Compressed {
		mode |= modeCompressed
	}
	if f.OneStream {
		mode |= modeOneStream
	}
	if f.Unfinished {
		written = 0
	}
	p.u32(156250, size, mode, written) // TimerResolution, MaximumFileSize, LogFileMode, BuffersWritten
	mhz := uint32(2995)
	if f.Clock == Cycles {
		mhz = uint32(f.Frequency / 1_000_000)
	}
	p.u32(1, uint32(f.Bits/8), uint32(f.EventsLost), mhz) // StartBuffers, PointerSize, EventsLost, CpuSpeedInMHz
	p.ptr(0x30, 0x44)                                     // LoggerName, LogFileName: no pointers any more
	p.timeZone(f.Bias)
	p.u32(0)                        // to a multiple of 8
	p.u64(r.start - 36_000_000_000) // BootTime: an hour before
	p.u64(uint64(f.Frequency))      // PerfFreq
	p.u64(r.start)
	p.u32(uint32(f.Clock), uint32(r.lost)) // ReservedFlags, BuffersLost
	if f.Native {
		p.wide("NT Kernel Logger")
		p.wide(`C:\kernel.etl`)
	} else {
		p.wide("Relogger")
		p.wide("[multiple files]")
	}
	return p.b
}

// timeZone appends TIME_ZONE_INFORMATION: Bias i32, StandardName [32]u16, SYSTEMTIME, i32, DaylightName, SYSTEMTIME,
// i32; 0xAC bytes.
func (p *payload) timeZone(bias int32) {
	p.u32(uint32(bias))
	p.u8(make([]byte, 64+16+4+64+16+4)...)
}
