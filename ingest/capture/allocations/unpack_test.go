package allocations

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
)

func TestUnpackDelta(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for width := range 65 {
		for _, n := range []int{1, 2, 31, 33, 128, 129, 130, 1000} {
			want := make([]int64, n)
			for i := range want {
				if want[i] = int64(r.Uint64() >> 1 >> (63 - max(width, 1) + 1)); width == 64 {
					want[i] = int64(r.Uint64())
				}
			}
			b, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, want)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]int64, n)
			if !unpackDelta(got, b) || !slices.Equal(got, want) {
				t.Fatalf("%d values of %d bits differ", n, width)
			}
			if unpackDelta(make([]int64, n+1), b) || unpackDelta(got, b[:len(b)-1]) {
				t.Fatalf("%d values of %d bits: more than there are, or cut", n, width)
			}
		}
	}
}

func TestUnpackHybrid(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for width := 1; width <= 32; width++ {
		for _, n := range []int{1, 7, 8, 9, 64, 1000} {
			want := make([]uint32, n)
			coded := make([]int32, n)
			for i := range want {
				if want[i] = r.Uint32() >> (32 - width); i%64 > 20 && n > 64 {
					want[i] = want[i-1] // runs
				}
				coded[i] = int32(want[i])
			}
			b, err := (&rle.Encoding{BitWidth: width}).EncodeInt32(nil, coded)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]uint32, n)
			if !unpackHybrid(got, b, width) || !slices.Equal(got, want) {
				t.Fatalf("%d values of %d bits differ", n, width)
			}
			if unpackHybrid(got, b[:len(b)-1], width) {
				t.Fatalf("%d values of %d bits: the last byte is missing, and nobody sees it", n, width)
			}
		}
	}
}
