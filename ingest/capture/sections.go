package capture

import "math"

// The payload of each section, written and read side by side.

func (c *Capture) putHeader(e *encoder) {
	e.string(string(c.Kind))
	e.uint(uint64(c.Shape))
	e.string(c.Process.Name)
	e.uint(uint64(c.Process.PID))
	e.uint(uint64(c.Process.Bits))
	e.string(c.Process.Machine)
}

func (c *Capture) takeHeader(d *decoder) {
	c.Kind = Kind(d.string())
	c.Shape = Shape(d.uint())
	c.Process = Process{Name: d.string(), PID: uint32(d.uint()), Bits: uint8(d.uint()), Machine: d.string()}
}

func (c *Capture) putSnapshots(e *encoder) {
	e.uint(uint64(len(c.Snapshots)))
	for _, s := range c.Snapshots {
		e.time(s.TakenAt)
		e.bool(s.LowerBound)
	}
}

func (c *Capture) takeSnapshots(d *decoder) {
	c.Snapshots = make([]Snapshot, d.count(2))
	for i := range c.Snapshots {
		c.Snapshots[i] = Snapshot{TakenAt: d.time(), LowerBound: d.bool()}
	}
}

func (c *Capture) putModules(e *encoder) {
	e.uint(uint64(len(c.Modules)))
	for _, m := range c.Modules {
		e.string(m.Path)
		e.uint(m.Base)
		e.uint(m.Size)
		e.string(m.PDB)
		e.string(m.DebugID)
		e.string(string(m.Symbols))
	}
}

func (c *Capture) takeModules(d *decoder) {
	c.Modules = make([]Module, d.count(6))
	for i := range c.Modules {
		c.Modules[i] = Module{Path: d.string(), Base: d.uint(), Size: d.uint(), PDB: d.string(), DebugID: d.string(),
			Symbols: SymbolKind(d.string())}
	}
}

// putFormer lists the places of modules that are Former.
func (c *Capture) putFormer(e *encoder) {
	var places []uint64
	for i := range c.Modules {
		if c.Modules[i].Former {
			places = append(places, uint64(i))
		}
	}
	e.uint(uint64(len(places)))
	for _, p := range places {
		e.uint(p)
	}
}

func (c *Capture) takeFormer(d *decoder) {
	for range d.count(1) {
		at := d.uint()
		if at >= uint64(len(c.Modules)) {
			d.bad = true
			return
		}
		c.Modules[at].Former = true
	}
}

func (c *Capture) putHeaps(e *encoder) {
	e.uint(uint64(len(c.Heaps)))
	for _, h := range c.Heaps {
		e.uint(h.Handle)
		e.bool(h.Partial)
	}
}

func (c *Capture) takeHeaps(d *decoder) {
	c.Heaps = make([]Heap, d.count(2))
	for i := range c.Heaps {
		c.Heaps[i] = Heap{Handle: d.uint(), Partial: d.bool()}
	}
}

func (c *Capture) putTexts(e *encoder) {
	texts := c.Stacks.texts
	e.uint(uint64(len(texts)))
	for _, t := range texts {
		e.string(t.Module)
		e.string(t.Function)
		e.uint(t.Offset)
		e.string(t.File)
		e.uint(uint64(t.Line))
		e.bool(t.Inline)
	}
}

func (c *Capture) takeTexts(d *decoder) {
	texts := make([]FrameText, d.count(6))
	ids := make(map[FrameText]uint32, len(texts))
	for i := range texts {
		texts[i] = FrameText{Module: d.string(), Function: d.string(), Offset: d.uint(), File: d.string(),
			Line: uint32(d.uint()), Inline: d.bool()}
		if i > 0 {
			ids[texts[i]] = uint32(i)
		}
	}
	if len(texts) > 0 {
		c.Stacks.texts, c.Stacks.textIDs = texts, ids
	}
}

func (c *Capture) putFrames(e *encoder) {
	e.uint(uint64(c.Stacks.frames.n))
	var last uint64
	for row := range uint32(c.Stacks.frames.n) {
		f := c.Stacks.frames.at(row)
		e.int(int64(f.Address - last))
		e.uint(uint64(f.Module)<<32 | uint64(f.Text))
		last = f.Address
	}
}

func (c *Capture) takeFrames(d *decoder) {
	var last uint64
	for i := range d.count(2) {
		last += uint64(d.int())
		names := d.uint()
		if id := c.Stacks.add(Frame{Address: last, Text: uint32(names), Module: uint32(names >> 32)}); int(id) != i {
			d.bad = true // one twice would shift the numbers of all behind it
			return
		}
	}
}

func (c *Capture) putStacks(e *encoder) {
	s := &c.Stacks
	e.uint(uint64(s.Count() - 1))
	for id := StackID(1); int(id) < s.Count(); id++ {
		stack := s.Stack(id)
		e.uint(uint64(len(stack)))
		for _, f := range stack {
			e.uint(uint64(f))
		}
	}
}

func (c *Capture) takeStacks(d *decoder) {
	for range d.count(2) {
		stack := make([]FrameID, d.count(1))
		for i := range stack {
			stack[i] = FrameID(d.uint())
		}
		if before := c.Stacks.Count(); int(c.Stacks.AddStack(stack)) != before {
			d.bad = true // an empty stack, or one twice, would shift the numbers of all behind it
			return
		}
	}
}

func (c *Capture) putSites(e *encoder) {
	e.uint(uint64(len(c.Sites)))
	for i := range c.Sites {
		s := &c.Sites[i]
		e.uint(uint64(s.Stack))
		e.uint(uint64(len(s.AliasStacks)))
		for _, a := range s.AliasStacks {
			e.uint(uint64(a))
		}
		e.int(int64(s.Heap))
		e.uint(uint64(s.Kind))
		e.uint(s.Trace)
		for _, u := range s.Usage {
			e.int(u.Count)
			e.int(u.Bytes)
			e.int(u.Overhead)
		}
	}
}

// takeSites relies on the snapshots section before it for the number of usages.
func (c *Capture) takeSites(d *decoder) {
	per := len(c.Snapshots)
	c.Sites = make([]Site, d.count(5+3*per))
	usage := make([]Usage, per*len(c.Sites))
	for i := range c.Sites {
		s := &c.Sites[i]
		s.Stack = StackID(d.uint())
		if n := d.count(1); n > 0 {
			s.AliasStacks = make([]StackID, n)
			for k := range s.AliasStacks {
				s.AliasStacks[k] = StackID(d.uint())
			}
		}
		s.Heap, s.Kind, s.Trace = int32(d.int()), SiteKind(d.uint()), d.uint()
		s.Usage, usage = usage[:per:per], usage[per:]
		for k := range s.Usage {
			s.Usage[k] = Usage{Count: d.int(), Bytes: d.int(), Overhead: d.int()}
		}
	}
}

func (c *Capture) putWarnings(e *encoder) {
	e.uint(uint64(len(c.Warnings)))
	for _, w := range c.Warnings {
		e.string(string(w.Code))
		e.string(w.Message)
		e.string(w.Place)
		e.int(w.Count)
	}
}

func (c *Capture) takeWarnings(d *decoder) {
	c.Warnings = make([]Warning, d.count(4))
	for i := range c.Warnings {
		c.Warnings[i] = Warning{Code: Code(d.string()), Message: d.string(), Place: d.string(), Count: d.int()}
	}
}

func (c *Capture) putWork(e *encoder) {
	e.uint(math.Float64bits(c.Work.Count))
	e.string(c.Work.Unit)
}

// takeWork refuses what is no number.
func (c *Capture) takeWork(d *decoder) {
	c.Work = &Work{Count: math.Float64frombits(d.uint()), Unit: d.string()}
	if math.IsNaN(c.Work.Count) || math.IsInf(c.Work.Count, 0) {
		d.bad = true
	}
}
