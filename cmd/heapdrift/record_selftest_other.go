//go:build !windows

package main

import "heapdrift/internal/record/target"

func leakBlocks(int, int) error { return target.ErrUnsupported }
