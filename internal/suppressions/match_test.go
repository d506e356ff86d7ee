package suppressions_test

import (
	"strings"
	"testing"
	"time"

	"heapdrift/internal/suppressions"
)

// Globs of the allocator's functions are left out of an entry, and no others.
func TestAllocatorGlobs(t *testing.T) {
	t.Parallel()
	for glob, allocates := range map[string]bool{
		"malloc": true, "mallo?": true, "mallo": false, "malloc2": false, "m*c": true, "*alloc": true, "*a*l*o*c": true, "m*x": false,
		"malloc**": true, "malloc?": false, "operator new*": true, "?": false, "*?": true, "xmalloc": false, "*lloc*lloc": false,
	} {
		list, rejected := suppressions.Parse("LEAK\n*!" + glob + "\napp!f")
		if len(list) != 1 || (len(list[0].Frames) == 1) != allocates {
			t.Errorf("%s: %+v %+v", glob, list, rejected)
		}
	}
}

// The functions of a module that is no allocator's stay in an entry.
func TestAllocatorModules(t *testing.T) {
	t.Parallel()
	for frame, allocates := range map[string]bool{
		"*!malloc": true, "*.dll!malloc": true, "*.*!malloc": true, "ucrtbase.dll!malloc": true, "UCRTBASED.DLL!*alloc*": true, "ucrtbase.*!malloc": true,
		"msvcr120.dll!malloc": true, "MSVCRT.dll!calloc": true, "ntdll.dll!RtlAllocateHeap": true, "replace_malloc.dll!replace_malloc": true, "ntdll!RtlAllocateHeap": true,
		"libc.so.6!malloc": true, "libc-2.31.so!malloc": true, "KERNELBASE.dll!HeapAlloc": true,
		"app.exe!*alloc*": false, "app.exe!malloc": false, "app!*": false, "a*!malloc": false, "ntdll2.dll!malloc": false, "?.dll!malloc": false,
		"ucrtbase.dll!Put": false, "libcache.so!malloc": false,
	} {
		list, rejected := suppressions.Parse("LEAK\n" + frame + "\napp.exe!main")
		if len(list) != 1 || (len(list[0].Frames) == 1) != allocates {
			t.Errorf("%s: %+v %+v", frame, list, rejected)
		}
	}
}

// The time that a glob takes is bounded by its length: many stars used to be tried in all ways, for 600 ms of 8 stars.
func TestManyStars(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	text := "{\nx\nMemcheck:Leak\nfun:" + strings.Repeat("*?", 12) + "!\n}\n"
	list, _ := suppressions.Parse(strings.Repeat(text, 100))
	if took := time.Since(begun); len(list) != 100 || took > 10*time.Second {
		t.Errorf("%d entries in %v", len(list), took)
	}
}
