package livesnapshot

import (
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"

	"heapdrift/ingest/minidump"
	"heapdrift/internal/resumer"
)

// pointerWidth is that of this program, in bytes.
const pointerWidth = int(unsafe.Sizeof(uintptr(0)))

// The rights to a process: what is needed, and what a clone needs beside.
const (
	neededRights = windows.PROCESS_QUERY_INFORMATION | windows.PROCESS_VM_READ | windows.PROCESS_SUSPEND_RESUME
	cloneRights  = neededRights | windows.PROCESS_CREATE_PROCESS
)

// A process is a process of this machine, opened.
type process struct {
	processSpace
	pid     uint32
	isWOW64 bool // 32-bit on 64-bit Windows
	arch    minidump.Arch
	clone   *clone
	resumer *resumer.Resumer // nil for none
}

// open opens a process. Administrators may open those of services, too.
func open(pid uint32) (target, error) {
	if pid == windows.GetCurrentProcessId() {
		return nil, &Error{Code: CodeSelf, PID: pid, Message: "this is heapdrift itself", Do: "give another process"}
	}
	handle, err := openHandle(pid)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) && enableDebugPrivilege() == nil {
		handle, err = openHandle(pid)
	}
	switch {
	case errors.Is(err, windows.ERROR_INVALID_PARAMETER):
		return nil, &Error{Code: CodeProcess, PID: pid, Message: "no process has this number", Do: "look it up with tasklist"}
	case errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return nil, &Error{Code: CodeAccess, PID: pid, Message: "Windows does not let it be read", Err: err,
			Do: "run heapdrift as the user of the process, or as administrator; protected processes cannot be read"}
	case err != nil:
		return nil, &Error{Code: CodeAccess, PID: pid, Message: "the process cannot be opened", Err: err}
	}
	p := &process{processSpace: processSpace{handle}, pid: pid}
	if err := p.identify(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func openHandle(pid uint32) (windows.Handle, error) {
	handle, err := windows.OpenProcess(cloneRights, false, pid)
	if err != nil {
		return windows.OpenProcess(neededRights, false, pid)
	}
	return handle, nil
}

// enableDebugPrivilege lets an administrator open processes of others.
func enableDebugPrivilege() error {
	var token windows.Token
	err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_ADJUST_PRIVILEGES|windows.TOKEN_QUERY, &token)
	if err != nil {
		return err
	}
	defer token.Close()
	name, err := windows.UTF16PtrFromString("SeDebugPrivilege")
	if err != nil {
		return err
	}
	state := windows.Tokenprivileges{PrivilegeCount: 1}
	state.Privileges[0].Attributes = windows.SE_PRIVILEGE_ENABLED
	if err := windows.LookupPrivilegeValue(nil, name, &state.Privileges[0].Luid); err != nil {
		return err
	}
	return windows.AdjustTokenPrivileges(token, false, &state, 0, nil, nil)
}

// machineARM64 is IMAGE_FILE_MACHINE_ARM64 of winnt.h.
const machineARM64 = 0xAA64

// identify finds the width of the process, and refuses one that this program cannot read.
func (p *process) identify() error {
	var code uint32
	const stillActive = 259
	if err := windows.GetExitCodeProcess(p.handle, &code); err == nil && code != stillActive {
		return &Error{Code: CodeProcess, PID: p.pid, Message: "the process has ended", Do: "start it again"}
	}
	if err := windows.IsWow64Process(p.handle, &p.isWOW64); err != nil {
		return &Error{Code: CodeAccess, PID: p.pid, Message: "its width cannot be asked for", Err: err}
	}
	if pointerWidth == 4 {
		var self bool
		if err := windows.IsWow64Process(windows.CurrentProcess(), &self); err == nil && self && !p.isWOW64 {
			return &Error{Code: CodeWidth, PID: p.pid, Message: "a 32-bit heapdrift cannot read a 64-bit process",
				Do: "use the 64-bit program"}
		}
		p.arch = minidump.ArchX86
		return nil
	}
	p.arch = minidump.ArchX64
	var own, native uint16
	if runtime.GOARCH == "arm64" || procIsWow64Process2.Find() == nil &&
		windows.IsWow64Process2(p.handle, &own, &native) == nil && native == machineARM64 {
		p.arch = minidump.ArchARM64
	}
	return nil
}

// Guard starts a resumer.
func (p *process) Guard() (err error) {
	p.resumer, err = resumer.Start(p.pid)
	return err
}

// Suspend suspends all threads of the process.
func (p *process) Suspend() error {
	p.resumer.Suspending()
	err := statusOf(procNtSuspendProcess, uintptr(p.handle))
	if err != nil {
		p.resumer.Resumed()
	}
	return err
}

// Resume lets them go on.
func (p *process) Resume() error {
	defer p.resumer.Resumed()
	return statusOf(procNtResumeProcess, uintptr(p.handle))
}

// Close closes the process and its clone.
func (p *process) Close() {
	if p.clone != nil {
		p.clone.close()
	}
	p.resumer.Close()
	_ = windows.CloseHandle(p.handle) // nothing was written
}
