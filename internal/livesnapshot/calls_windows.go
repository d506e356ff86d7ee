package livesnapshot

import "golang.org/x/sys/windows"

// What golang.org/x/sys/windows does not have. Old versions of Windows and Wine lack some of it.
var (
	ntdll    = windows.NewLazySystemDLL("ntdll.dll")
	kernel32 = windows.NewLazySystemDLL("kernel32.dll")
	psapi    = windows.NewLazySystemDLL("psapi.dll")
	user32   = windows.NewLazySystemDLL("user32.dll")

	procNtSuspendProcess         = ntdll.NewProc("NtSuspendProcess")
	procNtResumeProcess          = ntdll.NewProc("NtResumeProcess")
	procNtQueryInformationThread = ntdll.NewProc("NtQueryInformationThread")
	procNtQueryObject            = ntdll.NewProc("NtQueryObject")
	procUnloadEventTrace         = ntdll.NewProc("RtlGetUnloadEventTraceEx")
	procIsWow64Process2          = kernel32.NewProc("IsWow64Process2")
	procGetProcessHandleCount    = kernel32.NewProc("GetProcessHandleCount")
	procGetThreadContext         = kernel32.NewProc("GetThreadContext")
	procGetThreadDescription     = kernel32.NewProc("GetThreadDescription")
	procGetMappedFileName        = kernel32.NewProc("K32GetMappedFileNameW")
	procPssCaptureSnapshot       = kernel32.NewProc("PssCaptureSnapshot")
	procPssQuerySnapshot         = kernel32.NewProc("PssQuerySnapshot")
	procPssFreeSnapshot          = kernel32.NewProc("PssFreeSnapshot")
	procGetProcessMemoryInfo     = psapi.NewProc("GetProcessMemoryInfo")
	procGetPerformanceInfo       = psapi.NewProc("GetPerformanceInfo")
	procGetGuiResources          = user32.NewProc("GetGuiResources")
)

// The functions below keep what their arguments point to in its place during the call, as LazyProc.Call does.

// statusOf calls a function that returns an NTSTATUS.
//
//go:uintptrescapes
func statusOf(proc *windows.LazyProc, args ...uintptr) error {
	if err := proc.Find(); err != nil {
		return err
	}
	if status, _, _ := proc.Call(args...); windows.NTStatus(status) != windows.STATUS_SUCCESS {
		return windows.NTStatus(status)
	}
	return nil
}

// errorOf calls a function that returns an error of Win32.
//
//go:uintptrescapes
func errorOf(proc *windows.LazyProc, args ...uintptr) error {
	if err := proc.Find(); err != nil {
		return err
	}
	if code, _, _ := proc.Call(args...); code != 0 {
		return windows.Errno(code)
	}
	return nil
}

// answerOf calls a function that returns 0 where it fails.
//
//go:uintptrescapes
func answerOf(proc *windows.LazyProc, args ...uintptr) (uintptr, error) {
	if err := proc.Find(); err != nil {
		return 0, err
	}
	answer, _, err := proc.Call(args...)
	if answer == 0 {
		return 0, err
	}
	return answer, nil
}
