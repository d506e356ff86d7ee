package heapprofile_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/heapprofile"
)

// record appends a field of bytes of a protocol buffer.
func record(to []byte, number int, body []byte) []byte {
	to = append(to, byte(number<<3|2))
	return append(binary.AppendUvarint(to, uint64(len(body))), body...)
}

// live is the beginning of a binary profile of live blocks: its sample types, of more than two the others without a
// name.
func live(types int) (p []byte) {
	for i := range types {
		p = record(p, 1, []byte{8, byte(max(0, 3+i-types))})
	}
	for _, name := range []string{"", "objects", "space"} {
		p = record(p, 6, []byte(name))
	}
	return p
}

// A profile of too many sample types is refused.
func TestSampleTypes(t *testing.T) {
	t.Parallel()
	if _, err := heapprofile.Read(t.Context(), bytes.NewReader(live(64)), "a.heap"); err != nil {
		t.Errorf("64 sample types: %v", err)
	}
	_, err := heapprofile.Read(t.Context(), bytes.NewReader(live(65)), "a.heap")
	if r := evidence.Refusal(err); r == nil || r.Code != heapprofile.CodeTooLarge || !strings.Contains(r.Message, "64") || r.Do == "" {
		t.Errorf("65 sample types: %v", err)
	}
}

// ending is a context that ends when it was asked so many times.
type ending struct {
	context.Context //nolint:containedctx // it stands for it
	left            int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// The end of the context is noticed while the tables are read, also of a profile that is refused behind them.
func TestTablesEnd(t *testing.T) {
	t.Parallel()
	profile := record(nil, 1, []byte{8, 1})
	for range 1 << 14 {
		profile = record(profile, 6, []byte("cpu"))
	}
	for asked := range 5 {
		_, err := heapprofile.Read(t.Context(), bytes.NewReader(profile), "a.heap")
		if r := evidence.Refusal(err); r == nil || r.Code != heapprofile.CodeNotLive {
			t.Fatalf("the whole profile: %v", err)
		}
		_, err = heapprofile.Read(&ending{context.Background(), asked}, bytes.NewReader(profile), "a.heap")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a context that ends after %d questions: %v", asked, err)
		}
	}
}

// A stack has 256 frames at most when its frames are named, too.
func TestInlinedNames(t *testing.T) {
	t.Parallel()
	const sites = 20
	for _, test := range []struct{ names, addresses, frames int }{
		{2, 127, 255}, {1, 255, 256}, {255, 1, 256}, {256, 1, 256}, {255, 2, 256}, {1300, 1, 256}, {1300, 255, 256},
	} {
		var b strings.Builder
		fmt.Fprintf(&b, "--- symbol\nbinary=/srv/app\n0x401000 %s\n---\n--- heap\nheap profile: 20: 20 [20: 20] @ heapprofile\n",
			strings.TrimSuffix(strings.Repeat("f--", test.names), "--"))
		for i := range sites {
			fmt.Fprintf(&b, " 1: 1 [1: 1] @ %#x%s\n", 0x500000+i, strings.Repeat(" 0x401000", test.addresses))
		}
		captures, err := heapprofile.Read(t.Context(), strings.NewReader(b.String()), "a.heap")
		if err != nil {
			t.Fatal(err)
		}
		c := captures[0]
		for i := range c.Sites {
			if n := len(c.Stacks.Stack(c.Sites[i].Stack)); n != test.frames {
				t.Fatalf("%d names at %d addresses: %d frames, want %d", test.names, test.addresses, n, test.frames)
			}
		}
		if n := c.Total(0).Count; len(c.Sites) != sites || n != sites {
			t.Errorf("%d names at %d addresses: %d blocks of %d stacks", test.names, test.addresses, n, len(c.Sites))
		}
	}
}

// Named stacks have 1<<25 frames together: blocks beyond them are said to be left out.
func TestNamedFrames(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("--- symbol\n0x401000 " + strings.Repeat("f--", 254) + "f\n---\nheap profile: 1: 1 [1: 1] @ heapprofile\n")
	const room = 1 << 25 / 256
	for i := range room + 3 {
		fmt.Fprintf(&b, " 1: 1 [1: 1] @ 0x401000 %#x\n", 0x500000+i)
	}
	captures, err := heapprofile.Read(t.Context(), strings.NewReader(b.String()), "a.heap")
	if err != nil {
		t.Fatal(err)
	}
	if c := captures[0]; len(c.Sites) != room || !slices.ContainsFunc(c.Warnings, func(w capture.Warning) bool {
		return w.Code == capture.Truncated && w.Count == 3
	}) {
		t.Errorf("%d sites, %+v", len(c.Sites), c.Warnings)
	}
}

// Locations have 1<<21 lines together: those beyond them are said to be left out.
func TestLines(t *testing.T) {
	t.Parallel()
	const most, each = 1 << 21, 256
	location := record(nil, 4, bytes.Repeat([]byte{0x22, 0}, each))
	for over, want := range map[int]int64{0: 0, 3: 3 * each} {
		profile := append(live(2), bytes.Repeat(location, most/each+over)...)
		captures, err := heapprofile.Read(t.Context(), bytes.NewReader(profile), "a.heap")
		if err != nil {
			t.Fatal(err)
		}
		lost := int64(0)
		for _, w := range captures[0].Warnings {
			lost += w.Count
		}
		if lost != want {
			t.Errorf("%d locations over: %d left out, want %d", over, lost, want)
		}
	}
}
