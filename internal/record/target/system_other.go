//go:build !windows

package target

import (
	"context"
	"runtime"
)

// Windows stands for a machine without Windows: it refuses everything.
type Windows struct{}

// Start implements System.
func (Windows) Start([]string, bool) (Running, error) { return nil, ErrUnsupported }

// Open implements System.
func (Windows) Open(uint32) (Running, error) { return nil, ErrUnsupported }

// Find implements System.
func (Windows) Find(string) ([]uint32, error) { return nil, ErrUnsupported }

// Service implements System.
func (Windows) Service(string) (string, uint32, error) { return "", 0, ErrUnsupported }

// RestartService implements System.
func (Windows) RestartService(context.Context, string) (uint32, error) { return 0, ErrUnsupported }

// Event implements System.
func (Windows) Event(context.Context, string) (<-chan struct{}, error) { return nil, ErrUnsupported }

// Elevated implements System.
func (Windows) Elevated() bool { return false }

// Describe implements System.
func (Windows) Describe() string { return runtime.GOOS }
