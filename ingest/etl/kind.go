package etl

// A Kind names an event whose payload this package decodes. It does not depend on the envelope: the same event under a
// kernel group or under a class GUID has the same Kind.
type Kind uint8

// The kinds of events.
const (
	KindOther  Kind = iota // not decoded
	KindHeader             // the log-file header event of a file

	KindHeapCreate
	KindHeapAlloc
	KindHeapReAlloc
	KindHeapDestroy
	KindHeapFree
	KindHeapExpand
	KindHeapSnapShot
	KindHeapContract
	KindHeapOther // the other opcodes of the heap class: locks, subsegments, …

	KindHeapRangeRundown
	KindHeapRangeCreate
	KindHeapRangeReserve
	KindHeapRangeRelease
	KindHeapRangeDestroy

	KindVirtualAlloc
	KindVirtualFree
	KindVirtualAllocDCStart
	KindVirtualAllocDCEnd
	KindMemInfo
	KindProcessMemInfo

	KindProcessStart
	KindProcessEnd
	KindProcessDCStart
	KindProcessDCEnd
	KindProcessDefunct
	KindProcessTerminate
	KindProcessCounters

	KindThreadStart
	KindThreadEnd
	KindThreadDCStart
	KindThreadDCEnd
	KindThreadSetName

	KindImageLoad
	KindImageUnload
	KindImageDCStart
	KindImageDCEnd
	KindImageID
	KindImageRSDS

	KindStackWalk
	KindStackKeyCreate
	KindStackKeyDelete
	KindStackKeyRundown
	KindStackKeyKernel
	KindStackKeyUser

	KindSystemPaths
	KindVolumeMapping
	KindHeapSnapshotData // Microsoft-Windows-Heap-Snapshot: a blob without a public layout

)

// Groups of kernel events, the high byte of a hook id.
const (
	groupHeader  = 0x00
	groupMemory  = 0x02
	groupProcess = 0x03
	groupThread  = 0x05
	groupHeap    = 0x10
	groupImage   = 0x14
	groupStack   = 0x18
)

// kinds maps hook ids, group<<8 | opcode. Sources: wmicore.mof of WDK 10.0.16299 and ntwmi.h.
var kinds = func() *[1 << 16]Kind {
	t := new([1 << 16]Kind)
	set := func(group int, ops map[int]Kind) {
		for op, kind := range ops {
			t[group<<8|op] = kind
		}
	}
	for op := range 256 {
		t[groupHeap<<8|op] = KindHeapOther
	}
	t[groupHeader<<8] = KindHeader
	set(groupHeap, map[int]Kind{
		32: KindHeapCreate, 33: KindHeapAlloc, 34: KindHeapReAlloc, 35: KindHeapDestroy, 36: KindHeapFree,
		37: KindHeapExpand, 38: KindHeapSnapShot, 42: KindHeapContract,
	})
	set(groupMemory, map[int]Kind{
		98: KindVirtualAlloc, 99: KindVirtualFree, 128: KindVirtualAllocDCStart, 129: KindVirtualAllocDCEnd,
		100: KindHeapRangeRundown, 101: KindHeapRangeCreate, 102: KindHeapRangeReserve, 103: KindHeapRangeRelease,
		104: KindHeapRangeDestroy,
		112: KindMemInfo, 125: KindProcessMemInfo,
	})
	set(groupProcess, map[int]Kind{
		1: KindProcessStart, 2: KindProcessEnd, 3: KindProcessDCStart, 4: KindProcessDCEnd,
		11: KindProcessTerminate, 39: KindProcessDefunct,
		32: KindProcessCounters, 33: KindProcessCounters,
		10: KindImageLoad, // loads are logged under the process group, the other image events under their own
	})
	set(groupThread, map[int]Kind{1: KindThreadStart, 2: KindThreadEnd, 3: KindThreadDCStart,
		4: KindThreadDCEnd, 72: KindThreadSetName})
	set(groupImage, map[int]Kind{2: KindImageUnload, 3: KindImageDCStart, 4: KindImageDCEnd, 10: KindImageLoad})
	set(groupStack, map[int]Kind{
		32: KindStackWalk, 34: KindStackKeyCreate, 35: KindStackKeyDelete, 36: KindStackKeyRundown,
		37: KindStackKeyKernel, 38: KindStackKeyUser,
	})
	return t
}()

// kindByGUID names the event of a provider or class; op is the opcode of a classic event.
func kindByGUID(g GUID, op uint8) Kind {
	if group, ok := classes[g]; ok {
		return kinds[int(group)<<8|int(op)]
	}
	switch {
	case g == ProviderImageID && op == 0:
		return KindImageID
	case g == ProviderImageID && op == 36:
		return KindImageRSDS
	case g == ProviderSysConfigEx && op == 33:
		return KindSystemPaths
	case g == ProviderSysConfigEx && op == 35:
		return KindVolumeMapping
	}
	return KindOther
}

// A KindSet is a set of kinds. The zero value is empty.
type KindSet uint64

// allKinds is the set of every event.
const allKinds = ^KindSet(0)

// Kinds makes the set of the given kinds.
func Kinds(kinds ...Kind) KindSet {
	var s KindSet
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// Has reports whether k is in the set.
func (s KindSet) Has(k Kind) bool { return s>>k&1 != 0 }
