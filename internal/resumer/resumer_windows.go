package resumer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"
)

var procNtResumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// Start starts a resumer of a process, which the caller holds open. It returns when the resumer is there.
func Start(pid uint32) (*Resumer, error) {
	handle, err := windows.OpenProcess(windows.PROCESS_SUSPEND_RESUME, true, pid)
	if err != nil {
		return nil, fmt.Errorf("resumer: process %d: %w", pid, err)
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	in, letters, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("resumer: %w", err)
	}
	answer, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("resumer: %w", err), in.Close(), letters.Close())
	}
	starter, err := launch(starterArgument, uintptr(handle), in, out)
	_, _ = in.Close(), out.Close() // the starter has them
	if err == nil {
		err = starter.Wait()
	}
	if err == nil {
		var first [1]byte
		_, err = io.ReadFull(answer, first[:])
	}
	_ = answer.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("resumer: it does not start: %w", err), letters.Close())
	}
	return &Resumer{letters}, nil
}

// launch starts this program again, without a console, whose end or Ctrl C would end it, and outside of the job of this
// program, where the job allows that.
func launch(argument string, handle uintptr, in, out *os.File) (cmd *exec.Cmd, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	const alone = windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP
	for _, creation := range []uint32{alone | windows.CREATE_BREAKAWAY_FROM_JOB, alone} {
		cmd = &exec.Cmd{Path: program, Args: []string{program, argument, strconv.FormatUint(uint64(handle), 10)},
			Stdin: in, Stdout: out, SysProcAttr: &syscall.SysProcAttr{CreationFlags: creation,
				AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(handle)}}}
		if err = cmd.Start(); !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
			break
		}
	}
	return cmd, err
}

// runAs is the work of a starter or a resumer.
func runAs(argument string, handle uintptr) error {
	if argument == starterArgument {
		_, err := launch(resumerArgument, handle, os.Stdin, os.Stdout)
		return err
	}
	if _, err := os.Stdout.Write([]byte{ready}); err != nil {
		return err
	}
	_ = os.Stdout.Close()
	return watch(os.Stdin, func() error {
		if status, _, _ := procNtResumeProcess.Call(handle); status != 0 {
			return windows.NTStatus(status)
		}
		return nil
	})
}
