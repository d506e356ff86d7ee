package heapprofile_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"heapdrift/ingest/heapprofile"
	"heapdrift/ingest/heapprofile/heapprofiletest"
)

// BenchmarkText reads texts of 64 MB: 2,000 stacks of 24 frames, again and again.
func BenchmarkText(b *testing.B) {
	var jemalloc, gperftools strings.Builder
	for i := range 2000 {
		var stack strings.Builder
		for k := range 24 {
			fmt.Fprintf(&stack, " %#x", 0x7f20f3000000+(i*7919+k*104729)%50021*16)
		}
		fmt.Fprintf(&jemalloc, "@%s\n  t*: %d: %d [0: 0]\n  t0: %d: %d [0: 0]\n", &stack, i+1, 64*(i+1), i+1, 64*(i+1))
		fmt.Fprintf(&gperftools, "%6d: %8d [%6d: %8d] @%s\n", i+1, 64*(i+1), i+1, 64*(i+1), &stack)
	}
	for name, text := range map[string][2]string{
		"jemalloc":   {"heap_v2/524288\n  t*: 1: 64 [0: 0]\n", jemalloc.String()},
		"gperftools": {"heap profile: 1: 64 [1: 64] @ heap_v2/524288\n", gperftools.String()},
	} {
		const bytesRead = 64 << 20
		times := bytesRead / len(text[1])
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text[0]) + times*len(text[1])))
			b.ReportAllocs()
			for b.Loop() {
				parts := []io.Reader{strings.NewReader(text[0])}
				for range times {
					parts = append(parts, strings.NewReader(text[1]))
				}
				if _, err := heapprofile.Read(b.Context(), io.MultiReader(parts...), "a.heap"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkProto reads a binary profile of 20,000 stacks.
func BenchmarkProto(b *testing.B) {
	p := heapprofiletest.Server(3, 0)
	p.Rate = 0
	for i := range uint64(20_000) {
		s := p.Sites[int(i)%4]
		s.Stack = append([]heapprofiletest.Frame{}, s.Stack...)
		s.Stack[1].Offset += 16 * (i % 4096)
		s.Stack[2].Offset += 16 * (i / 7)
		p.Sites = append(p.Sites, s)
	}
	profile := p.Proto(heapprofiletest.Go, nine, true)
	b.SetBytes(int64(len(profile)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := heapprofile.Read(b.Context(), bytes.NewReader(profile), "a.heap"); err != nil {
			b.Fatal(err)
		}
	}
}
