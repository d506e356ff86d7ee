package umdh

import (
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// warn adds a warning; line is where first, 0 for nowhere in particular.
func (d *draft) warn(code capture.Code, count, line int64, format string, args ...any) {
	w := capture.Warning{Code: code, Message: fmt.Sprintf(format, args...), Count: count}
	if line > 0 {
		w.Place = fmt.Sprintf("line %d", line)
	}
	d.c.Warnings = append(d.c.Warnings, w)
}

// warnCommon says what concerns logs of either kind.
func (d *draft) warnCommon() {
	if long := d.in.long; long.n > 0 {
		d.malformed.merge(long)
	}
	if m := d.malformed; d.damaged.n > 0 {
		m.n = max(m.n, d.damaged.n)
		d.warn(capture.Malformed, m.n, d.damaged.line, "Take the log again: it is damaged from line %d. %s not understood and not counted.",
			d.damaged.line, quantity.Plural(m.n, "line"))
	} else if m.n > 0 {
		d.warn(capture.Malformed, m.n, m.line, "%s not understood and not counted.", quantity.Plural(m.n, "line"))
	}
	const otherSDK = "Use umdh.exe of a Windows 10 SDK, or of SDK 10.0.28000 or later: "
	if b := d.broken; b.n > 0 {
		d.warn(capture.BrokenSDK, b.n, b.line,
			otherSDK+"UMDH found no stacks. UMDH of the Windows 11 SDK always says that the stack trace database is full.")
	} else if d.bare {
		d.warn(capture.BrokenSDK, 1, 0,
			otherSDK+"no entry has a stack, a known fault of UMDH of the Windows 11 SDK.")
	}
	if d.in.src.guessed {
		d.warn(capture.EncodingGuessed, 1, 0,
			"The log has no byte order mark; its zero bytes suggest UTF-16.")
	}
	if f := d.foreign; f.n > 0 {
		d.warn(capture.EncodingGuessed, f.n, f.line, "%s in an unknown code page: letters outside ASCII are replaced.",
			quantity.Plural(f.n, "name"))
	}
}

// A holding is what one id holds, for warnings about ids.
type holding struct {
	id      uint64
	stacks  int
	entries int64
	blocks  int64
	bytes   int64
	line    int64
}

// shortList names the first few.
func shortList(names []string) string {
	if len(names) > fewIDs {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:fewIDs], ", "), len(names)-fewIDs)
	}
	return strings.Join(names, ", ")
}

// fewIDs is how many ids, or other names, a warning gives.
const fewIDs = 3

// warnIDs says which ids have several stacks, and which none although they should.
func (d *draft) warnIDs(holdings []holding) {
	var ambiguous, missing []holding
	var bare holding // BackTrace0
	for _, h := range holdings {
		switch {
		case h.id == 0 && bare.entries == 0:
			bare = h
		case h.id == 0:
			bare.entries, bare.bytes = bare.entries+h.entries, bare.bytes+h.bytes
		case h.stacks > 1:
			ambiguous = append(ambiguous, h)
		case h.stacks == 0:
			missing = append(missing, h)
		}
	}
	if bare.entries > 0 {
		d.warn(capture.NoStacks, bare.entries, bare.line,
			"Enlarge the full stack trace database (gflags /i IMAGE +ust /tracedb 512) and restart the process: "+
				"no stack was recorded for %s (%s, BackTrace0).",
			quantity.Plural(bare.entries, "entry"), quantity.Bytes(bare.bytes))
		d.bare = d.raw != nil && len(holdings) == 1
	}
	if blocks, bytes := sumHoldings(ambiguous); len(ambiguous) > 0 {
		names := nameIDs(ambiguous,
			func(h holding) string { return fmt.Sprintf("BackTrace%X is ambiguous: %d stacks", h.id, h.stacks) })
		d.warn(capture.AmbiguousStack, blocks, ambiguous[0].line,
			"%s share the id, so %s (%s) may belong to any of them. They are shown under the first.", names,
			quantity.Plural(blocks, "allocation"), quantity.Bytes(bytes))
	}
	if blocks, bytes := sumHoldings(missing); len(missing) > 0 {
		names := nameIDs(missing, func(h holding) string { return fmt.Sprintf("BackTrace%X", h.id) })
		d.warn(capture.StackMissing, blocks, missing[0].line,
			"The log has no stack for %s: %s (%s) belong to no function.", names,
			quantity.Plural(blocks, "allocation"), quantity.Bytes(bytes))
	}
}

func sumHoldings(holdings []holding) (blocks, bytes int64) {
	for _, h := range holdings {
		blocks, bytes = blocks+h.blocks, bytes+h.bytes
	}
	return blocks, bytes
}

// nameIDs names the first few and counts the others.
func nameIDs(holdings []holding, name func(holding) string) string {
	var names []string
	for _, h := range holdings[:min(fewIDs, len(holdings))] {
		names = append(names, name(h))
	}
	if more := len(holdings) - fewIDs; more > 0 {
		names = append(names, fmt.Sprintf("and %d more of %d ids", more, len(holdings)))
	}
	return strings.Join(names, ", ")
}
