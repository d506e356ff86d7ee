package elevate

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Restart runs this program again as administrator, with a command, such as record, and its arguments. It returns the
// exit code of the child. The environment of the child is that of this program and more. When ctx ends, the child is
// interrupted and waited for.
func Restart(ctx context.Context, command, more []string, in io.Reader, out, errs io.Writer) (code int, err error) {
	name := pipePrefix + rand.Text()
	dir, err := os.Getwd()
	if err != nil {
		return 0, fmt.Errorf("elevate: %w", err)
	}
	hello, err := json.Marshal(greeting{dir, append(os.Environ(), more...)})
	if err != nil {
		return 0, fmt.Errorf("elevate: %w", err)
	}
	args := slices.Concat(command[:1], []string{flag + name}, command[1:])
	var process windows.Handle
	pipes, err := makePipes(name)
	if err == nil {
		process, err = runAs(windows.ComposeCommandLine(args), dir)
	}
	if err != nil {
		for _, p := range pipes {
			_ = p.file.Close() // nobody has opened it
		}
		return 0, err
	}
	defer func() { _ = windows.CloseHandle(process) }()
	control, input, output, problems := pipes[0], pipes[1], pipes[2], pipes[3]
	exited := make(chan struct{})
	go control.serve(func(f *os.File) {
		_, _ = f.Write(append(hello, '\n')) // a child that has ended reads no more
		select {
		case <-ctx.Done():
		case <-exited:
		}
	})
	go input.serve(func(f *os.File) { _, _ = io.Copy(f, in) }) // a read that waits ends with this program
	go output.serve(func(f *os.File) { _, _ = io.Copy(out, f) })
	go problems.serve(func(f *os.File) { _, _ = io.Copy(errs, f) })
	_, err = windows.WaitForSingleObject(process, windows.INFINITE)
	close(exited)
	for _, p := range []*pipe{output, problems} { // what the child has written is there still
		p.finish()
	}
	var exit uint32
	if err = errors.Join(err, windows.GetExitCodeProcess(process, &exit)); err != nil {
		return 0, fmt.Errorf("elevate: %w", err)
	}
	return int(exit), nil
}

// A pipe is one end of a named pipe, which the child opens.
type pipe struct {
	name   string
	file   *os.File
	served chan struct{}
}

// pipeRights are for the user and for administrators: the child may run as another user.
const pipeRights = "D:P(A;;GA;;;OW)(A;;GA;;;BA)(A;;GA;;;SY)"

// pipeBuffer is how much a pipe holds, in bytes.
const pipeBuffer = 64 << 10

// makePipes makes the pipes control, in, out and err. Beside an error it returns those that it has made.
func makePipes(name string) (pipes []*pipe, err error) {
	rights, err := windows.SecurityDescriptorFromString(pipeRights)
	if err != nil {
		return nil, err
	}
	attributes := &windows.SecurityAttributes{SecurityDescriptor: rights}
	attributes.Length = uint32(unsafe.Sizeof(*attributes))
	for _, kind := range pipeKinds {
		path := pipeFolder + name + kind.suffix
		text, err := windows.UTF16PtrFromString(path)
		if err != nil {
			return pipes, err
		}
		direction := uint32(windows.PIPE_ACCESS_INBOUND)
		if kind.toChild {
			direction = windows.PIPE_ACCESS_OUTBOUND
		}
		handle, err := windows.CreateNamedPipe(text, direction|windows.FILE_FLAG_FIRST_PIPE_INSTANCE,
			windows.PIPE_TYPE_BYTE|windows.PIPE_REJECT_REMOTE_CLIENTS, 1, pipeBuffer, pipeBuffer, 0, attributes)
		if err != nil {
			return pipes, fmt.Errorf("elevate: pipe: %w", err)
		}
		pipes = append(pipes, &pipe{path, os.NewFile(uintptr(handle), path), make(chan struct{})})
	}
	return pipes, nil
}

// pipeKinds are the pipes in their order.
var pipeKinds = []struct {
	suffix  string
	toChild bool
}{{"-control", true}, {"-in", true}, {"-out", false}, {"-err", false}}

// serve waits for the child, and closes the pipe when work has ended.
func (p *pipe) serve(work func(*os.File)) {
	defer close(p.served)
	err := windows.ConnectNamedPipe(windows.Handle(p.file.Fd()), nil)
	if err != nil && !errors.Is(err, windows.ERROR_PIPE_CONNECTED) && !errors.Is(err, windows.ERROR_NO_DATA) {
		return
	}
	work(p.file)
	_ = p.file.Close() // what was written is in the pipe
}

// finish waits until the output of a child that has ended is copied. A child that ended before it opened the pipe is
// replaced: serve would wait for it.
func (p *pipe) finish() {
	if text, err := windows.UTF16PtrFromString(p.name); err == nil {
		handle, err := windows.CreateFile(text, windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING, 0, 0)
		if err == nil {
			_ = windows.CloseHandle(handle)
		}
	}
	<-p.served
}

// shellExecuteInfo is SHELLEXECUTEINFOW of shellapi.h.
type shellExecuteInfo struct {
	size, mask                        uint32
	window                            windows.HWND
	verb, file, parameters, directory *uint16
	show                              int32
	instance                          windows.Handle
	list, class                       uintptr
	key                               windows.Handle
	hotKey                            uint32
	icon                              windows.Handle
	process                           windows.Handle
}

const (
	keepProcess = 0x40  // SEE_MASK_NOCLOSEPROCESS of shellapi.h
	waitForIt   = 0x100 // SEE_MASK_NOASYNC: this thread has no loop of messages
	noDialogs   = 0x400 // SEE_MASK_FLAG_NO_UI: errors are for the console
)

var procShellExecuteEx = windows.NewLazySystemDLL("shell32.dll").NewProc("ShellExecuteExW")

// runAs starts this program as administrator, after Windows has asked the user.
func runAs(line, dir string) (windows.Handle, error) {
	program, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("elevate: %w", err)
	}
	info := shellExecuteInfo{mask: keepProcess | waitForIt | noDialogs, show: windows.SW_HIDE}
	info.size = uint32(unsafe.Sizeof(info))
	for _, word := range []struct {
		into **uint16
		text string
	}{{&info.verb, "runas"}, {&info.file, program}, {&info.parameters, line}, {&info.directory, dir}} {
		if *word.into, err = windows.UTF16PtrFromString(word.text); err != nil {
			return 0, fmt.Errorf("elevate: %w", err)
		}
	}
	// The shell wants COM in the thread that calls it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if windows.CoInitializeEx(0, windows.COINIT_APARTMENTTHREADED|windows.COINIT_DISABLE_OLE1DDE) == nil {
		defer windows.CoUninitialize()
	}
	ok, _, failed := procShellExecuteEx.Call(uintptr(unsafe.Pointer(&info)))
	switch {
	case ok != 0 && info.process != 0:
		return info.process, nil
	case errors.Is(failed, windows.ERROR_CANCELLED):
		return 0, ErrRefused
	}
	return 0, fmt.Errorf("elevate: restart as administrator: %w", failed)
}
