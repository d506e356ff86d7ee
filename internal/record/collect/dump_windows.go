package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/windows"

	"heapdrift/internal/record/target"
	"heapdrift/internal/resumer"
)

// The parts of a full dump, MINIDUMP_TYPE of minidumpapiset.h.
const (
	withFullMemory       = 0x2
	withHandles          = 0x4
	withUnloadedModules  = 0x20
	withFullMemoryInfo   = 0x800
	withThreadInfo       = 0x1000
	ignoringInaccessible = 0x20000
	fullDump             = withFullMemory | withHandles | withUnloadedModules | withFullMemoryInfo | withThreadInfo | ignoringInaccessible
)

var writeDump = windows.NewLazySystemDLL("dbghelp.dll").NewProc("MiniDumpWriteDump")

// takeDump writes a full dump. Windows suspends the process meanwhile, and cannot be interrupted.
func takeDump(ctx context.Context, p target.Info, path string, _ *float64) (cost Cost, err error) {
	if ctx.Err() != nil {
		return cost, context.Cause(ctx)
	}
	const wanted = windows.PROCESS_QUERY_INFORMATION | windows.PROCESS_VM_READ | windows.PROCESS_DUP_HANDLE
	handle, err := windows.OpenProcess(wanted, false, p.PID)
	if err != nil {
		return cost, fmt.Errorf("dump of process %d: %w", p.PID, err)
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	guard, unguarded := resumer.Start(p.PID)
	defer guard.Close()
	if unguarded != nil {
		cost.Notes = append(cost.Notes, fmt.Sprintf(
			"nothing would resume the process if heapdrift were killed during the dump: %v", unguarded))
	}
	file, err := os.Create(path)
	if err != nil {
		return cost, fmt.Errorf("dump of process %d: %w", p.PID, err)
	}
	began := time.Now()
	guard.Suspending() // MiniDumpWriteDump suspends each thread once, as NtResumeProcess resumes it
	ok, _, failed := writeDump.Call(uintptr(handle), uintptr(p.PID), file.Fd(), fullDump, 0, 0, 0)
	guard.Resumed()
	cost.Took = time.Since(began)
	cost.Pause = cost.Took
	info, err := file.Stat()
	if err = errors.Join(err, file.Close()); ok == 0 {
		return cost, errors.Join(fmt.Errorf("dump of process %d: %w", p.PID, failed), os.Remove(path))
	}
	if err == nil {
		cost.Bytes = info.Size()
	}
	return cost, err
}
