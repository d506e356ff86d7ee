package debugdiag

import (
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// stack is the part of a function's stack that all samples of its allocations share: the function, and the frames
// outward of it on which the samples agree. The frames inward of it (the allocator and LeakTrack's hook) are kept if
// all samples agree on them too. The numbers are of the function, so nothing that only some samples have may be in it.
//
// differ says for each sample whether the frames of the others end before its own do.
func (f *function) stack() (frames []frame, differ bool) {
	self := f.frame
	self.text.File, self.text.Line = parseSource(f.source)
	var inner, outer []frame
	met, whole := 0, true
	for i := range f.samples {
		sampled := f.samples[i].frames
		at := f.find(sampled)
		if at < 0 {
			whole = whole && len(sampled) == 0
			continue
		}
		if self.text.File == "" {
			self.text.File, self.text.Line = sampled[at].text.File, sampled[at].text.Line
		}
		if met++; met == 1 {
			inner, outer = sampled[:at], sampled[at+1:]
			continue
		}
		if !slices.EqualFunc(inner, sampled[:at], frame.same) {
			inner, differ = nil, true
		}
		n := 0
		for n < len(outer) && at+1+n < len(sampled) && outer[n].same(sampled[at+1+n]) {
			n++
		}
		differ = differ || n < len(outer) || at+1+n < len(sampled)
		outer = outer[:n]
	}
	if !whole { // a sample without the function: what lies around it is not known of all
		inner, outer, differ = nil, nil, true
	}
	frames = append(append(slices.Clone(inner), self), outer...)
	return frames, differ
}

// find is the place of the function in a sample, or −1. A name without its offset is enough where no frame has both.
func (f *function) find(frames []frame) int {
	if at := slices.IndexFunc(frames, f.frame.same); at >= 0 {
		return at
	}
	if f.frame.text.Function == "" {
		return -1
	}
	return slices.IndexFunc(frames, func(g frame) bool {
		return g.text.Module == f.frame.text.Module && g.text.Function == f.frame.text.Function
	})
}

// claim interns the stacks of a function and its samples.
func (d *draft) claim(f *function, scratch []capture.FrameID) capture.ToolConclusion {
	intern := func(frames []frame) capture.StackID {
		scratch = scratch[:0]
		for _, f := range frames {
			scratch = append(scratch, f.intern(&d.c.Stacks))
		}
		return d.c.Stacks.AddStack(scratch)
	}
	frames, differ := f.stack()
	c := capture.ToolConclusion{
		Stack: intern(frames), Type: f.kind, Percent: f.percent, Detached: f.handles,
		Usage: capture.Usage{Count: max(f.count, 0), Bytes: f.bytes.at}, UsageMargin: f.bytes.margin(),
	}
	for i := range f.samples {
		s := &f.samples[i]
		note := s.time
		if differ {
			if note != "" {
				note += "; "
			}
			note += fmt.Sprintf("the samples have %s in common", quantity.Plural(len(frames), "frame"))
		}
		c.Samples = append(c.Samples,
			capture.Sample{Title: s.title, Stack: intern(s.frames), Address: s.address, Size: s.size.at, Note: note})
	}
	return c
}
