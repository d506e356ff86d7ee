package appverifier

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A session keeps 1,000 different notes, and counts those that it drops.
func TestNotesAreBounded(t *testing.T) {
	for _, n := range []int{999, 1000, 1001} {
		room := maxKept
		s := newSession(nil, &room)
		for i := range n {
			s.take(&entry{code: 7, message: fmt.Sprintf("m %d", i)})
		}
		if kept := len(s.c.Memory.Notes); kept != min(n, 1000) || s.dropped != int64(n-kept) {
			t.Errorf("%d notes: %d are kept, %d dropped", n, kept, s.dropped)
		}
	}
}

// 64 MiB of text are kept of a log, in all of its sessions: a stop counts 512 bytes, a frame 64, and the text its
// length.
func TestTextOfALogIsBounded(t *testing.T) {
	leak := &entry{code: 0x900, message: "leaked", detail: "16 bytes", frames: slices.Repeat([]string{"f"}, maxFrames)}
	const each = 512 + 6 + 8 + 256*(64+1)
	const most = 64 << 20 / each
	room := newLog(t.Context(), strings.NewReader("")).room
	first, second := newSession(nil, &room), newSession(nil, &room)
	for range most - 1 {
		first.take(leak)
	}
	for range 3 {
		second.take(leak)
	}
	if len(first.c.Memory.Samples) != most-1 || len(second.c.Memory.Samples) != 1 || second.dropped != 2 {
		t.Errorf("%d and %d samples of %d bytes are kept, %d dropped", len(first.c.Memory.Samples),
			len(second.c.Memory.Samples), each, second.dropped)
	}
}
