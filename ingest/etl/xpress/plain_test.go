package xpress_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"heapdrift/ingest/etl/xpress"
	"heapdrift/ingest/etl/xpress/xpresstest"
	"heapdrift/ingest/evidence"
)

func ExampleDecode() {
	stream, _ := hex.DecodeString("ffffff1f61626317000fff2601") // of [MS-XCA] 3
	out := make([]byte, 300)
	n, err := xpress.Decode(out, stream)
	fmt.Println(n, err, string(out[:12]))
	_, err = xpress.Decode(out, stream[:9])
	fmt.Println(err)
	// Output:
	// 300 <nil> abcabcabcabc
	// the stream ends before the output is full; the output has 3 bytes (offset 0x7)
}

// Items written by hand: each step that encodes the length of a match, and every way to be wrong.
func TestItems(t *testing.T) {
	zeros := strings.Repeat("\x00", 70000)
	for _, c := range []struct {
		name   string
		stream string // hex, blanks for the reader
		size   int
		want   string
		code   string
	}{
		{"nothing", "", 0, "", ""},
		{"26 literals", "3f000000 6162636465666768696a6b6c6d6e6f707172737475767778797a", 26,
			"abcdefghijklmnopqrstuvwxyz", ""},
		{"length in 3 bits", "ffffff7f 61 0600", 10, strings.Repeat("a", 10), ""},
		{"length in a half byte", "ffffff7f 61 0700 0e", 25, strings.Repeat("a", 25), ""},
		{"both halves of one byte", "ffffff7f 61 0700 10 0700", 22, strings.Repeat("a", 22), ""},
		{"half byte waits over a match", "ffffff7f 61 0700 10 0000 0700", 25, strings.Repeat("a", 25), ""},
		{"length in a byte", "ffffff7f 61 0700 0f 05", 31, strings.Repeat("a", 31), ""},
		{"length in a word", "ffffff7f 00 0700 0f ff e803", 1004, zeros[:1004], ""},
		{"length in a word, as small as may be", "ffffff7f 00 0700 0f ff 1600", 26, zeros[:26], ""},
		{"length in a dword", "ffffff7f 00 0700 0f ff 0000 6c110100", 70000, zeros, ""},
		{"second flags", "00000000" + strings.Repeat("61", 32) + "ffffffff 0500", 40, strings.Repeat("a", 40), ""},
		{"more input than needed", "00000000 6162 6364", 2, "ab", ""},

		{"no input", "", 1, "", xpress.CodeTruncated},
		{"flags cut", "ffffff", 1, "", xpress.CodeTruncated},
		{"literal missing", "00000000 61", 2, "a", xpress.CodeTruncated},
		{"second flags missing", "00000000" + strings.Repeat("61", 32), 33, strings.Repeat("a", 32), xpress.CodeTruncated},
		{"match cut", "ffffff7f 61 06", 10, "a", xpress.CodeTruncated},
		{"half byte missing", "ffffff7f 61 0700", 20, "a", xpress.CodeTruncated},
		{"byte missing", "ffffff7f 61 0700 0f", 40, "a", xpress.CodeTruncated},
		{"word cut", "ffffff7f 61 0700 0f ff e8", 1004, "a", xpress.CodeTruncated},
		{"dword cut", "ffffff7f 61 0700 0f ff 0000 6c1101", 70000, "a", xpress.CodeTruncated},
		{"match first of all", "ffffffff 0000", 3, "", xpress.CodeBadDistance},
		{"match from before the output", "ffffff7f 61 0800", 4, "a", xpress.CodeBadDistance},
		{"match over the end", "ffffff7f 61 0600", 9, "a", xpress.CodeBadLength},
		{"word below 22", "ffffff7f 61 0700 0f ff 1500", 100, "a", xpress.CodeBadLength},
		{"dword of 22 or more, but huge", "ffffff7f 61 0700 0f ff 0000 ffffffff", 100, "a", xpress.CodeBadLength},
		{"dword below 22", "ffffff7f 61 0700 0f ff 0000 15000000", 100, "a", xpress.CodeBadLength},
	} {
		t.Run(c.name, func(t *testing.T) {
			stream, err := hex.DecodeString(strings.ReplaceAll(c.stream, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			// Once as it is, and once with room on both sides, so that the fast loop meets the item too.
			for _, room := range []int{0, 100} {
				out := make([]byte, c.size)
				if c.code == "" {
					out = make([]byte, c.size+room)
					stream = append(stream, make([]byte, room)...)
				}
				n, err := xpress.Decode(out[:c.size], stream)
				var e *evidence.Error
				if errors.As(err, &e) != (c.code != "") || e != nil && e.Code != c.code {
					t.Fatalf("got %v, want %q", err, c.code)
				}
				if string(out[:n]) != c.want {
					t.Fatalf("got %q (%d bytes)", out[:min(n, 100)], n)
				}
			}
		})
	}
}

// samples makes contents of many kinds: noise, runs, records that resemble events, words, matches near and far.
func samples(t testing.TB) [][]byte {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, 9))
	var all [][]byte
	for _, size := range []int{0, 1, 2, 3, 4, 7, 31, 32, 33, 47, 48, 49, 100, 1000, 0x2000, 0x10000} {
		noise, run, events, mixed := make([]byte, size), make([]byte, size), make([]byte, 0, size+64),
			make([]byte, 0, size+300)
		for i := range noise {
			noise[i] = byte(rng.Uint32())
			run[i] = byte(i / 5000)
		}
		clock := rng.Uint64() >> 8
		for len(events) < size {
			clock += rng.Uint64N(1000)
			events = binary.LittleEndian.AppendUint64(append(events, 2, 0, 2, 0xC0, 0x3C, 0, 33, 16), 0x1234<<32|0x5678)
			events = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(events, clock), uint64(rng.IntN(50)*16))
		}
		for len(mixed) < size {
			if len(mixed) == 0 || rng.IntN(3) == 0 {
				mixed = append(mixed, byte(rng.IntN(4)), byte(rng.Uint32()))
				continue
			}
			from, n := rng.IntN(len(mixed)), 1+rng.IntN(1<<rng.IntN(9))
			if rng.IntN(2) == 0 {
				from = max(0, len(mixed)-1-rng.IntN(12)) // a match that overlaps itself
			}
			for i := range n {
				mixed = append(mixed, mixed[from+i])
			}
		}
		all = append(all, noise, run, events[:size], mixed[:size])
	}
	return all
}

func TestRoundTrip(t *testing.T) {
	encoder := new(xpresstest.Encoder)
	for i, want := range samples(t) {
		stream := encoder.AppendPlain(nil, want)
		got := make([]byte, len(want))
		if n, err := xpress.Decode(got, stream); err != nil || n != len(want) || !bytes.Equal(got, want) {
			t.Fatalf("sample %d of %d bytes: %d, %v", i, len(want), n, err)
		}
	}
}

// A stream that is cut, or an output that is too small, gives a prefix. A damaged stream gives an error or a full
// output, and nothing is written beyond the output.
func TestDamage(t *testing.T) {
	encoder, rng := new(xpresstest.Encoder), rand.New(rand.NewPCG(1, 2))
	for i, want := range samples(t) {
		if len(want) > 1000 {
			continue
		}
		stream := encoder.AppendPlain(nil, want)
		for cut := range stream {
			got := make([]byte, len(want))
			n, err := xpress.Decode(got, stream[:cut])
			if !bytes.Equal(got[:n], want[:n]) || (err == nil) != (n == len(want)) {
				t.Fatalf("sample %d cut at %d: %d bytes, %v", i, cut, n, err)
			}
		}
		for size := range want {
			got := make([]byte, size)
			n, _ := xpress.Decode(got, stream)
			if !bytes.Equal(got[:n], want[:n]) {
				t.Fatalf("sample %d into %d bytes: not a prefix", i, size)
			}
		}
		guarded := make([]byte, len(want)+64)
		for range 4 * len(stream) {
			damaged := bytes.Clone(stream)
			damaged[rng.IntN(len(damaged))] ^= 1 << rng.IntN(8)
			if n, err := xpress.Decode(guarded[:len(want)], damaged); (err == nil) != (n == len(want)) {
				t.Fatalf("sample %d damaged: %d bytes, %v", i, n, err)
			}
			if behind := guarded[len(want):]; !bytes.Equal(behind, make([]byte, 64)) {
				t.Fatalf("sample %d damaged: wrote behind the output", i)
			}
		}
	}
}

func TestNoAllocation(t *testing.T) {
	want := samples(t)[50]
	stream, out := xpresstest.Plain(want), make([]byte, len(want))
	if n := testing.AllocsPerRun(10, func() { _, _ = xpress.Decode(out, stream) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// naive decodes one byte at a time, following the wording of [MS-XCA] 2.4.
func naive(dst, src []byte) (n int, ok bool) {
	var flags uint32
	items, half, s := 0, -1, 0
	next := func(bytes int) (v int, ok bool) {
		if bytes > len(src)-s {
			return 0, false
		}
		for i := range bytes {
			v |= int(src[s+i]) << (8 * i)
		}
		s += bytes
		return v, true
	}
	for n < len(dst) {
		if items == 0 {
			v, ok := next(4)
			if !ok {
				return n, false
			}
			flags, items = uint32(v), 32
		}
		items--
		if flags>>items&1 == 0 {
			v, ok := next(1)
			if !ok {
				return n, false
			}
			dst[n] = byte(v)
			n++
			continue
		}
		m, ok := next(2)
		length := m % 8
		if length == 7 && ok {
			if half < 0 {
				half = s
				length, ok = next(1)
				length %= 16
			} else {
				length, half = int(src[half])/16, -1
			}
			if length == 15 && ok {
				if length, ok = next(1); length == 255 && ok {
					if length, ok = next(2); length == 0 && ok {
						length, ok = next(4)
					}
					ok = ok && length >= 15+7
					length -= 15 + 7
				}
				length += 15
			}
			length += 7
		}
		length += 3
		distance := m/8 + 1
		if !ok || distance > n || length > len(dst)-n {
			return n, false
		}
		for range length {
			dst[n] = dst[n-distance]
			n++
		}
	}
	return n, true
}

// Decode and naive agree on any bytes: on the output, and on whether the stream is well-formed.
func FuzzDecode(f *testing.F) {
	for i, sample := range samples(f) {
		if i%5 == 0 && len(sample) <= 1000 {
			f.Add(xpresstest.Plain(sample), uint16(len(sample)))
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte, size uint16) {
		got, want := make([]byte, size), make([]byte, size)
		n, err := xpress.Decode(got, stream)
		m, ok := naive(want, stream)
		if n != m || (err == nil) != ok || !bytes.Equal(got[:n], want[:n]) {
			t.Fatalf("%d bytes and %v, by the wording %d and %v", n, err, m, ok)
		}
	})
}
