package cab_test

import (
	"bytes"
	"io"
	"testing"

	"heapdrift/internal/symbols/cab"
	"heapdrift/internal/symbols/cab/cabtest"
)

// BenchmarkRead unpacks 2 MB; the speed is that of the output.
func BenchmarkRead(b *testing.B) {
	plain := content(1, 2_000_000)
	for name, c := range map[string]cabtest.Cabinet{
		"stored":       {Method: cabtest.Stored},
		"mszip":        {Method: cabtest.MSZIP},
		"lzx verbatim": {Method: cabtest.LZX, Window: 18, Calls: 2_000_000},
		"lzx aligned":  {Method: cabtest.LZX, Window: 21, LZX: []cabtest.LZXBlock{{Kind: cabtest.Aligned, Size: 1 << 18}}},
	} {
		c.Files = []cabtest.File{{Name: "a", Content: plain}}
		cabinet, err := c.Bytes()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := cab.Open(bytes.NewReader(cabinet), int64(len(cabinet)))
				if err != nil {
					b.Fatal(err)
				}
				in, err := r.Files()[0].Open()
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
