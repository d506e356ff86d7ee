package main

import "heapdrift/ingest/etl"

// An eventClass is a class of events with names for opcodes.
type eventClass struct {
	name string
	ops  map[uint8]string
}

// Names of opcodes, from wmicore.mof of the WDK 10.0.16299 and ntwmi.h.
var (
	processOps = map[uint8]string{1: "Start", 2: "End", 3: "DCStart", 4: "DCEnd", 10: "Image Load", 11: "Terminate",
		32: "PerfCtr", 33: "PerfCtrRundown", 39: "Defunct"}
	threadOps = map[uint8]string{1: "Start", 2: "End", 3: "DCStart", 4: "DCEnd", 36: "CSwitch",
		50: "ReadyThread", 72: "SetName"}
	imageOps = map[uint8]string{2: "Unload", 3: "DCStart", 4: "DCEnd", 10: "Load"}
	heapOps  = map[uint8]string{
		32: "Create", 33: "Alloc", 34: "ReAlloc", 35: "Destroy", 36: "Free", 37: "Expand", 38: "SnapShot", 42: "Contract",
		43: "Lock", 44: "Unlock", 45: "Validate", 46: "Walk", 47: "SubSegmentAlloc", 48: "SubSegmentFree",
		49: "SubSegmentAllocCached",
		50: "SubSegmentFreeCached", 51: "Commit", 52: "Decommit", 53: "SubSegmentInit", 54: "AffinityManagerEnable",
		55: "AffinitySlotAssigned",
		56: "SubSegmentActivated", 57: "AffinitySlotChanged", 58: "ReuseThresholdActivated",
	}
	memoryOps = map[uint8]string{
		10: "TransitionFault", 11: "DemandZeroFault", 12: "CopyOnWrite", 13: "GuardPageFault", 14: "HardPageFault",
		15: "AccessViolation", 32: "HardFault",
		98: "VirtualAlloc", 99: "VirtualFree", 100: "HeapRangeRundown", 101: "HeapRangeCreate", 102: "HeapRangeReserve",
		103: "HeapRangeRelease", 104: "HeapRangeDestroy",
		105: "ImageLoadBacked", 112: "MemInfo", 125: "ProcessMemInfo", 126: "SessionMemInfo", 127: "VirtualRotate",
		128: "VirtualAllocDCStart", 129: "VirtualAllocDCEnd", 134: "MemReset",
	}
	stackOps = map[uint8]string{32: "Stack", 34: "KeyCreate", 35: "KeyDelete", 36: "KeyRundown",
		37: "StackKeyKernel", 38: "StackKeyUser"}
)

// groupNames are the classes of kernel events by their group.
var groupNames = map[uint8]eventClass{
	0x00: {"EventTrace", map[uint8]string{0: "Header", 5: "Extension", 8: "RDComplete", 32: "EndExtension",
		64: "DbgIdRSDS", 66: "BuildInfo", 67: "ProviderBinaryPath", 80: "PartitionInfoExtension"}},
	0x01: {"DiskIo", map[uint8]string{10: "Read", 11: "Write", 12: "ReadInit", 13: "WriteInit"}},
	0x02: {"PageFault", memoryOps}, 0x03: {"Process", processOps}, 0x04: {"FileIo", nil},
	0x05: {"Thread", threadOps}, 0x06: {"TcpIp", nil},
	0x07: {"Job", nil}, 0x08: {"UdpIp", nil}, 0x09: {"Registry", nil}, 0x0A: {"DbgPrint", nil},
	0x0B: {"SystemConfig", nil}, 0x0D: {"Wnf", nil},
	0x0E: {"Pool", nil}, 0x0F: {"PerfInfo", map[uint8]string{46: "SampledProfile"}}, 0x10: {"Heap", heapOps},
	0x11: {"Object", nil}, 0x12: {"Power", nil},
	0x13: {"ModBound", nil}, 0x14: {"Image", imageOps}, 0x15: {"DPC", nil}, 0x16: {"CC", nil}, 0x17: {"CritSec", nil},
	0x18: {"StackWalk", stackOps},
	0x19: {"UMS", nil}, 0x1A: {"ALPC", nil}, 0x1B: {"SplitIo", nil}, 0x1C: {"ThreadPool", nil}, 0x1D: {"Hypervisor", nil},
	0x1E: {"Hypervisor", nil},
}

// providerNames are providers, and the classes of kernel events in headers that name them by GUID.
var providerNames = map[string]eventClass{
	etl.ProviderImageID.String(): {"KernelTraceControl ImageID", map[uint8]string{
		0: "Info", 32: "None", 36: "RSDS", 37: "IL RSDS", 38: "PPDB", 40: "Deterministic", 64: "FileVersion"}},
	etl.ProviderSysConfigEx.String(): {"KernelTraceControl SysConfigEx", map[uint8]string{
		32: "BuildInfo", 33: "SystemPaths", 34: "UnknownVolume", 35: "VolumeMapping", 36: "NetworkInterface"}},
	etl.ProviderHeapRange.String():         {"HeapRange", memoryOps},
	etl.ProviderHeapSnapshot.String():      {"Microsoft-Windows-Heap-Snapshot", nil},
	"28ad2447-105b-4fe2-9599-e59b2aa9a634": {"KernelTraceControl", nil},
	"bbccf6c1-6cd1-48c4-80ff-839482e37671": {"KernelTraceControl event metadata",
		map[uint8]string{32: "EventInfo", 33: "MapInfo"}},
	"05867806-c246-43ef-a147-e17d2bdb1496": {"HeapSummary", nil},
	"d1d93ef7-e1f2-4f45-9943-03d245fe6c00": {"Microsoft-Windows-Kernel-Memory", nil},
	"22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716": {"Microsoft-Windows-Kernel-Process", nil},
	"e13c0d23-ccbc-4e12-931b-d9cc2eee27e4": {"Microsoft-Windows-DotNETRuntime", nil},
	"a669021c-c450-4609-a035-5af59af4df18": {"Microsoft-Windows-DotNETRuntimeRundown", nil},
	"68fdd900-4a3e-11d1-84f4-0000f80464e3": {"EventTrace", nil},
	"3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c": {"DiskIo", nil},
	"3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c": {"PageFault", memoryOps},
	"3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c": {"Process", processOps},
	"3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c": {"Thread", threadOps},
	"90cbdc39-4a3e-11d1-84f4-0000f80464e3": {"FileIo", nil},
	"9a280ac0-c8e0-11d1-84e2-00c04fb998a2": {"TcpIp", nil},
	"bf3a50c5-a9c9-4988-a005-2df0b7c80f80": {"UdpIp", nil},
	"ae53722e-c863-11d2-8659-00c04fa321a1": {"Registry", nil},
	"01853a65-418f-4f36-aefc-dc0f1d2fd235": {"SystemConfig", nil},
	"0268a8b6-74fd-4302-9dd0-6e8f1795c0cf": {"Pool", nil},
	"ce1dbfb4-137e-4da6-87b0-3f59aa102cbc": {"PerfInfo", nil},
	"222962ab-6180-4b88-a825-346b75f2a24a": {"Heap", heapOps},
	"89497f50-effe-4440-8cf2-ce6b1cdcaca7": {"Object", nil},
	"2cb15d1d-5fc1-11d2-abe1-00a0c911f518": {"Image", imageOps},
	"3ac66736-cc59-4cff-8115-8df50e39816b": {"CritSec", nil},
	"def2fe46-7bd6-4b80-bd94-f57fe20d0ce3": {"StackWalk", stackOps},
}

var clockNames = map[etl.ClockType]string{0: "QueryPerformanceCounter", etl.ClockQPC: "QueryPerformanceCounter",
	etl.ClockSystem: "system time", etl.ClockCycles: "CPU cycles"}

// modesOf names the bits of a LogFileMode (evntrace.h, EVENT_TRACE_…_MODE).
func modesOf(mode etl.LogFileMode) []string {
	list := []string{}
	for _, m := range []struct {
		bit  etl.LogFileMode
		name string
	}{
		{0x1, "sequential"}, {etl.ModeCircular, "circular"}, {0x4, "append"}, {0x8, "newfile"},
		{0x20, "preallocate"}, {0x80, "secure"},
		{0x100, "real time"}, {0x400, "buffering"}, {0x1000, "add header"}, {0x2000, "size in KB"}, {etl.ModeRelog, "merged"},
		{0x02000000, "system logger"}, {etl.ModeCompressed, "compressed"}, {0x08000000, "independent session"},
		{etl.ModeNoPerCPU, "no per-processor buffering"},
	} {
		if mode&m.bit != 0 {
			list = append(list, m.name)
		}
	}
	return list
}
