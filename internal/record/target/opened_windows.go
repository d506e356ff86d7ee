package target

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// opened is a process with its handle.
type opened struct {
	handle windows.Handle
	pid    uint32
	exited chan struct{}
}

// Exited implements Running.
func (o *opened) Exited() <-chan struct{} { return o.exited }

// ExitCode implements Running.
func (o *opened) ExitCode() (code uint32) {
	_ = windows.GetExitCodeProcess(o.handle, &code) // 0 where Windows does not tell
	return code
}

// Kill implements Running.
func (o *opened) Kill() error {
	if err := windows.TerminateProcess(o.handle, killed); err != nil {
		return fmt.Errorf("end process %d: %w", o.pid, err)
	}
	return nil
}

// killed is the exit code of programs that record ends.
const killed = 1

// Close implements Running.
func (o *opened) Close() { _ = windows.CloseHandle(o.handle) }

// Info implements Running.
func (o *opened) Info() Info {
	info := Info{PID: o.pid, Path: o.path(), Bits: o.bits()}
	info.Image = base(info.Path)
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(o.handle, &created, &exited, &kernel, &user) == nil {
		info.Started = time.Unix(0, created.Nanoseconds())
	}
	info.Flags, info.HasFlags = o.flags()
	return info
}

// longestPath is the longest path of Windows, in units of UTF-16.
const longestPath = 32768

func (o *opened) path() string {
	var buffer [longestPath]uint16
	n := uint32(len(buffer))
	if windows.QueryFullProcessImageName(o.handle, 0, &buffer[0], &n) != nil {
		return ""
	}
	return windows.UTF16ToString(buffer[:n])
}

func (o *opened) bits() int {
	var wow bool
	if err := windows.IsWow64Process(o.handle, &wow); err != nil {
		return 0
	}
	if wow || unsafe.Sizeof(uintptr(0)) == 4 {
		return 32
	}
	return 64
}

// globalFlagOffset is where the environment block of a 64-bit process (PEB) has NtGlobalFlag. A 32-bit process on
// 64-bit Windows has such a block, too: the loaders of both widths run in it and read the settings.
const globalFlagOffset = 0xBC

// flags are those that the process runs with. They are not known of a process that has not started its code yet, and
// to a program of 32 bit.
func (o *opened) flags() (uint32, bool) {
	if unsafe.Sizeof(uintptr(0)) == 4 {
		return 0, false
	}
	var basic windows.PROCESS_BASIC_INFORMATION
	err := windows.NtQueryInformationProcess(o.handle, windows.ProcessBasicInformation, unsafe.Pointer(&basic),
		uint32(unsafe.Sizeof(basic)), nil)
	if err != nil || basic.PebBaseAddress == nil {
		return 0, false
	}
	var value uint32
	var n uintptr
	err = windows.ReadProcessMemory(o.handle, uintptr(unsafe.Pointer(basic.PebBaseAddress))+globalFlagOffset,
		(*byte)(unsafe.Pointer(&value)), unsafe.Sizeof(value), &n)
	return value, err == nil && n == unsafe.Sizeof(value)
}
