package heapprofile

import (
	"fmt"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// finish makes the capture of a text.
func (p *profile) finish() *capture.Capture {
	c := &capture.Capture{Kind: p.header.kind, Shape: capture.ShapeSnapshot, Snapshots: make([]capture.Snapshot, 1),
		Modules: p.modules.images(), Stacks: *p.sites.stacks, Sites: p.sites.sites}
	if p.header.rate > 1 {
		c.Sampling = p.header.rate
	}
	c.Process.Name = capture.Module{Path: p.symbols.binary}.FileName()
	p.sites.lost += p.symbols.apply(c)
	complete(c)
	if p.malformed.n > 0 {
		warn(c, capture.Malformed, p.malformed.n, p.malformed.line, "%s not understood and left out.",
			plural(p.malformed.n, "line is", "lines are"))
	}
	if p.negative.n > 0 {
		warn(c, capture.Inconsistent, p.negative.n, p.negative.line,
			"Give the profiles themselves: %s negative, as in the difference of two profiles.",
			plural(p.negative.n, "entry is", "entries are"))
	}
	if p.header.word == "heap_v2" && p.header.rate == 0 {
		warn(c, capture.Inconsistent, 1, 1, "The header lacks the sampling rate: the counts are of recorded blocks only.")
	}
	p.warnMissing(c)
	p.warnModules(c)
	if lost := p.sites.lost; lost > 0 {
		warn(c, capture.Truncated, lost, 0, "The profile has more stacks than are read: about %s left out.",
			plural(lost, "block is", "blocks are"))
	}
	if lost := p.modules.lost + p.symbols.lost; lost > 0 {
		warn(c, capture.Unsupported, lost, 0, "The profile lists more modules or names than are read; %s left out.",
			plural(lost, "line is", "lines are"))
	}
	return c
}

// complete says what follows from the modules and the addresses.
func complete(c *capture.Capture) {
	if c.Process.Name == "" {
		c.Process.Name = program(c.Modules)
	}
	var addresses uint64
	for id := range c.Stacks.FrameCount() {
		addresses |= c.Stacks.Frame(capture.FrameID(id)).Address
	}
	switch {
	case addresses>>32 != 0:
		c.Process.Bits = 64
	case addresses != 0:
		c.Process.Bits = 32
	}
	c.Stacks.Trim()
}

// mostLeftOut is the share of the recorded blocks that may be missing in a text that is whole: jemalloc may count its
// header at another moment than the stacks.
const mostLeftOut = 100 // one of so many

// warnMissing compares the header with the stacks. A text that is cut has less than its header says.
func (p *profile) warnMissing(c *capture.Capture) {
	missing := p.total.blocks - p.sum.blocks
	short := p.noted && missing > 0
	if p.section == inMaps && !p.broken { // the list of modules comes behind all stacks
		short = short && missing*mostLeftOut > p.total.blocks
	}
	switch {
	case short:
		warn(c, capture.Truncated, missing, p.in.number,
			"Give the whole profile: its stacks hold %d of the %s that its header counts.", p.sum.blocks,
			plural(p.total.blocks, "recorded block", "recorded blocks"))
	case p.broken:
		warn(c, capture.Truncated, 1, p.in.number, "Give the whole profile: it ends inside a line or before its numbers.")
	default:
		return
	}
	c.Snapshots[0].LowerBound = true
}

// warnModules says where frames cannot be told by module and offset.
func (p *profile) warnModules(c *capture.Capture) {
	if len(c.Modules) > 0 || len(c.Sites) == 0 {
		return
	}
	why := "lacks the list of modules (MAPPED_LIBRARIES)"
	if p.section == inMaps {
		why = "lists modules in a form that is not read"
	}
	warn(c, capture.NoImageInfo, 1, 0,
		"The profile %s. Its frames are addresses, which other processes have for other code.", why)
}

func warn(c *capture.Capture, code capture.Code, count, line int64, format string, args ...any) {
	w := capture.Warning{Code: code, Count: count, Message: fmt.Sprintf(format, args...)}
	if line > 0 {
		w.Place = fmt.Sprintf("line %d", line)
	}
	c.Warnings = append(c.Warnings, w)
}

// plural prints a number with the words for one or for many.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return quantity.Count(n) + " " + many
}
