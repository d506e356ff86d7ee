package xpress_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"heapdrift/ingest/etl/xpress"
	"heapdrift/ingest/etl/xpress/xpresstest"
	"heapdrift/ingest/evidence"
)

// alphabet is the first example of [MS-XCA] 3: the letters, and a code for the end.
func alphabet(t testing.TB) []byte {
	t.Helper()
	stream, err := hex.DecodeString(strings.Repeat("00", 48) + "50555555555555555555554544" + "04" +
		strings.Repeat("00", 66) + "04" + strings.Repeat("00", 127) +
		"d8523ed794115be9195ff9d67cdf8d0400000000")
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func TestHuffmanExample(t *testing.T) {
	out := make([]byte, 26)
	if n, err := xpress.DecodeHuffman(out, alphabet(t)); err != nil || string(out) != "abcdefghijklmnopqrstuvwxyz" {
		t.Fatalf("%q, %v", out[:n], err)
	}
}

func TestHuffmanRoundTrip(t *testing.T) {
	encoder := new(xpresstest.Encoder)
	all := samples(t)
	all = append(all, bytes.Join(all, nil)) // several blocks
	for i, want := range all {
		stream := encoder.AppendHuffman(nil, want)
		got := make([]byte, len(want))
		if n, err := xpress.DecodeHuffman(got, stream); err != nil || n != len(want) || !bytes.Equal(got, want) {
			t.Fatalf("sample %d of %d bytes: %d, %v", i, len(want), n, err)
		}
	}
}

func TestHuffmanDamage(t *testing.T) {
	encoder, rng := new(xpresstest.Encoder), rand.New(rand.NewPCG(3, 4))
	for i, want := range samples(t) {
		if len(want) == 0 || len(want) > 100 {
			continue
		}
		stream := encoder.AppendHuffman(nil, want)
		for cut := 250; cut < len(stream); cut++ { // the table's end, and all behind it
			got := make([]byte, len(want))
			n, err := xpress.DecodeHuffman(got, stream[:cut])
			if !bytes.Equal(got[:n], want[:n]) || (err == nil) != (n == len(want)) {
				t.Fatalf("sample %d cut at %d: %d bytes, %v", i, cut, n, err)
			}
		}
		for range 50 {
			damaged := bytes.Clone(stream)
			damaged[rng.IntN(len(damaged))] ^= 1 << rng.IntN(8)
			if n, err := xpress.DecodeHuffman(make([]byte, len(want)), damaged); (err == nil) != (n == len(want)) {
				t.Fatalf("sample %d damaged: %d bytes, %v", i, n, err)
			}
		}
	}
}

func TestHuffmanTable(t *testing.T) {
	for name, stream := range map[string][]byte{
		"no symbols":       make([]byte, 300),
		"half the codes":   append([]byte{1}, make([]byte, 300)...),
		"too many symbols": append([]byte{0x11, 0x11}, make([]byte, 300)...),
	} {
		var e *evidence.Error
		if _, err := xpress.DecodeHuffman(make([]byte, 10), stream); !errors.As(err, &e) || e.Code != xpress.CodeBadTable {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecodeHuffman(f *testing.F) {
	f.Add(alphabet(f), uint16(26))
	for i, sample := range samples(f) {
		if i%5 == 0 && len(sample) <= 1000 {
			f.Add(new(xpresstest.Encoder).AppendHuffman(nil, sample), uint16(len(sample)))
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte, size uint16) {
		n, err := xpress.DecodeHuffman(make([]byte, size), stream)
		if n > int(size) || (err == nil) != (n == int(size)) {
			t.Fatalf("%d of %d bytes, %v", n, size, err)
		}
	})
}

func BenchmarkDecodeHuffman(b *testing.B) {
	want := bytes.Join(samples(b), nil)
	stream, out := new(xpresstest.Encoder).AppendHuffman(nil, want), make([]byte, len(want))
	b.SetBytes(int64(len(want)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := xpress.DecodeHuffman(out, stream); err != nil {
			b.Fatal(err)
		}
	}
}
