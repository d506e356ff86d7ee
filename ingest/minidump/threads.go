package minidump

import "time"

// A Location is a part of the file.
type Location struct {
	Offset int64
	Size   uint32
}

// A Thread is a thread of the process (MINIDUMP_THREAD, 48 bytes; MINIDUMP_THREAD_EX has 16 more for a second stack of
// IA64):
//
//	ThreadId u32         0x00
//	SuspendCount u32     0x04
//	PriorityClass u32    0x08
//	Priority u32         0x0C
//	Teb u64              0x10
//	Stack                0x18   StartOfMemoryRange u64, DataSize u32, Rva u32
//	ThreadContext        0x28   DataSize u32, Rva u32
//
// and what other streams tell of it: MINIDUMP_THREAD_NAME, 12 bytes: ThreadId u32 0x00, RvaOfThreadName u64 0x04; and
// MINIDUMP_THREAD_INFO, 64 bytes: ThreadId u32 0x00, DumpFlags u32 0x04, DumpError u32 0x08, ExitStatus u32 0x0C,
// CreateTime, ExitTime, KernelTime, UserTime u64 from 0x10, StartAddress u64 0x30, Affinity u64 0x38.
type Thread struct {
	ID            uint32
	Name          string // as SetThreadDescription gave it
	TEB           uint64
	Stack         Range  // the part in use, from the stack pointer to the stack's base; a full dump may say 0 bytes
	Suspend       uint32 // suspend count
	PriorityClass uint32
	Priority      int32
	Context       Location // of the CONTEXT; see Registers
	// Created, StartAddress, Kernel and User are zero without a ThreadInfoList.
	Created      time.Time
	StartAddress uint64
	Kernel, User time.Duration // processor time
}

const (
	threadSize       = 48
	threadExSize     = 64
	threadNameSize   = 12
	threadInfoHeader = 12
	threadInfoSize   = 64
)

// Threads reads the threads, with their names and times where the dump has them.
func (d *Dump) Threads() ([]Thread, error) {
	p := &problems{stream: StreamThreadList}
	s, ok := d.stream(StreamThreadList)
	size := int64(threadSize)
	if extended, there := d.stream(StreamThreadExList); !ok && there {
		s, ok, size = extended, true, threadExSize
		p.stream = StreamThreadExList
	}
	if !ok {
		p.add(CodeNoStream, -1, 0, 1, "the dump has no list of threads")
		return nil, p.err()
	}
	l := d.plainList(s, size, maxThreads, p)
	var threads []Thread
	known := map[uint32]int{}
	for i, e := range d.entries(l, p) {
		t := Thread{
			ID:            le.Uint32(e),
			Suspend:       le.Uint32(e[0x04:]),
			PriorityClass: le.Uint32(e[0x08:]),
			Priority:      int32(le.Uint32(e[0x0C:])),
			TEB:           le.Uint64(e[0x10:]),
			Stack: Range{Address: le.Uint64(e[0x18:]), Size: uint64(le.Uint32(e[0x20:])),
				offset: int64(le.Uint32(e[0x24:]))},
			Context: Location{Size: le.Uint32(e[0x28:]), Offset: int64(le.Uint32(e[0x2C:]))},
		}
		if _, twice := known[t.ID]; twice {
			p.add(CodeBadEntry, i, l.at+i*size, 1, "the list has thread %#x twice", t.ID)
			continue
		}
		known[t.ID] = len(threads)
		threads = append(threads, t)
	}
	more := d.threadNames(threads, known)
	more = append(more, d.threadInfos(threads, known)...)
	p.list = append(p.list, more...)
	return threads, p.err()
}

func (d *Dump) threadNames(threads []Thread, known map[uint32]int) []*Problem {
	s, ok := d.stream(StreamThreadNames)
	if !ok {
		return nil
	}
	p := &problems{stream: StreamThreadNames}
	names := d.names(p)
	l := d.plainList(s, threadNameSize, maxThreads, p)
	for i, e := range d.entries(l, p) {
		if at, ok := known[le.Uint32(e)]; ok {
			threads[at].Name = names.at(int64(min(le.Uint64(e[4:]), 1<<63-1)), i)
		}
	}
	return p.list
}

func (d *Dump) threadInfos(threads []Thread, known map[uint32]int) []*Problem {
	s, ok := d.stream(StreamThreadInfoList)
	if !ok {
		return nil
	}
	p := &problems{stream: StreamThreadInfoList}
	l := d.sizedList(s, threadInfoHeader, threadInfoSize, maxThreads, p)
	for _, e := range d.entries(l, p) {
		if at, ok := known[le.Uint32(e)]; ok {
			t := &threads[at]
			t.Created, t.StartAddress = filetime(le.Uint64(e[0x10:])), le.Uint64(e[0x30:])
			t.Kernel, t.User = ticks(le.Uint64(e[0x20:])), ticks(le.Uint64(e[0x28:]))
		}
	}
	return p.list
}
