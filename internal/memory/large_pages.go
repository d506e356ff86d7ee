package memory

import "runtime/debug"

// largePage is the size of a large page of x64 and ARM64 in bytes.
const largePage = 2 << 20

// LargePages asks the system to give the next memory that the program takes, so many bytes, in pages of 2 MB instead of
// 4 KB. The system fills new memory a page at a time, and each first touch of a page costs the same however large the
// page is; a large log would otherwise spend half of its time on that. Linux is to be asked where
// /sys/kernel/mm/transparent_hugepage/enabled says madvise, as it does on most machines. Other systems are not asked,
// and nothing depends on the answer.
//
// It takes some 10 ms, and nothing without a budget. At most half of the budget is asked for: the rest comes as it
// always does. Under the race detector the system is not asked: the detector would write as much memory of its own.
func (b *Budget) LargePages(size Size) {
	if b != nil && hasLargePages && !detectsRaces {
		b.askForLargePages(size)
	}
}

func (b *Budget) askForLargePages(size Size) {
	size = min(size, b.Limit()/2) / largePage * largePage
	if size <= 0 {
		return
	}
	b.measured.Lock() // what is asked for counts as used until it is given back
	defer b.measured.Unlock()
	adviseRoom(int(size))
	debug.FreeOSMemory()
}

// adviseRoom takes room in the heap that nothing was in, gives it the system's attribute and drops it without a look at
// it: the collector gives addresses that were free before to what is made next, and the attribute stays with addresses.
//
//go:noinline
func adviseRoom(size int) {
	adviseLargePages(make([]byte, size)) // large rooms begin at a page, as the system demands
}
