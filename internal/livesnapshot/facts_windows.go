package livesnapshot

import (
	"cmp"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"heapdrift/ingest/minidump"
)

// Facts are what the system tells. What it does not tell is left out.
func (p *process) Facts() facts {
	f := facts{System: p.system(), Process: minidump.Process{PID: p.pid, Bias: bias()}, Counters: p.counters(),
		Machine: machineMemory(), Handles: append(p.handles(), p.gui()...), Unloaded: p.unloaded()}
	f.Host, _ = os.Hostname() // a machine without a name
	f.PEB, _ = p.pebOf()      // it is looked for by the threads, then
	var wow uintptr
	if p.isWOW64 && pointerWidth == 8 && windows.NtQueryInformationProcess(p.handle, windows.ProcessWow64Information,
		unsafe.Pointer(&wow), uint32(pointerWidth), nil) == nil {
		f.WOW64PEB = uint64(wow)
	}
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(p.handle, &created, &exited, &kernel, &user) == nil {
		f.Process.Created = time.Unix(0, created.Nanoseconds()).UTC()
	}
	return f
}

// pebOf is the environment block of the side that this program is of.
func (p *process) pebOf() (uint64, error) {
	var info windows.PROCESS_BASIC_INFORMATION
	err := windows.NtQueryInformationProcess(p.handle, windows.ProcessBasicInformation, unsafe.Pointer(&info),
		uint32(unsafe.Sizeof(info)), nil)
	return uint64(uintptr(unsafe.Pointer(info.PebBaseAddress))), err
}

func (p *process) system() minidump.System {
	v := windows.RtlGetVersion()
	s := minidump.System{Arch: p.arch, Bits: uint8(8 * pointerWidth), Major: v.MajorVersion, Minor: v.MinorVersion,
		Build: v.BuildNumber, Product: minidump.Product(v.ProductType), ServicePack: windows.UTF16ToString(v.CsdVersion[:])}
	s.Processors = uint8(min(runtime.NumCPU(), 255))
	return s
}

// bias is what the wall clock of the machine is behind UTC.
func bias() time.Duration {
	var zone windows.Timezoneinformation
	which, err := windows.GetTimeZoneInformation(&zone)
	if err != nil {
		return 0
	}
	const standard, daylight = 1, 2
	minutes := zone.Bias
	switch which {
	case standard:
		minutes += zone.StandardBias
	case daylight:
		minutes += zone.DaylightBias
	}
	return time.Duration(minutes) * time.Minute
}

// memoryCounters is PROCESS_MEMORY_COUNTERS_EX of psapi.h.
type memoryCounters struct {
	size, pageFaults                               uint32
	peakWorkingSet, workingSet                     uintptr
	peakPaged, paged, peakNonPaged, nonPaged       uintptr
	pagefileUsage, peakPagefileUsage, privateUsage uintptr
}

func (p *process) counters() *minidump.Counters {
	c := memoryCounters{size: uint32(unsafe.Sizeof(memoryCounters{}))}
	if _, err := answerOf(procGetProcessMemoryInfo, uintptr(p.handle), uintptr(unsafe.Pointer(&c)),
		uintptr(c.size)); err != nil {
		return nil
	}
	// PrivateUsage and PagefileUsage are both the commit charge, and old systems tell one of them.
	return &minidump.Counters{PageFaults: c.pageFaults, WorkingSet: uint64(c.workingSet),
		PeakWorkingSet: uint64(c.peakWorkingSet), PagefileUsage: uint64(c.pagefileUsage),
		PeakPagefileUsage: uint64(c.peakPagefileUsage), PrivateUsage: uint64(cmp.Or(c.privateUsage, c.pagefileUsage))}
}

// performance is PERFORMANCE_INFORMATION of psapi.h, in pages.
type performance struct {
	size                                  uint32
	committed, commitLimit, peakCommitted uintptr
	physical, available, cache            uintptr
	kernel, kernelPaged, kernelNonPaged   uintptr
	page                                  uintptr // bytes
	handles, processes, threads           uint32
}

func machineMemory() *minidump.SystemMemory {
	i := performance{size: uint32(unsafe.Sizeof(performance{}))}
	if _, err := answerOf(procGetPerformanceInfo, uintptr(unsafe.Pointer(&i)), uintptr(i.size)); err != nil {
		return nil
	}
	pages := func(n uintptr) uint64 { return uint64(n) * uint64(i.page) }
	return &minidump.SystemMemory{PageSize: uint64(i.page), Physical: pages(i.physical), Available: pages(i.available),
		Committed: pages(i.committed), CommitLimit: pages(i.commitLimit), PeakCommitted: pages(i.peakCommitted)}
}

// unloaded are the images that the native loader has unloaded. Its list lies at the same address in all processes of a
// width, and RtlGetUnloadEventTraceEx is documented to tell of those of others.
func (p *process) unloaded() []minidump.UnloadedModule {
	if procUnloadEventTrace.Find() != nil {
		return nil
	}
	var size, count *uint32
	var array *uintptr
	_, _, _ = procUnloadEventTrace.Call(uintptr(unsafe.Pointer(&size)), uintptr(unsafe.Pointer(&count)),
		uintptr(unsafe.Pointer(&array)))
	const largestEntry, mostEntries = 1024, 1024 // of Windows 11: 108 and 64
	if size == nil || count == nil || array == nil || *size > largestEntry || *count > mostEntries {
		return nil
	}
	var at [8]byte
	if n, _ := p.ReadMemory(at[:pointerWidth], uint64(uintptr(unsafe.Pointer(array)))); n < pointerWidth {
		return nil
	}
	b := make([]byte, *size**count)
	n, _ := p.ReadMemory(b, pointerAt(at[:], pointerWidth)) // of a process that has unloaded nothing it is 0
	return unloadedImages(b[:n], int(*size), pointerWidth)
}
