// Package target finds, starts and watches the programs that are recorded.
package target

import (
	"context"
	"errors"
	"time"
)

// An Info has the facts about a process.
type Info struct {
	PID     uint32
	Image   string // the name of its file, such as app.exe
	Path    string // "" where Windows does not tell
	Bits    int    // 32 or 64; 0 where Windows does not tell
	Started time.Time
	// Flags are the NtGlobalFlag that the process started with; valid where HasFlags is set.
	Flags    uint32
	HasFlags bool
}

// A Running is an open process: its pid names no other process until Close.
type Running interface {
	// Info reads the facts anew: a process that has just started has no flags yet.
	Info() Info
	// Exited is closed when the process has ended.
	Exited() <-chan struct{}
	// ExitCode is valid once the process has ended.
	ExitCode() uint32
	Kill() error
	Close()
}

// A System gives access to the processes and services of a machine.
type System interface {
	// Start starts a program. readsInput says whether it reads the console's input.
	Start(args []string, readsInput bool) (Running, error)
	// Open opens the process with this pid.
	Open(pid uint32) (Running, error)
	// Find lists the pids of the processes of a program, by its file name.
	Find(image string) ([]uint32, error)
	// Service returns the path of the program of a service, and its pid; 0 where it does not run.
	Service(name string) (path string, pid uint32, err error)
	// RestartService stops a service if it runs, starts it and returns its pid.
	RestartService(ctx context.Context, name string) (pid uint32, err error)
	// Event tells whenever a named event is set, until ctx ends. It makes the event where there is none of the name.
	Event(ctx context.Context, name string) (<-chan struct{}, error)
	// Elevated reports whether this program may change settings of the machine.
	Elevated() bool
	// Describe names the system and its build, such as "Windows 10.0.26100".
	Describe() string
}

// ErrUnsupported is returned where the program does not run on Windows.
var ErrUnsupported = errors.New("record runs on Windows: build or get the client for Windows")

// sharedHost is the program that runs many services in one process.
const sharedHost = "svchost.exe"
