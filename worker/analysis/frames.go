package analysis

import (
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
)

// frames makes the frames of one part as the report shows them; each distinct frame is made once per layer.
type frames struct {
	keys   *stackKeys
	images []*capture.Image // what symbols tell, by module; nil for nothing
	calls  [][]call         // by FrameID, innermost first: one return address may stand for several inlined functions
	stack  []*call          // of the stack that is being made
}

// A call is a frame with what its layer depends on.
type call struct {
	Frame
	allocator, threadStart bool
	asAllocator, asBase    *Frame // the frame in these layers, once it was needed
}

func newFrames(keys *stackKeys, names *capture.Names) *frames {
	c := keys.capture
	f := &frames{keys: keys, images: make([]*capture.Image, len(c.Modules)), calls: make([][]call, c.Stacks.FrameCount())}
	for i, m := range c.Modules {
		f.images[i] = names.Image(m.ImageID())
	}
	return f
}

// at makes the frames of a return address, without layers.
func (f *frames) at(id capture.FrameID) []call {
	if f.calls[id] == nil {
		f.calls[id] = f.make(f.keys.capture.Stacks.Frame(id))
		for i := range f.calls[id] {
			c := &f.calls[id][i]
			c.allocator = isAllocator(&c.Frame) || inKernel(f.keys.capture.Stacks.Frame(id).Address)
			c.threadStart = isThreadStart(&c.Frame)
		}
	}
	return f.calls[id]
}

func (f *frames) make(from capture.Frame) []call {
	c := f.keys.capture
	address := ""
	module := -1
	if from.Address != 0 {
		address, module = hexNumber(from.Address), f.keys.modules.Find(from.Address)
	}
	if module >= 0 && f.images[module] != nil {
		if named := f.images[module].Frames(uint32(from.Address - c.Modules[module].Base)); len(named) > 0 {
			calls := make([]call, len(named))
			for i, n := range named {
				calls[i].Frame = Frame{
					Module: c.Modules[module].Name(), Function: n.Function, Offset: hexNumber(n.Offset), Address: address,
					File: n.File, Line: n.Line, Inline: n.Inline, Type: n.Type, Approx: n.Approx, module: f.keys.lowerPaths[module],
				}
			}
			return calls
		}
	}
	text := c.Stacks.Text(from)
	switch {
	case text != nil && (text.Function != "" || module < 0):
		frame := Frame{Module: text.Module, Function: text.Function, Offset: hexNumber(text.Offset), Address: address, File: text.File, Line: text.Line, Inline: text.Inline}
		if module >= 0 {
			frame.module = f.keys.lowerPaths[module]
		}
		return []call{{Frame: frame}}
	case module >= 0:
		return []call{{Frame: Frame{Module: c.Modules[module].Name(), Offset: hexNumber(from.Address - c.Modules[module].Base), Address: address, module: f.keys.lowerPaths[module]}}}
	}
	return []call{{Frame: Frame{Offset: hexNumber(0), Address: address}}}
}

// of makes a stack: the allocator's frames at its inner end and the thread's start at its outer end carry
// their layer. At least one frame in between, or the outermost one of the allocator's, carries none: it is the
// frame to blame.
func (f *frames) of(id capture.StackID) []*Frame {
	f.stack = f.stack[:0]
	for _, id := range f.keys.capture.Stacks.Stack(id) {
		calls := f.at(id)
		for i := range calls {
			f.stack = append(f.stack, &calls[i])
		}
	}
	outer := len(f.stack)
	for outer > 0 && f.stack[outer-1].threadStart {
		outer--
	}
	inner := 0
	for inner < outer && f.stack[inner].allocator {
		inner++
	}
	if inner == outer { // nothing but allocator and start: the last allocator frame stays visible
		inner = max(0, inner-1)
	}
	stack := make([]*Frame, len(f.stack))
	for i, c := range f.stack {
		switch {
		case i < inner:
			stack[i] = c.in(LayerAllocator, &c.asAllocator)
		case i >= outer && i > inner:
			stack[i] = c.in(LayerBase, &c.asBase)
		default:
			stack[i] = &c.Frame
		}
	}
	return stack
}

func (c *call) in(layer Layer, made **Frame) *Frame {
	if *made == nil {
		frame := c.Frame
		frame.Layer = layer
		*made = &frame
	}
	return *made
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
