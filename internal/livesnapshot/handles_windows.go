package livesnapshot

import (
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"

	"heapdrift/ingest/minidump"
)

// The classes of information and their answers, from winternl.h and ntstatus.h.
const (
	processHandleInformation = 51
	objectTypesInformation   = 3
	threadBasicInformation   = 0
	threadStartAddress       = 9
)

// largestAnswer is how much memory an answer of the system may take, in bytes: more than ten million handles.
const largestAnswer = 512 << 20

// grown asks with room for more and more, until the answer fits.
func grown(ask func(b []byte) error) []byte {
	for size := 64 << 10; size <= largestAnswer; size *= 4 {
		b := make([]byte, size)
		err := ask(b)
		if err == nil {
			return b
		}
		if !errors.Is(err, windows.STATUS_INFO_LENGTH_MISMATCH) && !errors.Is(err, windows.STATUS_BUFFER_TOO_SMALL) {
			return nil
		}
	}
	return nil
}

// handles counts the handles by type, or without types where Windows does not tell them.
func (p *process) handles() []handleCount {
	table := grown(func(b []byte) error {
		return windows.NtQueryInformationProcess(p.handle, processHandleInformation, unsafe.Pointer(&b[0]),
			uint32(len(b)), nil)
	})
	types := grown(func(b []byte) error {
		return statusOf(procNtQueryObject, 0, objectTypesInformation, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), 0)
	})
	if list := handleCounts(table, pointerWidth, typeNames(types, pointerWidth)); len(list) > 0 {
		return list
	}
	var n uint32
	_, err := answerOf(procGetProcessHandleCount, uintptr(p.handle), uintptr(unsafe.Pointer(&n)))
	if err != nil || n == 0 {
		return nil
	}
	return []handleCount{{"", int(n)}}
}

// gui counts the objects of GDI and USER, of which a process may have 10,000 each.
func (p *process) gui() (list []handleCount) {
	for which, name := range []string{"GDI object", "USER object"} {
		if n, err := answerOf(procGetGuiResources, uintptr(p.handle), uintptr(which)); err == nil {
			list = append(list, handleCount{name, int(n)})
		}
	}
	return list
}

// threadBasic is THREAD_BASIC_INFORMATION of winternl.h.
type threadBasic struct {
	exitStatus              int32
	teb                     uintptr
	process, thread         uintptr
	affinity                uintptr
	priority, basicPriority int32
}

// Threads lists the threads with their environment blocks, and waits until those that were suspended stand still.
func (p *process) Threads() ([]minidump.Thread, error) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = windows.CloseHandle(snapshot) }() // nothing was written
	var list []minidump.Thread
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID == p.pid {
			awaitStop(entry.ThreadID)
			list = append(list, threadOf(entry.ThreadID))
		}
		entry.Size = uint32(unsafe.Sizeof(entry))
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return list, err
	}
	return list, nil
}

// threadContext is CONTEXT of winnt.h by processor: its size, where ContextFlags are, and CONTEXT_CONTROL.
var threadContext = map[string]struct{ size, flagsAt, control int }{
	"386":   {716, 0, 0x10001},
	"amd64": {1232, 0x30, 0x100001},
	"arm64": {912, 0, 0x400001},
}

// awaitStop waits until a suspended thread stands still. To suspend a thread asks it to stop, and it runs on until it
// is interrupted; to read its registers waits for that.
func awaitStop(id uint32) {
	handle, err := windows.OpenThread(windows.THREAD_GET_CONTEXT, false, id)
	if err != nil {
		return // it has ended, or nobody may ask
	}
	defer func() { _ = windows.CloseHandle(handle) }() // nothing was written
	layout := threadContext[runtime.GOARCH]
	const alignment = 16 // of CONTEXT
	b := make([]byte, layout.size+alignment)
	b = b[-uintptr(unsafe.Pointer(&b[0]))%alignment:]
	le.PutUint32(b[layout.flagsAt:], uint32(layout.control))
	_, _, _ = procGetThreadContext.Call(uintptr(handle), uintptr(unsafe.Pointer(&b[0]))) // the registers are not needed
}

// threadOf asks for what is known of a thread; one that has ended has its number alone.
func threadOf(id uint32) minidump.Thread {
	t := minidump.Thread{ID: id}
	handle, err := windows.OpenThread(windows.THREAD_QUERY_INFORMATION, false, id)
	if err != nil {
		return t
	}
	defer func() { _ = windows.CloseHandle(handle) }() // nothing was written
	var basic threadBasic
	if statusOf(procNtQueryInformationThread, uintptr(handle), threadBasicInformation, uintptr(unsafe.Pointer(&basic)),
		unsafe.Sizeof(basic), 0) == nil {
		t.TEB = uint64(basic.teb)
	}
	var start uintptr
	if statusOf(procNtQueryInformationThread, uintptr(handle), threadStartAddress, uintptr(unsafe.Pointer(&start)),
		unsafe.Sizeof(start), 0) == nil {
		t.StartAddress = uint64(start)
	}
	var name *uint16
	if procGetThreadDescription.Find() == nil {
		if _, _, _ = procGetThreadDescription.Call(uintptr(handle), uintptr(unsafe.Pointer(&name))); name != nil {
			t.Name = windows.UTF16PtrToString(name)
			_, _ = windows.LocalFree(windows.Handle(unsafe.Pointer(name))) // memory of this program
		}
	}
	return t
}

// MappedFile is the path of an image as the kernel has it: \Device\HarddiskVolume3\….
func (p *process) MappedFile(base uint64) string {
	var path [windows.MAX_LONG_PATH]uint16
	n, err := answerOf(procGetMappedFileName, uintptr(p.handle), uintptr(base), uintptr(unsafe.Pointer(&path[0])),
		uintptr(len(path)))
	if err != nil {
		return ""
	}
	return windows.UTF16ToString(path[:min(n, uintptr(len(path)))])
}
