package vmmap_test

import (
	"fmt"
	"testing"

	"heapdrift/ingest/capture"
)

// The regions show whether the program is 32-bit, where its address space ends, and what lies where.
func TestMapOfTheAddressSpace(t *testing.T) {
	const heap, free = `<Region Address="0x10000" Size="1048576" Commit="4096" PrivateBytes="4096" UseType="0" Type="Heap"/>`, `<Region Address="%#x" Size="%d" UseType="6" Type="Free"/>`
	const image = `<Region Address="0x7ff600000000" Size="65536" Commit="65536" UseType="2" Type="Image"/>`
	const gigabyte = 1 << 30
	for name, test := range map[string]struct {
		regions string
		bits    uint8
		limit   int64
		taken   int
	}{
		"2 GB":                      {heap + fmt.Sprintf(free, 0x7000_0000, 0xFFF_0000), 32, 2 * gigabyte, 1},
		"3 GB":                      {heap + fmt.Sprintf(free, 0x7000_0000, 0x4FFF_0000), 32, 3 * gigabyte, 1},
		"4 GB":                      {heap + fmt.Sprintf(free, 0x7000_0000, 0x8FFF_0000), 32, 4 * gigabyte, 1},
		"64 bits":                   {heap + fmt.Sprintf(free, 0x7000_0000, 1<<40) + image, 64, 0, 2},
		"without what is free":      {heap, 0, 0, 1},
		"a few regions of a sample": {heap + fmt.Sprintf(free, 0x20_0000, 4096), 0, 0, 1},
	} {
		file := `<Snapshot PID="7"><MemoryRegions>` + test.regions
		whole := read(t, file+`</MemoryRegions></Snapshot>`)[0].Memory.Space
		if whole.Bits != test.bits || whole.Limit != test.limit || len(whole.Map.Stretches) != test.taken {
			t.Errorf("%s: %d bits, limit %d, %+v", name, whole.Bits, whole.Limit, whole.Map)
		}
		if at := whole.Map.Stretches[0]; at != (capture.AddressRange{Address: 0x10000, Size: 1 << 20, Use: capture.UseHeap,
			Taken: 1 << 20, Committed: 4096}) {
			t.Errorf("%s: %+v", name, at)
		}
		if cut := read(t, file)[0].Memory.Space; cut.Limit != 0 {
			t.Errorf("%s: a file that ends early tells a limit of %d", name, cut.Limit)
		}
	}
}
