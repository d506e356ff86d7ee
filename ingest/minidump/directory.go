package minidump

import "fmt"

// A StreamType says what a stream holds (MINIDUMP_STREAM_TYPE).
type StreamType uint32

// The streams that are read.
const (
	StreamUnused           StreamType = 0
	StreamThreadList       StreamType = 3
	StreamModuleList       StreamType = 4
	StreamMemoryList       StreamType = 5
	StreamException        StreamType = 6
	StreamSystemInfo       StreamType = 7
	StreamThreadExList     StreamType = 8
	StreamMemory64List     StreamType = 9
	StreamCommentA         StreamType = 10
	StreamCommentW         StreamType = 11
	StreamHandleData       StreamType = 12
	StreamUnloadedModules  StreamType = 14
	StreamMiscInfo         StreamType = 15
	StreamMemoryInfoList   StreamType = 16
	StreamThreadInfoList   StreamType = 17
	StreamSystemMemoryInfo StreamType = 21
	StreamVMCounters       StreamType = 22
	StreamThreadNames      StreamType = 24
)

// streamNames are the names of the streams as minidumpapiset.h has them, and those of Breakpad and Crashpad
// (minidump_format.h, minidump_extensions.h), which Windows programs bring along as well.
var streamNames = map[StreamType]string{
	0: "Unused", 1: "Reserved0", 2: "Reserved1", 3: "ThreadList", 4: "ModuleList", 5: "MemoryList",
	6: "Exception", 7: "SystemInfo",
	8: "ThreadExList", 9: "Memory64List", 10: "CommentA", 11: "CommentW", 12: "HandleData", 13: "FunctionTable",
	14: "UnloadedModuleList", 15: "MiscInfo", 16: "MemoryInfoList", 17: "ThreadInfoList",
	18: "HandleOperationList", 19: "Token",
	20: "JavaScriptData", 21: "SystemMemoryInfo", 22: "ProcessVmCounters", 23: "IptTrace", 24: "ThreadNames",
	0x43500001: "CrashpadInfo", 0x47670001: "BreakpadInfo", 0x47670002: "AssertionInfo", 0x47670003: "LinuxCpuInfo",
	0x47670004: "LinuxProcStatus", 0x47670005: "LinuxLsbRelease", 0x47670006: "LinuxCmdLine", 0x47670007: "LinuxEnviron",
	0x47670008: "LinuxAuxv", 0x47670009: "LinuxMaps", 0x4767000A: "LinuxDsoDebug",
}

// String is the stream's name, or "unknown 0x…".
func (t StreamType) String() string {
	if name, ok := streamNames[t]; ok {
		return name
	}
	return fmt.Sprintf("unknown %#x", uint32(t))
}

// A Stream is an entry of the directory (MINIDUMP_DIRECTORY, 12 bytes: StreamType u32, DataSize u32, Rva u32). Its
// extent is as claimed, and may lie outside the file.
type Stream struct {
	Type         StreamType
	Name         string // of Type, as Windows calls it
	Offset, Size int64  // bytes, in the file
}

const directoryEntrySize = 12

// directory reads which streams there are; unused entries are left out.
func (d *Dump) directory(at int64, p *problems) {
	whole := Stream{Offset: at, Size: d.src.size - at}
	l := d.bounded(whole, 0, directoryEntrySize, uint64(d.header.Streams), maxStreams, p)
	seen := map[StreamType]bool{}
	for i, e := range d.entries(l, p) {
		t := StreamType(le.Uint32(e))
		if t == StreamUnused {
			continue
		}
		s := Stream{Type: t, Name: t.String(), Size: int64(le.Uint32(e[4:])), Offset: int64(le.Uint32(e[8:]))}
		if once := readOnce[t]; once && seen[t] {
			p.add(CodeRepeated, i, l.at+i*directoryEntrySize, 1, "the dump has the stream %s again; the first is read", s.Name)
		}
		seen[t] = true
		d.streams = append(d.streams, s)
	}
}

// readOnce are the streams of which the first is read alone. Of memory and comments all are.
var readOnce = map[StreamType]bool{
	StreamThreadList: true, StreamModuleList: true, StreamException: true, StreamSystemInfo: true,
	StreamThreadExList: true,
	StreamHandleData:   true, StreamUnloadedModules: true, StreamMiscInfo: true, StreamMemoryInfoList: true,
	StreamThreadInfoList: true, StreamSystemMemoryInfo: true, StreamVMCounters: true, StreamThreadNames: true,
}

// stream finds the first stream of a type.
func (d *Dump) stream(t StreamType) (Stream, bool) {
	for _, s := range d.streams {
		if s.Type == t {
			return s, true
		}
	}
	return Stream{}, false
}
