package umdh

import (
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// maxJoined bounds the raw entries that a difference shows beside its own.
const maxJoined = 1000

// join makes one capture of a difference and of the raw entries that were pasted beside it. Such entries are lines of
// one of the two compared logs, without the data of a heap around them. Their blocks become samples of the difference,
// each with its stack. What one part knows of an id the other learns: a stack where it has none, names where it has
// addresses.
func join(done []*capture.Capture) []*capture.Capture {
	at := slices.IndexFunc(done,
		func(c *capture.Capture) bool { return c.Shape == capture.ShapeDifference && len(c.Sites) > 0 })
	if at < 0 {
		return done
	}
	d := done[at]
	return slices.DeleteFunc(done, func(c *capture.Capture) bool {
		if !isExcerpt(c) {
			return false
		}
		takeExcerpt(d, c)
		return true
	})
}

// isExcerpt reports whether a snapshot is some entries of a log and no more.
func isExcerpt(c *capture.Capture) bool {
	return c.Shape == capture.ShapeSnapshot && len(c.Heaps) == 0 && !listsModules(c) &&
		c.Process.PID == 0 && len(c.Sites) > 0
}

func takeExcerpt(d, from *capture.Capture) {
	known := map[uint64]*capture.Site{}
	for i := range d.Sites {
		known[d.Sites[i].Trace] = &d.Sites[i]
	}
	if d.Memory == nil {
		d.Memory = &capture.Memory{Source: "raw entries of UMDH"}
	}
	m, total, all := d.Memory, capture.Usage{}, true
	for i := range from.Sites {
		site := &from.Sites[i]
		u := site.Usage[0]
		total = total.Add(u)
		if len(m.Samples) == maxJoined {
			all = false
			continue
		}
		stack := copyStack(&d.Stacks, &from.Stacks, site.Stack)
		if of := known[site.Trace]; of != nil && site.Trace != 0 {
			switch {
			case of.Stack == capture.NoStack:
				of.Stack = stack
			case stack == capture.NoStack || !isNamed(&from.Stacks, site.Stack):
				stack = of.Stack
			}
		}
		m.Samples = append(m.Samples, capture.Sample{
			Title: fmt.Sprintf("%s by BackTrace%X, listed beside the difference", quantity.Plural(u.Count, "block"), site.Trace),
			Stack: stack, Address: addressOf(from, i), Size: u.Bytes,
		})
	}
	d.Process.Bits = max(d.Process.Bits, from.Process.Bits)
	text := fmt.Sprintf("The file also lists raw entries, %s of %s. They belong to one of the two compared logs and are not counted.", quantity.Plural(total.Count, "block"),
		quantity.Bytes(total.Bytes))
	if !all {
		text += fmt.Sprintf(" Only the first %s are shown.", quantity.Plural(maxJoined, "allocation site"))
	}
	m.Notes = append(m.Notes, capture.Note{Topic: capture.TopicInfo, Text: text})
	settleMissing(d)
	for _, w := range from.Warnings {
		if w.Code == capture.Malformed || w.Code == capture.Inconsistent || w.Code == capture.AmbiguousStack {
			d.Warnings = append(d.Warnings, w)
		}
	}
}

// settleMissing takes back that stacks are missing, where the raw entries had them all.
func settleMissing(d *capture.Capture) {
	if slices.ContainsFunc(d.Sites, func(s capture.Site) bool { return s.Stack == capture.NoStack && s.Trace != 0 }) {
		return
	}
	d.Warnings = slices.DeleteFunc(d.Warnings, func(w capture.Warning) bool { return w.Code == capture.StackMissing })
}

// addressOf is where the first block of a site lies; 0 where the log gives sums only.
func addressOf(c *capture.Capture, site int) uint64 {
	for b := range c.Blocks.All() {
		if int(b.Site) == site {
			return b.Address
		}
	}
	return 0
}

// isNamed reports whether any frame of a stack has a name.
func isNamed(s *capture.Stacks, id capture.StackID) bool {
	return slices.ContainsFunc(s.Stack(id), func(f capture.FrameID) bool { return s.Text(s.Frame(f)) != nil })
}

// copyStack puts a stack of one capture into another.
func copyStack(to, from *capture.Stacks, id capture.StackID) capture.StackID {
	if id == capture.NoStack {
		return capture.NoStack
	}
	var frames []capture.FrameID
	for _, f := range from.Stack(id) {
		frame := from.Frame(f)
		if text := from.Text(frame); text != nil {
			frames = append(frames, to.AddText(*text, frame.Address))
		} else {
			frames = append(frames, to.AddAddress(frame.Address))
		}
	}
	return to.AddStack(frames)
}

// listsModules reports whether a capture has the list of modules of a log; frames with names tell names of modules
// only.
func listsModules(c *capture.Capture) bool {
	return slices.ContainsFunc(c.Modules, func(m capture.Module) bool { return m.Base != 0 || m.Size != 0 })
}
