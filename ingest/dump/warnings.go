package dump

import (
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/figures"
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/ntheap"
)

// warn says what limits what may be concluded. Its error is that of reading the file, which is nobody's damage.
func (b *builder) warn() error {
	for _, e := range b.dump.Damage() {
		b.damaged("the dump", e)
	}
	for _, p := range b.problems {
		for _, e := range minidump.Problems(p.err) {
			if e.Code == minidump.CodeReadFailed {
				return e
			}
			b.damaged(p.what, e)
		}
	}
	if missing := b.memory.Missing(); missing > 0 {
		b.warning(capture.Truncated, missing,
			"the dump is cut short: %s of memory that it lists are not in the file; upload it again",
			figures.Bytes(missing))
		b.c.Snapshots[0].LowerBound = true
	}
	for _, s := range b.sides {
		if s.peb == 0 {
			b.warning(capture.PartialHeap, 1,
				"the dump does not lead to the %d-bit environment block of the process: heaps are those that look like one, and some may be missing", s.bits)
		}
	}
	b.warnOfStacks()
	unread := int64(0)
	for _, g := range b.c.Memory.Gaps {
		unread += g.Bytes
	}
	if n := len(b.c.Memory.Gaps); n > 0 {
		first := b.c.Memory.Gaps[0]
		b.warning(capture.PartialHeap, int64(n), "%d heaps or ranges (%s) could not be walked; the first: %s at %v, %s", n,
			figures.Bytes(unread), first.What, first.Address, first.Why)
	}
	if b.c.Memory.Space.Partial {
		b.warning(capture.Unsupported, 1, "the dump has no list of regions: what is only reserved, and what is free, is not known")
	}
	return nil
}

// warning adds one.
func (b *builder) warning(code capture.Code, count int64, format string, args ...any) {
	b.c.Warnings = append(b.c.Warnings, capture.Warning{Code: code, Count: count, Message: fmt.Sprintf(format, args...)})
}

// warnOfStacks says which blocks have no stacks, and why.
func (b *builder) warnOfStacks() {
	busy := int64(0)
	for i := range b.owners {
		busy += b.owners[i].usage.Count
	}
	switch {
	case len(b.c.Memory.Heaps) == 0:
		b.warning(capture.PartialHeap, 1, "no Windows heap was found in the dump, so it says nothing of allocations")
	case b.bare.Count == busy && busy > 0 && b.traced():
		b.warning(capture.NoStacks, busy,
			"user-mode stack traces were on, and none could be found: of Windows XP and 2003 they are not read")
	case b.bare.Count == busy && busy > 0:
		b.warning(capture.NoStacks, busy,
			"the blocks have no stacks: user-mode stack traces were off; run gflags /i %s +ust and start the process again before the next dump", b.c.Process.Name)
	case b.isFew(b.bare, busy):
		b.warning(capture.Unsupported, b.bare.Count, "%s of %s (%s) have no stack, less than one of a hundred",
			figures.Count(b.bare.Count), figures.Plural(busy, "block"), figures.Bytes(b.bare.Bytes))
	case b.bare.Count > 0:
		b.warning(capture.StackMissing, b.bare.Count, "no stack is known of %s (%s)", figures.Plural(b.bare.Count, "block"),
			figures.Bytes(b.bare.Bytes))
	}
	if b.isFew(b.lost, busy) {
		b.warning(capture.Unsupported, b.lost.Count, "the stacks of %s of %s (%s) are not in the dump or are damaged",
			figures.Count(b.lost.Count), figures.Plural(busy, "block"), figures.Bytes(b.lost.Bytes))
	} else if b.lost.Count > 0 {
		b.warning(capture.StackMissing, b.lost.Count, "the stacks of %s (%s) are not in the dump or are damaged",
			figures.Plural(b.lost.Count, "block"), figures.Bytes(b.lost.Bytes))
	}
}

// traced reports whether stack traces were on.
func (b *builder) traced() bool {
	return slices.ContainsFunc(b.found, func(h *ntheap.Heaps) bool { return h.StackTraces })
}

// isFew reports whether blocks are so few, by number and by bytes, that no conclusion hangs on them: some are made
// before stacks are recorded, in every process.
func (b *builder) isFew(some capture.Usage, busy int64) bool {
	const few = 100
	var bytes int64
	for i := range b.owners {
		bytes += b.owners[i].usage.Bytes
	}
	return some.Count > 0 && few*some.Count < busy && few*some.Bytes < bytes
}

// damageCodes are what kinds of damage mean for the report. Those that are not here say nothing of memory.
var damageCodes = map[string]capture.Code{
	minidump.CodeTruncated: capture.Truncated, minidump.CodeBadStream: capture.Malformed,
	minidump.CodeBadEntry: capture.Malformed,
	minidump.CodeBadName:  capture.Unsupported, minidump.CodeTooMany: capture.Unsupported,
	minidump.CodeOverlap:  capture.Unsupported,
	minidump.CodeRepeated: capture.Unsupported,
}

// damaged passes on what is wrong with a stream, once for each kind of damage.
func (b *builder) damaged(what string, e *minidump.Problem) {
	code, ok := damageCodes[e.Code]
	if !ok {
		return
	}
	message := what + ": " + e.Message
	for i := range b.c.Warnings {
		if b.c.Warnings[i].Message == message {
			b.c.Warnings[i].Count += max(e.Count, 1)
			return
		}
	}
	b.c.Warnings = append(b.c.Warnings, capture.Warning{Code: code, Count: max(e.Count, 1), Message: message,
		Place: fmt.Sprintf("%s, offset %#x", e.Stream, e.Offset)})
}
