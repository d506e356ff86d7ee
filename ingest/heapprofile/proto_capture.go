package heapprofile

import (
	"context"
	"time"

	"heapdrift/ingest/capture"
)

// firstYear is older than profile.proto. mimalloc writes the time since the machine was started.
const firstYear = 2010

// capture makes the capture.
func (p *protoProfile) capture(ctx context.Context) (*capture.Capture, error) {
	c := &capture.Capture{Kind: KindPprof, Shape: capture.ShapeSnapshot, Snapshots: make([]capture.Snapshot, 1)}
	c.Modules = p.images()
	if taken := time.Unix(0, p.taken).UTC(); taken.Year() >= firstYear {
		c.Snapshots[0].TakenAt = taken
	}
	if p.period > 1 {
		c.Sampling = p.period
	}
	sites, m := newSiteList(), message{p.data, false}
	values := make([]uint64, 0, len(p.types))
	var stack []uint64
	var frames []capture.FrameID
	for n := 0; ; n++ {
		if n%betweenChecks == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		f, ok := m.next()
		if !ok {
			break
		}
		if f.number != profileSample {
			continue
		}
		stack, values = stack[:0], values[:0]
		eachField(f.bytes, func(f field) {
			switch f.number {
			case sampleLocation:
				stack = f.numbers(stack, mostFrames)
			case sampleValue:
				values = f.numbers(values, len(p.types))
			}
		})
		if len(values) <= max(p.count, p.size) {
			p.wrong.add(0)
			continue
		}
		blocks, size := int64(values[p.count]), int64(values[p.size])
		if blocks < 0 || size < 0 {
			p.wrong.add(0)
			continue
		}
		if blocks == 0 && size == 0 {
			continue
		}
		frames = p.frames(frames[:0], stack, sites.stacks)
		rate := int64(0)
		if p.raw {
			rate = p.period
		}
		sites.add(frames, estimate(blocks, size, rate))
	}
	c.Stacks, c.Sites = *sites.stacks, sites.sites
	complete(c)
	p.lost += sites.lost
	p.warnings(c)
	return c, nil
}

// images are the modules with their names. Segments of one module are one, as in a text.
func (p *protoProfile) images() []capture.Module {
	var all mapping
	for i := range p.modules {
		m := &p.modules[i]
		if path := p.string(m.file); path != "" && path[0] != '[' {
			all.add(path, m.start, m.end, m.start-m.base, true)
		}
	}
	return all.images()
}

// frames makes the frames of a stack.
func (p *protoProfile) frames(frames []capture.FrameID, stack []uint64, to *capture.Stacks) []capture.FrameID {
	for _, id := range stack {
		made, ok := p.made[id]
		if !ok {
			l, known := p.locations[id]
			if !known {
				p.wrong.add(0)
				continue
			}
			made = p.framesAt(&l, to)
			p.made[id] = made
		}
		frames = append(frames, made[:min(len(made), mostFrames-len(frames))]...)
	}
	return frames
}

// framesAt makes the frames of an address: functions that are inlined there, and then the function itself.
func (p *protoProfile) framesAt(l *protoLocation, to *capture.Stacks) (frames []capture.FrameID) {
	module := ""
	if at, ok := p.mappings[l.mapping]; ok {
		module = capture.Module{Path: p.string(p.modules[at].file)}.Name()
	}
	for k, line := range l.lines {
		fn := p.functions[line.function]
		text := capture.FrameText{Module: module, Function: p.string(fn.name), File: p.string(fn.file),
			Line: uint32(min(line.line, 1<<31)), Inline: k < len(l.lines)-1}
		if text.Function == "" {
			continue
		}
		address := l.address
		if text.Inline {
			address = 0
		}
		frames = append(frames, to.AddText(text, address))
	}
	if len(frames) == 0 && l.address != 0 {
		frames = append(frames, to.AddAddress(l.address))
	}
	return frames
}

func (p *protoProfile) warnings(c *capture.Capture) {
	if p.cut {
		warn(c, capture.Truncated, 1, 0, "Give the whole profile: it ends inside a record, at offset %#x.", len(p.data))
		c.Snapshots[0].LowerBound = true
	}
	if n := p.wrong.n; n > 0 {
		warn(c, capture.Malformed, n, 0, "%s contradict the tables of the profile.", plural(n, "sample or frame", "samples or frames"))
	}
	if p.lost > 0 {
		warn(c, capture.Truncated, p.lost, 0, "The profile has more records than are read; %s left out.",
			plural(p.lost, "record is", "records are"))
	}
	if len(c.Modules) == 0 && len(c.Sites) > 0 && !c.Stacks.HasTexts() {
		warn(c, capture.NoImageInfo, 1, 0,
			"The profile lacks the list of modules. Its frames are addresses, which other processes have for other code.")
	}
}
