package dump

import (
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/quantity"
)

// warn adds the warnings that limit the report. It returns an error only if the file cannot be read.
func (b *builder) warn() error {
	for _, e := range b.source.Damage() {
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
	if missing := b.memory.MissingBytes(); missing > 0 {
		b.warning(capture.Truncated, missing,
			"Upload the dump again: it is cut short, and %s of its memory are missing.",
			quantity.Bytes(missing))
		b.c.Snapshots[0].LowerBound = true
	}
	for _, s := range b.sides {
		if s.peb == 0 {
			b.warning(capture.PartialHeap, 1,
				"The %s lacks the %d-bit environment block (PEB) of the process. Heaps are found by their signature, and some may be missing.",
				b.opt.Subject.Name, s.bits)
		}
	}
	b.warnOfStacks()
	unread := int64(0)
	for _, g := range b.c.Memory.Gaps {
		unread += g.Bytes
	}
	if n := len(b.c.Memory.Gaps); n > 0 {
		first := b.c.Memory.Gaps[0]
		b.warning(capture.PartialHeap, int64(n), "Heaps or ranges that could not be walked: %d (%s). The first: %s at %v, %s.", n,
			quantity.Bytes(unread), first.What, first.Address, first.Why)
	}
	if b.c.Memory.Space.Partial {
		b.warning(capture.Unsupported, 1, "The %s has no list of regions: reserved and free address space are unknown.",
			b.opt.Subject.Name)
	}
	return nil
}

// warning adds one.
func (b *builder) warning(code capture.Code, count int64, format string, args ...any) {
	b.c.Warnings = append(b.c.Warnings, capture.Warning{Code: code, Count: count, Message: fmt.Sprintf(format, args...)})
}

// warnOfStacks warns of blocks without stacks, with the reason.
func (b *builder) warnOfStacks() {
	busy := int64(0)
	for i := range b.owners {
		busy += b.owners[i].usage.Count
	}
	switch {
	case len(b.c.Memory.Heaps) == 0:
		b.warning(capture.PartialHeap, 1, "No Windows heap was found in the %s, so it shows no allocations.", b.opt.Subject.Name)
	case b.bare.Count == busy && busy > 0 && b.traced():
		b.warning(capture.NoStacks, busy,
			"User-mode stack traces were on, but none was found. Traces of Windows XP and 2003 are not read.")
	case b.bare.Count == busy && busy > 0:
		b.warning(capture.NoStacks, busy,
			"Run gflags /i %s +ust and restart the process before the next %s: its blocks have no call stacks.",
			b.c.Process.Name, b.opt.Subject.Name)
	case b.isFew(b.bare, busy):
		b.warning(capture.Unsupported, b.bare.Count, "%s of %s (%s) have no call stack, less than 1 %%.",
			quantity.Count(b.bare.Count), quantity.Plural(busy, "block"), quantity.Bytes(b.bare.Bytes))
	case b.bare.Count > 0:
		b.warning(capture.StackMissing, b.bare.Count, "No call stack was found for %s (%s).", quantity.Plural(b.bare.Count, "block"),
			quantity.Bytes(b.bare.Bytes))
	}
	if b.isFew(b.lost, busy) {
		b.warning(capture.Unsupported, b.lost.Count, "The call stacks of %s of %s (%s) are damaged or not in the %s.", quantity.Count(b.lost.Count),
			quantity.Plural(busy, "block"), quantity.Bytes(b.lost.Bytes), b.opt.Subject.Name)
	} else if b.lost.Count > 0 {
		b.warning(capture.StackMissing, b.lost.Count, "The call stacks of %s (%s) are damaged or not in the %s.",
			quantity.Plural(b.lost.Count, "block"), quantity.Bytes(b.lost.Bytes), b.opt.Subject.Name)
	}
}

// traced reports whether stack traces were on.
func (b *builder) traced() bool {
	return slices.ContainsFunc(b.found, func(h *ntheap.SideHeaps) bool { return h.StackTraces })
}

// isFew reports whether blocks are too few, by number and by bytes, to change the verdict. Every process allocates some
// blocks before stacks are recorded.
func (b *builder) isFew(some capture.Usage, busy int64) bool {
	const few = 100
	var bytes int64
	for i := range b.owners {
		bytes += b.owners[i].usage.Bytes
	}
	return some.Count > 0 && few*some.Count < busy && few*some.Bytes < bytes
}

// damageCodes are the warnings for kinds of damage. Damage without a code does not concern memory.
var damageCodes = map[string]capture.Code{
	minidump.CodeTruncated: capture.Truncated, minidump.CodeBadStream: capture.Malformed,
	minidump.CodeBadEntry: capture.Malformed,
	minidump.CodeBadName:  capture.Unsupported, minidump.CodeTooMany: capture.Unsupported,
	minidump.CodeOverlap:  capture.Unsupported,
	minidump.CodeRepeated: capture.Unsupported,
}

// damaged warns of the damage of a stream, once for each kind.
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
