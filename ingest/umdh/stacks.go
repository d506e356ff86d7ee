package umdh

import (
	"slices"

	"heapdrift/ingest/capture"
)

// maxDepth bounds a stack. The trace database keeps 32 frames (16 before Windows 2000); more lines than this
// below one entry are not a stack.
const maxDepth = 256

// A stackCollector collects the stacks that are listed below one entry: its own, and behind each "Alias" line one more.
type stackCollector struct {
	stacks *capture.Stacks
	frames []capture.FrameID
	// addresses come behind frames; they are interned together when the stack ends.
	addresses []uint64
	ended     []capture.StackID
}

// room reports whether the stack may have one more frame.
func (g *stackCollector) room() bool { return g.left() > 0 }

// left is how many frames more the stack may have.
func (g *stackCollector) left() int { return maxDepth - len(g.frames) - len(g.addresses) }

// empty reports whether the stack has no frame yet.
func (g *stackCollector) empty() bool { return len(g.frames)|len(g.addresses) == 0 }

// pending reports whether take would return any stack.
func (g *stackCollector) pending() bool { return len(g.frames)|len(g.addresses)|len(g.ended) != 0 }

func (g *stackCollector) add(f capture.FrameID) {
	g.intern()
	g.frames = append(g.frames, f)
}

func (g *stackCollector) intern() {
	g.frames = g.stacks.AddAddresses(g.frames, g.addresses)
	g.addresses = g.addresses[:0]
}

// address adds a frame of which only the return address is known.
func (g *stackCollector) address(a uint64) { g.addresses = append(g.addresses, a) }

// alias ends a stack; what follows is another one for the same entry.
func (g *stackCollector) alias() {
	if g.empty() {
		return
	}
	g.intern()
	if id := g.stacks.AddStack(g.frames); !slices.Contains(g.ended, id) {
		g.ended = append(g.ended, id)
	}
	g.frames = g.frames[:0]
}

// take ends the entry and returns its stacks, good until the next call.
func (g *stackCollector) take() []capture.StackID {
	g.alias()
	taken := g.ended
	g.ended = g.ended[:0]
	return taken
}

// drop forgets what was collected.
func (g *stackCollector) drop() {
	g.frames, g.addresses, g.ended = g.frames[:0], g.addresses[:0], g.ended[:0]
}

// A tally counts one kind of fact and remembers where it was met first.
type tally struct {
	n    int64
	line int64
}

func (t *tally) add(line int64) {
	if t.n++; t.n == 1 {
		t.line = line
	}
}

// merge adds what another tally counted.
func (t *tally) merge(other tally) {
	if t.n == 0 || other.n > 0 && other.line < t.line {
		t.line = other.line
	}
	t.n += other.n
}
