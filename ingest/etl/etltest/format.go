package etltest

import "math/bits"

// A Format says how a trace is recorded. The zero value is a merged, uncompressed trace of Windows 10 with plain
// stacks.
type Format struct {
	Build      uint32 // of Windows: 7601, 9200, 10586, 19041, 26100, …; decides versions and envelopes of events
	Bits       int    // of the kernel: the log file's header, and what PERFINFO events say
	Native     bool   // as a session wrote it: no ImageID or volume events, a logger's number, raw buffer times
	Logger     uint16 // number of a native file's session, the logger id
	BufferSize int    // bytes
	Compressed bool   // merged files only
	Keys       int    // slots of the cache of stacks, which events then name by key; 0 for plain stacks
	Relogged   bool   // events of the kernel come in classic headers with their class's GUID
	Clock      Clock  // what time stamps count; 0 as QPC
	Frequency  int64  // of the counter, per second; for Cycles a multiple of 1 MHz
	Origin     int64  // value of the counter at the trace's start
	Bias       int32  // UTC = local time + Bias, in minutes

	Ring        int   // buffers of a circular file beside the first; 0 for a file that grows
	OneStream   bool  // NO_PER_PROCESSOR_BUFFERING: all CPUs write to one buffer
	Disorder    int   // with OneStream: events that may overtake one another
	Unfinished  bool  // the session was never stopped: no end, no count of buffers
	EventsLost  int   // counted in the header, and marked in the second buffer of events
	DropBuffers []int // sequence numbers of buffers that were lost: not written, counted, and marked in the next

	NoStartRundown bool // no events about what existed before the trace
	NoEndRundown   bool // no events about what exists at its end
	MemoryRundown  bool // the rundown tells reserved addresses too

	ProcessVersion, ThreadVersion, ImageVersion, HeapVersion int // 0: what the build writes; −1: version 0
}

// A Clock is what time stamps count.
type Clock uint32

// The clocks of a session; the log file's header has these numbers in ReservedFlags.
const (
	QPC        Clock = 1
	SystemTime Clock = 2
	Cycles     Clock = 3
)

// filled gives zero fields their defaults.
func (f Format) filled() Format {
	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
		*field = max(*field, 0)
	}
	if f.Build == 0 {
		f.Build = 19045
	}
	if f.Clock == 0 {
		f.Clock = QPC
	}
	if f.Frequency == 0 {
		f.Frequency = 10_000_000
	}
	if f.Origin == 0 {
		f.Origin = 9_500_000_000_123
	}
	if f.Logger == 0 {
		f.Logger = 9
	}
	set(&f.Bits, 64)
	set(&f.BufferSize, 0x10000)
	process, thread, image, heap := 4, 3, 3, 3
	if f.Build < 9200 {
		process, image, heap = 3, 2, 2
	}
	if f.Build >= 22000 {
		thread = 4
	}
	set(&f.ProcessVersion, process)
	set(&f.ThreadVersion, thread)
	set(&f.ImageVersion, image)
	set(&f.HeapVersion, heap)
	return f
}

// scaled is ns × n ÷ d, rounded down, for times before the start too.
func scaled(ns, n, d int64) int64 {
	if ns < 0 {
		return -scaled(-ns, n, d)
	}
	hi, lo := bits.Mul64(uint64(ns), uint64(n))
	q, _ := bits.Div64(hi, lo, uint64(d))
	return int64(q)
}

// raw is what the session's clock shows at a time.
func (f *Format) raw(ns int64, start uint64) int64 {
	switch f.Clock {
	case SystemTime:
		return int64(start) + scaled(ns, 1, 100)
	case Cycles:
		return f.Origin + scaled(ns, f.Frequency/1_000_000, 1000)
	}
	return f.Origin + scaled(ns, f.Frequency, 1_000_000_000)
}

// Seen is the time, in ns since the trace's start, that a reader sees for a time of the scenario: ns rounded down to a
// tick of the clock.
func (f Format) Seen(ns int64) int64 {
	f = f.filled()
	switch f.Clock {
	case SystemTime:
		return scaled(ns, 1, 100) * 100
	case Cycles:
		return scaled(scaled(ns, f.Frequency/1_000_000, 1000), 1000, f.Frequency/1_000_000)
	}
	return scaled(scaled(ns, f.Frequency, 1_000_000_000), 1_000_000_000, f.Frequency)
}

// buildVersion is the major and minor version of Windows that a build belongs to.
func (f *Format) buildVersion() (major, minor byte) {
	switch {
	case f.Build < 9200:
		return 6, 1
	case f.Build < 9600:
		return 6, 2
	case f.Build < 10240:
		return 6, 3
	}
	return 10, 0
}
