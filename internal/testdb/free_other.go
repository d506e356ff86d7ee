//go:build !linux

package testdb

import "errors"

// freeBytes is for Linux, where there is a file system in memory.
func freeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }
