package umdh_test

import (
	"strings"
	"testing"

	"heapdrift/internal/golden"
)

// Samples in comments are read as logs: gofmt may take their lines for a list and change the signs.
func TestSamplesOfComments(t *testing.T) {
	samples := golden.Samples(t, "umdh.go", "package")
	samples = append(samples, golden.Samples(t, "delta.go", "counter")...)
	wants := []string{`
umdh-snapshot "app.exe" pid 7696, 32 bits, machine "HCE"
snapshot 2012-04-30T12:09Z: 2 blocks, 202 + 54 bytes
module 400000+11D000 D:\app\app.exe   (none)
heap 2E60000
site 18D0A0D0 heap 2E60000
  2 blocks, 202 + 54 bytes
  776CDD82 < 7768EC66
  or 77929B07
block 2E9FA20 100 of 18D0A0D0
block 2E9FBA0 102 of 18D0A0D0
`, `
site 74050 heap -
  0 blocks, 0 + 0 bytes
  89332 blocks, 44666000 + 0 bytes
  ntdll!RtlAllocateHeap+274 < app!Leak+83 (d:\app\leak.cpp:228)
`, `
site 74050 heap -
  0 blocks, 0 + 0 bytes
  89332 blocks, 44666000 + 0 bytes
`}
	if len(samples) != len(wants) {
		t.Fatalf("%d samples, want %d", len(samples), len(wants))
	}
	for i, want := range wants {
		captures := read(t, []byte(samples[i]), 0)
		if got := render(captures[0]); len(captures) != 1 || !strings.Contains("\n"+got, want) {
			t.Errorf("of the sample\n%s\nis read\n%s\nwant\n%s", samples[i], got, want)
		}
	}
}
