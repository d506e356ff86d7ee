package memory

import (
	"math"
	"unsafe"

	"golang.org/x/sys/windows"
)

// available is the memory of the machine, or of the job object that the program is in.
func available() int64 { return min(ofMachine(), ofJob()) }

// memoryStatus is MEMORYSTATUSEX of sysinfoapi.h.
type memoryStatus struct {
	length            uint32
	load              uint32
	totalPhysical     uint64
	availablePhysical uint64
	totalPageFile     uint64
	availablePageFile uint64
	totalVirtual      uint64
	availableVirtual  uint64
	availableExtended uint64
}

var globalMemoryStatus = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// ofMachine is the physical memory of the machine, or the largest number where it is not known.
func ofMachine() int64 {
	status := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	if ok, _, _ := globalMemoryStatus.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return math.MaxInt64
	}
	return bounded(status.totalPhysical)
}

// ofJob is the least limit of the job object that the program is in: containers of Windows and runners of CI set one.
func ofJob() int64 {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	// Without a handle the function asks for the job of the calling process, and fails where there is none.
	err := windows.QueryInformationJobObject(0, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	if err != nil {
		return math.MaxInt64
	}
	limit := int64(math.MaxInt64)
	if info.BasicLimitInformation.LimitFlags&windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY != 0 {
		limit = min(limit, bounded(uint64(info.ProcessMemoryLimit)))
	}
	if info.BasicLimitInformation.LimitFlags&windows.JOB_OBJECT_LIMIT_JOB_MEMORY != 0 {
		limit = min(limit, bounded(uint64(info.JobMemoryLimit)))
	}
	return limit
}

// bounded is a number of bytes; 0 is one that is not known.
func bounded(bytes uint64) int64 {
	if bytes == 0 || bytes > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(bytes)
}
