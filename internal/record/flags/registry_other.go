//go:build !windows

package flags

import "errors"

// Windows stands for a machine without a registry: it refuses everything.
type Windows struct{}

var errNoRegistry = errors.New("record runs on Windows: this machine has no registry")

// HasKey implements Registry.
func (Windows) HasKey(string) (bool, error) { return false, errNoRegistry }

// Get implements Registry.
func (Windows) Get(string, string) (*Value, error) { return nil, errNoRegistry }

// Get32 implements Registry.
func (Windows) Get32(string, string) (*Value, error) { return nil, errNoRegistry }

// Set implements Registry.
func (Windows) Set(string, string, Value) error { return errNoRegistry }

// Delete implements Registry.
func (Windows) Delete(string, string) error { return errNoRegistry }

// DeleteKey implements Registry.
func (Windows) DeleteKey(string) error { return errNoRegistry }

// Folder returns an error: there are no undo files on this system.
func Folder() (string, error) { return "", errNoRegistry }

// MakeFolder returns an error: there are no undo files on this system.
func MakeFolder(string) error { return errNoRegistry }
