package capture

import (
	"io"
	"runtime"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// As many encoders as there are cores outlive collections; more are let go.
func TestEncodersAreKept(t *testing.T) {
	var made []*zstd.Encoder
	take := func(n int) []*zstd.Encoder {
		taken := make([]*zstd.Encoder, n)
		for i := range taken {
			z, err := compressor(io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			taken[i] = z
		}
		return taken
	}
	room := cap(compressors)
	made = take(room + 1)
	for _, z := range made {
		spare(z)
	}
	runtime.GC()
	runtime.GC()
	again := take(room + 1)
	for i, z := range again {
		if kept := slices.Contains(made, z); kept != (i < room) {
			t.Errorf("encoder %d of %d: kept is %t", i+1, room, kept)
		}
	}
	for _, z := range again {
		spare(z)
	}
}
