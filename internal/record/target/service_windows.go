package target

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/mgr"
)

// serviceTime is how long a service may take to stop and to start.
const serviceTime = 2 * time.Minute

// withService opens a service.
func withService(name string, access uint32, do func(*mgr.Service) error) error {
	manager, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_CONNECT)
	if err != nil {
		return fmt.Errorf("open the service manager: %w", err)
	}
	defer func() { _ = windows.CloseServiceHandle(manager) }()
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return fmt.Errorf("service %q: %w", name, err)
	}
	handle, err := windows.OpenService(manager, text, access)
	if errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
		return fmt.Errorf("there is no service %q; sc query lists their names", name)
	}
	if err != nil {
		return fmt.Errorf("open the service %s: %w", name, err)
	}
	s := &mgr.Service{Name: name, Handle: handle}
	return errors.Join(do(s), s.Close())
}

// Service implements System.
func (Windows) Service(name string) (path string, pid uint32, err error) {
	err = withService(name, windows.SERVICE_QUERY_CONFIG|windows.SERVICE_QUERY_STATUS, func(s *mgr.Service) error {
		line, err := commandLine(s.Handle)
		if err != nil {
			return fmt.Errorf("read the service %s: %w", name, err)
		}
		path = ProgramOf(line)
		status, err := s.Query()
		pid = status.ProcessId
		return err
	})
	return path, pid, err
}

// configBytes is more than the configuration of a service takes, as QueryServiceConfig documents.
const configBytes = 8 << 10

// commandLine is the line that starts a service. mgr.Service.Config asks for more, which not every system answers.
func commandLine(service windows.Handle) (string, error) {
	buffer := make([]uint64, configBytes/8) // aligned for its pointers
	config := (*windows.QUERY_SERVICE_CONFIG)(unsafe.Pointer(unsafe.SliceData(buffer)))
	var needed uint32
	if err := windows.QueryServiceConfig(service, config, configBytes, &needed); err != nil {
		return "", err
	}
	return windows.UTF16PtrToString(config.BinaryPathName), nil
}

// RestartService implements System.
func (Windows) RestartService(ctx context.Context, name string) (pid uint32, err error) {
	ctx, cancel := context.WithTimeout(ctx, serviceTime)
	defer cancel()
	const access = windows.SERVICE_QUERY_STATUS | windows.SERVICE_START | windows.SERVICE_STOP
	err = withService(name, access, func(s *mgr.Service) error {
		if _, err := s.Control(svc.Stop); err != nil && !errors.Is(err, windows.ERROR_SERVICE_NOT_ACTIVE) {
			return fmt.Errorf("stop the service %s: %w", name, err)
		}
		if _, err := waitForState(ctx, s, svc.Stopped); err != nil {
			return err
		}
		if err := s.Start(); err != nil {
			return fmt.Errorf("start the service %s: %w", name, err)
		}
		status, err := waitForState(ctx, s, svc.Running)
		pid = status.ProcessId
		return err
	})
	return pid, err
}

func waitForState(ctx context.Context, s *mgr.Service, want svc.State) (svc.Status, error) {
	for {
		status, err := s.Query()
		if err != nil {
			return status, fmt.Errorf("ask for the service %s: %w", s.Name, err)
		}
		if status.State == want {
			return status, nil
		}
		select {
		case <-ctx.Done():
			return status, fmt.Errorf("service %s is in state %d, not %d, after %s: %w", s.Name, status.State, want,
				serviceTime, context.Cause(ctx))
		case <-time.After(pollTime):
		}
	}
}
