package main

import (
	"fmt"

	"golang.org/x/sys/windows"
)

var (
	kernel32       = windows.NewLazySystemDLL("kernel32.dll")
	getProcessHeap = kernel32.NewProc("GetProcessHeap")
	heapAlloc      = kernel32.NewProc("HeapAlloc")
)

// leakBlocks allocates blocks of the process's heap that nobody frees.
func leakBlocks(count, size int) error {
	heap, _, err := getProcessHeap.Call()
	if heap == 0 {
		return fmt.Errorf("self-test: %w", err)
	}
	for range count {
		if block, _, err := heapAlloc.Call(heap, 0, uintptr(size)); block == 0 {
			return fmt.Errorf("self-test: %w", err)
		}
	}
	return nil
}
