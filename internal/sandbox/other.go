//go:build !linux

package sandbox

import (
	"context"
	"os"
)

// Supported says that this system can run child processes.
const Supported = false

// Main does nothing: no process is a child here.
func Main(map[string]Task) {}

// Run returns ErrUnsupported.
func (r *Runner) Run(context.Context, Work) error { return ErrUnsupported }

// A Parent is a child's connection to the process that started it.
type Parent struct{}

// Ask returns ErrUnsupported.
func (p *Parent) Ask(context.Context, Question) (*os.File, error) {
	return nil, ErrUnsupported
}

// Progress does nothing.
func (p *Parent) Progress(int, string) {}
