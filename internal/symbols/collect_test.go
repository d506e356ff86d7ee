package symbols

import (
	"fmt"
	"slices"
	"testing"

	"heapdrift/ingest/capture"
)

// The image with most addresses comes first, each address once and in order; an address outside of all images, and
// none, want nothing.
func TestImagesByAddresses(t *testing.T) {
	c := &capture.Capture{Modules: []capture.Module{{Path: "few.dll", Base: 0x10000, Size: 0x1000}, {Path: "many.dll", Base: 0x20000, Size: 0x1000},
		{Path: "none.dll", Base: 0x30000, Size: 0x1000}}}
	for _, address := range []uint64{0x10010, 0x20030, 0x20010, 0x20020, 0x20010, 0x50000, 0} {
		c.Stacks.AddAddress(address)
	}
	var got []string
	for _, w := range collect([]*capture.Capture{c, c}) {
		got = append(got, fmt.Sprintf("%s %x", w.Path, w.rvas))
	}
	if want := []string{"many.dll [10 20 30]", "few.dll [10]"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
