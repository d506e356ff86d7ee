package analysis

import (
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
)

// frames makes the frames of one part as the report shows them; each distinct frame is made once per layer.
type frames struct {
	keys   *stackKeys
	plain  []*Frame // by FrameID
	layers []traits
	made   map[layered]*Frame
}

type layered struct {
	id    capture.FrameID
	layer Layer
}

type traits struct{ allocator, threadStart bool }

func newFrames(keys *stackKeys) *frames {
	n := keys.capture.Stacks.FrameCount()
	return &frames{keys: keys, plain: make([]*Frame, n), layers: make([]traits, n), made: map[layered]*Frame{}}
}

// frame makes a frame without a layer.
func (f *frames) frame(id capture.FrameID) *Frame {
	if f.plain[id] != nil {
		return f.plain[id]
	}
	c := f.keys.capture
	from := c.Stacks.Frame(id)
	frame := &Frame{}
	if from.Address != 0 {
		frame.Address = hexNumber(from.Address)
	}
	text := c.Stacks.Text(from)
	module := f.keys.modules.Find(from.Address)
	if from.Address == 0 {
		module = -1
	}
	switch {
	case text != nil && (text.Function != "" || module < 0):
		frame.Module, frame.Function, frame.Offset = text.Module, text.Function, hexNumber(text.Offset)
		frame.File, frame.Line, frame.Inline = text.File, text.Line, text.Inline
	case module >= 0:
		frame.Module, frame.Offset = c.Modules[module].Name(), hexNumber(from.Address-c.Modules[module].Base)
	default:
		frame.Offset = hexNumber(0)
	}
	f.plain[id] = frame
	f.layers[id] = traits{isAllocator(frame), isThreadStart(frame)}
	return frame
}

// stack makes a stack: the allocator's frames at its inner end and the thread's start at its outer end carry
// their layer. At least one frame in between, or the outermost one of the allocator's, carries none: it is the
// frame to blame.
func (f *frames) stack(id capture.StackID) []*Frame {
	ids := f.keys.capture.Stacks.Stack(id)
	stack := make([]*Frame, len(ids))
	for i, id := range ids {
		stack[i] = f.frame(id)
	}
	outer := len(ids)
	for outer > 0 && f.layers[ids[outer-1]].threadStart {
		outer--
	}
	inner := 0
	for inner < outer && f.layers[ids[inner]].allocator {
		inner++
	}
	if inner == outer { // nothing but allocator and start: the last allocator frame stays visible
		inner = max(0, inner-1)
	}
	for i, id := range ids {
		switch {
		case i < inner:
			stack[i] = f.inLayer(id, LayerAllocator)
		case i >= outer && i > inner:
			stack[i] = f.inLayer(id, LayerBase)
		}
	}
	return stack
}

func (f *frames) inLayer(id capture.FrameID, layer Layer) *Frame {
	key := layered{id, layer}
	if f.made[key] == nil {
		frame := *f.plain[id]
		frame.Layer = layer
		f.made[key] = &frame
	}
	return f.made[key]
}

// BlameFrame is the index of the frame that a stack's memory is counted against: the first that is not the
// allocator's. It is −1 for an empty stack.
func BlameFrame(stack []*Frame) int {
	for i, f := range stack {
		if f.Layer == LayerNone {
			return i
		}
	}
	return -1
}

// Name prints a frame as debuggers do: module!function, module+0xRVA, or the bare address.
func (f *Frame) Name() string {
	switch {
	case f.Function != "":
		return f.Module + "!" + f.Function
	case f.Module != "":
		return f.Module + "+" + f.Offset
	}
	return f.Address
}

// Names are the texts that people look for a frame by: its module with the function, or its module alone where the
// function is not known, and its file's name.
func (f *Frame) Names() []string {
	names := make([]string, 0, 2)
	switch {
	case f.Function != "":
		names = append(names, f.Module+"!"+f.Function)
	case f.Module != "":
		names = append(names, f.Module)
	}
	if f.File != "" {
		names = append(names, f.File[strings.LastIndexAny(f.File, `\/`)+1:])
	}
	return names
}

// Place prints a frame's file, without its path, and line; "" where they are not known.
func (f *Frame) Place() string {
	if f.File == "" {
		return ""
	}
	return f.File[strings.LastIndexAny(f.File, `\/`)+1:] + ":" + strconv.FormatUint(uint64(f.Line), 10)
}

// Text prints a frame in full, with offset, file and line where they are known.
func (f *Frame) Text() string {
	s := f.Name()
	if f.Function != "" && f.Offset != "" && !f.Inline {
		s += "+" + f.Offset
	}
	if f.File != "" {
		s += " (" + f.File + ", " + strconv.FormatUint(uint64(f.Line), 10) + ")"
	}
	return s
}

func hexNumber(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }
