package windbg_test

import (
	"strings"
	"testing"

	"heapdrift/ingest/windbg"
)

// BenchmarkLeaks reads what !heap -l prints for 200,000 blocks.
func BenchmarkLeaks(b *testing.B) { benchmark(b, invent(1, 10, 200_000).leaks()) }

// BenchmarkOther reads a log of which nothing matters but a short table at its end.
func BenchmarkOther(b *testing.B) {
	stack := "00 00000097`89f7f6a0 00007ff8`a0d14a7e ntdll!NtWaitForMultipleObjects+0x14\n"
	benchmark(b, "0:000> ~*k\n"+strings.Repeat(stack, 200_000)+invent(1, 10, 0).summary())
}

func benchmark(b *testing.B, log string) {
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := windbg.Read(b.Context(), strings.NewReader(log)); err != nil {
			b.Fatal(err)
		}
	}
}
