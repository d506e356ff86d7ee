package target

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Windows is this machine.
type Windows struct{}

// Start implements System. The program is in a group of its own, so that Ctrl C ends the recording first.
func (Windows) Start(args []string, readsInput bool) (Running, error) {
	if ext := strings.ToLower(filepath.Ext(args[0])); ext == ".cmd" || ext == ".bat" {
		return nil, fmt.Errorf("%s is a batch file: start it yourself, and record its program by --image", args[0])
	}
	path, err := exec.LookPath(args[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: args, Stdout: os.Stdout, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}}
	if readsInput {
		cmd.Stdin = os.Stdin
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	r, err := Windows{}.Open(uint32(cmd.Process.Pid))
	if err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Process.Release())
	}
	return r, cmd.Process.Release()
}

// Open implements System.
func (Windows) Open(pid uint32) (Running, error) {
	const wanted = windows.PROCESS_QUERY_INFORMATION | windows.PROCESS_VM_READ | windows.PROCESS_TERMINATE | windows.SYNCHRONIZE
	handle, err := windows.OpenProcess(wanted, false, pid)
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return nil, fmt.Errorf("no process has the PID %d", pid)
	}
	if err != nil {
		return nil, fmt.Errorf("open process %d: %w; processes of other users need an administrator", pid, err)
	}
	o := &opened{handle: handle, pid: pid, exited: make(chan struct{})}
	var waiting windows.Handle
	self := windows.CurrentProcess()
	if err := windows.DuplicateHandle(self, handle, self, &waiting, windows.SYNCHRONIZE, false, 0); err != nil {
		return nil, errors.Join(fmt.Errorf("open process %d: %w", pid, err), windows.CloseHandle(handle))
	}
	go func() { // ends with the process, or with this program
		_, _ = windows.WaitForSingleObject(waiting, windows.INFINITE)
		_ = windows.CloseHandle(waiting)
		close(o.exited)
	}()
	return o, nil
}

// Find implements System.
func (Windows) Find(image string) ([]uint32, error) {
	list, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	defer func() { _ = windows.CloseHandle(list) }()
	var pids []uint32
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(list, &entry); err == nil; err = windows.Process32Next(list, &entry) {
		if strings.EqualFold(windows.UTF16ToString(entry.ExeFile[:]), image) {
			pids = append(pids, entry.ProcessID)
		}
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	slices.Sort(pids)
	return pids, nil
}

// Elevated implements System.
func (Windows) Elevated() bool { return windows.GetCurrentProcessToken().IsElevated() }

// Describe implements System.
func (Windows) Describe() string {
	v := windows.RtlGetVersion()
	return fmt.Sprintf("Windows %d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
}

var _ System = Windows{}
