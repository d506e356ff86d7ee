package memory

import "golang.org/x/sys/unix"

const hasLargePages = true

func adviseLargePages(room []byte) {
	_ = unix.Madvise(room, unix.MADV_HUGEPAGE) // a kernel without large pages goes on with small ones
}
