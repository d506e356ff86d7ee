package livesnapshot

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"

	"heapdrift/ingest/minidump"
)

// A processSpace is the address space of a process or of its clone.
type processSpace struct{ handle windows.Handle }

// ReadMemory reads what is there; ReadProcessMemory tells how much that was also where it fails.
func (s processSpace) ReadMemory(p []byte, addr uint64) (int, error) {
	if len(p) == 0 || uint64(uintptr(addr)) != addr {
		return 0, nil
	}
	var n uintptr
	err := windows.ReadProcessMemory(s.handle, uintptr(addr), &p[0], uintptr(len(p)), &n)
	return int(min(n, uintptr(len(p)))), err
}

// Query asks for the region that an address lies in.
func (s processSpace) Query(addr uint64) (minidump.Region, error) {
	if uint64(uintptr(addr)) != addr {
		return minidump.Region{}, errEnd
	}
	var info windows.MemoryBasicInformation
	err := windows.VirtualQueryEx(s.handle, uintptr(addr), &info, unsafe.Sizeof(info))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) { // behind the last address of programs
		return minidump.Region{}, errEnd
	}
	if err != nil {
		return minidump.Region{}, err
	}
	r := minidump.Region{Base: uint64(info.BaseAddress), Size: uint64(info.RegionSize), State: minidump.State(info.State)}
	if r.State != minidump.MemFree { // of free pages the rest is not set
		r.AllocationBase, r.AllocationProtect = uint64(info.AllocationBase), minidump.Protection(info.AllocationProtect)
		r.Type = minidump.MemoryType(info.Type)
	}
	if r.State == minidump.MemCommit {
		r.Protect = minidump.Protection(info.Protect)
	}
	return r, nil
}

// A clone is a copy of an address space in a snapshot of PssCaptureSnapshot. Pages are copied when one side writes.
type clone struct {
	processSpace
	snapshot windows.Handle
}

const (
	captureClone = 0x1 // PSS_CAPTURE_VA_CLONE of processsnapshot.h
	queryClone   = 1   // PSS_QUERY_VA_CLONE_INFORMATION
)

// Clone clones the address space, where the machine has memory for it.
func (p *process) Clone() (space, error) {
	if !p.mayClone() {
		return nil, errNoClone
	}
	c := &clone{}
	if err := errorOf(procPssCaptureSnapshot, uintptr(p.handle), captureClone, 0,
		uintptr(unsafe.Pointer(&c.snapshot))); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoClone, err)
	}
	if err := errorOf(procPssQuerySnapshot, uintptr(c.snapshot), queryClone, uintptr(unsafe.Pointer(&c.handle)),
		unsafe.Sizeof(c.handle)); err != nil {
		c.close()
		return nil, fmt.Errorf("%w: %w", errNoClone, err)
	}
	if err := p.checkClone(c); err != nil {
		c.close()
		return nil, fmt.Errorf("%w: %w", errNoClone, err)
	}
	p.clone = c
	return c, nil
}

// checkClone reports why a clone cannot be read: the process itself is read then.
func (p *process) checkClone(c *clone) error {
	base, err := p.pebOf()
	if err != nil {
		return err
	}
	var first [1]byte
	if n, err := c.ReadMemory(first[:], base); n == 0 {
		return err
	}
	_, err = c.Query(base)
	return err
}

// cloneRoom is how many times the private bytes of a process must be free for a clone: Windows charges it as much
// again, and a machine without memory would fail the programs on it.
const cloneRoom = 2

// mayClone reports whether the machine has memory for a clone.
func (p *process) mayClone() bool {
	counters, machine := p.counters(), machineMemory()
	if counters == nil || machine == nil || machine.CommitLimit < machine.Committed {
		return false
	}
	return counters.PrivateUsage <= (machine.CommitLimit-machine.Committed)/cloneRoom
}

func (c *clone) close() {
	if c.snapshot != 0 {
		// It ends with this program, too.
		_ = errorOf(procPssFreeSnapshot, uintptr(windows.CurrentProcess()), uintptr(c.snapshot))
	}
}
