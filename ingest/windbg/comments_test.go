package windbg_test

import (
	"strings"
	"testing"

	"heapdrift/internal/golden"
)

// Samples in comments are read as outputs of the debugger: gofmt may take their lines for a list and change them.
func TestSamplesOfComments(t *testing.T) {
	for _, of := range []struct {
		file, name string
		wants      []string // what the capture of each sample says
	}{
		{"block.go", "block", []string{
			"sample !heap -p -a 7edcc018: 0x7edcc030, 1402368 bytes, unreachable false, note \"\": 77db1f3e ntdll!RtlAllocateHeap+3e\n",
			"sample !heap -p -a: 0xcc53afa8, 88 bytes, unreachable false, note \"\": 6f13ab70 verifier!AVrfDebugPageHeapAllocate+240\n",
		}},
		{"fault.go", "fault", []string{
			"HEAP_FAILURE_FREELISTS_CORRUPTION at 000000001b622e60 in heap 0000000000470000: The heap detected a corrupt free list. " +
				"These are usually the result of a use-after-free error. It was noticed in ntdll!RtlpAllocateHeap\n",
		}},
		{"filter.go", "filter", []string{
			"group size of 0x510000 size 1402368: 1402368 in 1 example 0xac49030 \n",
			"group size of 0x297e9ed1000 size 40000000: 40000000 in 1 example 0x297ec170600 \n",
		}},
		{"heapdetails.go", "heapDetails", []string{
			"heap 0x140000 NT heap 32 bits 0  reserved 1048576 committed 917504 virtual 917504 free 6144 in 1 ucr 0 blocks 46137344 in 11",
		}},
		{"heaps.go", "heaps", []string{
			"heap 0x1a200bb0000 NT heap 64 bits 8000002 LFH reserved 9216000 committed 7168000 virtual 9011200 free 256000 in 90 ucr 5",
		}},
		{"leaks.go", "leaks", []string{
			"reach: of 16777216 in 32822 unreachable 500 in 1 (+12): !heap -l detected 29050 blocks; 1 of them are in the log\n",
		}},
		{"list.go", "list", []string{
			"heap 0x150000 heap 32 bits 2  reserved 1048576 committed 360448 virtual 0 free 21528 in 0 ucr 0 blocks 10485760 in 1",
			"heap 0x1e8e4a60000 NT heap 64 bits",
		}},
		{"managed.go", "managedHeaps", []string{
			"managed Heap 0: 24013548 bytes, small 20448012, large 3565536, pinned 0, 2 segments\n",
			"", // a row, which no heading makes an output
		}},
		{"stat.go", "stat", []string{"group size of 0x510000 size 1402368: 760083456 in 542 example 0x0 \n"}},
		{"stop.go", "verifierStop", []string{
			"sample VERIFIER STOP 900: 0xaed3f58, 0 bytes, unreachable false, note \"Application Verifier says (stop 900): A heap allocation was leaked.\"",
		}},
		{"totals.go", "heapTotals", []string{
			"heap 0x360000 NT heap 32 bits 0  reserved 1048576 committed 987136 virtual 0 free 0 in 0 ucr 0 blocks 56557568 in 1",
		}},
		{"uses.go", "uses", []string{
			"use virtual: 912 regions, 2199023255552 bytes, largest 0\nuse free: 0 regions, 0 bytes, largest 135239930216448\n",
			"use virtual: 0 regions, 301989888 bytes, largest 0\nuse free: 0 regions, 0 bytes, largest 33554432\nlargest free: 33554432 at 0x6b000000\n",
		}},
	} {
		t.Run(of.name, func(t *testing.T) {
			samples := golden.Samples(t, of.file, of.name)
			if len(samples) != len(of.wants) {
				t.Fatalf("%d samples, want %d", len(samples), len(of.wants))
			}
			for i, want := range of.wants {
				if want == "" {
					continue
				}
				captures := read(t, samples[i])
				if got := render(captures[0]); len(captures) != 1 || !strings.Contains(got, want) {
					t.Errorf("of the sample\n%s\nis read\n%s\nwant\n%s", samples[i], got, want)
				}
			}
		})
	}
}
