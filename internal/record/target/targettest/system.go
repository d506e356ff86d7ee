// Package targettest is a machine with processes in memory, for tests.
package targettest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"heapdrift/internal/record/target"
)

// A Process is a process in memory.
type Process struct {
	What   target.Info // what Info returns
	exited chan struct{}
	once   sync.Once
	code   uint32
	closed atomic.Bool
}

// Info implements target.Running.
func (p *Process) Info() target.Info { return p.What }

// Exited implements target.Running.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// ExitCode implements target.Running.
func (p *Process) ExitCode() uint32 { return p.code }

// Kill implements target.Running.
func (p *Process) Kill() error { p.Exit(1); return nil }

// Close implements target.Running.
func (p *Process) Close() { p.closed.Store(true) }

// IsClosed reports whether its handle was given back.
func (p *Process) IsClosed() bool { return p.closed.Load() }

// Exit ends the process.
func (p *Process) Exit(code uint32) {
	p.once.Do(func() {
		p.code = code
		close(p.exited)
	})
}

// A System has the processes that were added or started.
type System struct {
	mu        sync.Mutex
	processes []*Process
	// Starting is called with the program before a process starts, and fails the start by its error.
	Starting func(image string) error
	// Services are the paths of services by name.
	Services map[string]string
	// Restricted says that this program has no rights of an administrator.
	Restricted bool
	// Events are the named events that can be opened.
	Events map[string]chan struct{}
}

// Event implements target.System.
func (s *System) Event(_ context.Context, name string) (<-chan struct{}, error) {
	event, has := s.Events[name]
	if !has {
		return nil, fmt.Errorf("event %s: access is denied", name)
	}
	return event, nil
}

// Add adds a process that runs.
func (s *System) Add(info target.Info) *Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	if info.PID == 0 {
		info.PID = uint32(1000 + 4*len(s.processes))
	}
	p := &Process{What: info, exited: make(chan struct{})}
	s.processes = append(s.processes, p)
	return p
}

// All returns all processes there ever were.
func (s *System) All() []*Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.processes)
}

func (s *System) start(image string) (*Process, error) {
	if s.Starting != nil {
		if err := s.Starting(image); err != nil {
			return nil, err
		}
	}
	return s.Add(target.Info{Image: image, Path: `C:\` + image, Bits: 64}), nil
}

// Start implements target.System.
func (s *System) Start(args []string, _ bool) (target.Running, error) {
	p, err := s.start(args[0])
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Open implements target.System.
func (s *System) Open(pid uint32) (target.Running, error) {
	for _, p := range s.All() {
		if p.What.PID == pid && p.runs() {
			return p, nil
		}
	}
	return nil, fmt.Errorf("no process has the PID %d", pid)
}

func (p *Process) runs() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// Find implements target.System.
func (s *System) Find(image string) (pids []uint32, err error) {
	for _, p := range s.All() {
		if strings.EqualFold(p.What.Image, image) && p.runs() {
			pids = append(pids, p.What.PID)
		}
	}
	return pids, nil
}

// Service implements target.System.
func (s *System) Service(name string) (path string, pid uint32, err error) {
	path, found := s.Services[name]
	if !found {
		return "", 0, fmt.Errorf("there is no service %q", name)
	}
	return path, 0, nil
}

// RestartService implements target.System.
func (s *System) RestartService(_ context.Context, name string) (pid uint32, err error) {
	path, _, err := s.Service(name)
	if err != nil {
		return 0, err
	}
	p, err := s.start(path[strings.LastIndex(path, `\`)+1:])
	if err != nil {
		return 0, err
	}
	return p.What.PID, nil
}

// Elevated implements target.System.
func (s *System) Elevated() bool { return !s.Restricted }

// Describe implements target.System.
func (s *System) Describe() string { return "Windows 10.0.26100" }
