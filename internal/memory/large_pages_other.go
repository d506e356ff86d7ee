//go:build !linux

package memory

const hasLargePages = false

func adviseLargePages([]byte) {}
