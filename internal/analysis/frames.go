package analysis

import (
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/blame"
)

// frames makes the stacks of one part as the report shows them; each distinct frame is made once per layer.
type frames struct {
	keys    *stackKeys
	images  []*capture.Image // what symbols tell, by module; nil for nothing
	rules   *blame.Classifier
	modules []blame.Module           // by module of the keys
	named   map[string]*blame.Module // by name in lower case
	calls   [][]call                 // by FrameID, innermost first: one return address may stand for several inlined functions
	stacks  map[capture.StackID]*stack
	// Of the stack that is looked at.
	calling []*call
	classes []*blame.Class
	marks   []blame.Mark
}

// A call is a frame with what its layer depends on.
type call struct {
	Frame
	class blame.Class
	made  []*Frame // the frame in each layer that it was needed in
}

// A stack is the frames of a stack with what each of them is told by.
type stack struct {
	frames     []*Frame
	blame      int                                 // index, −1 for none
	signatures [capture.KindHeapVirtual + 1]string // by kind, once needed
}

func newFrames(keys *stackKeys, opt *Options, process capture.Process) *frames {
	c := keys.capture
	f := &frames{
		keys: keys, images: make([]*capture.Image, len(keys.modules)), modules: make([]blame.Module, len(keys.modules)),
		named: map[string]*blame.Module{}, calls: make([][]call, c.Stacks.FrameCount()), stacks: map[capture.StackID]*stack{},
	}
	rules := opt.Rules
	if rules == nil {
		rules = blame.Default()
	}
	f.rules = rules.Classifier()
	program := strings.ToLower(capture.Module{Path: process.Name}.Name())
	for i, m := range keys.modules {
		image := opt.Names.Image(m.ImageID())
		f.images[i] = image
		name := keys.lowerNames[i]
		f.modules[i] = blame.Module{
			Name: m.Name(), Path: m.Path, Own: opt.Own[name] || image != nil && image.Own, Private: m.Symbols == capture.SymbolsPrivate || image != nil && image.Symbols == capture.SymbolsPrivate,
			Program: name == program, Build: hexNumber(m.Size),
		}
		f.named[name] = &f.modules[i]
	}
	for id := range c.Stacks.FrameCount() { // text that has lines stems from private symbols
		text := c.Stacks.Text(c.Stacks.Frame(capture.FrameID(id)))
		if text == nil || text.Module == "" {
			continue
		}
		name := strings.ToLower(text.Module)
		m := f.named[name]
		if m == nil {
			m = &blame.Module{Name: text.Module, Own: opt.Own[name], Program: name == program}
			f.named[name] = m
		}
		m.Private = m.Private || text.File != ""
	}
	return f
}

// at makes the frames of a return address, without layers.
func (f *frames) at(id capture.FrameID) []call {
	if f.calls[id] == nil {
		from := f.keys.capture.Stacks.Frame(id)
		calls, module := f.make(from)
		for i := range calls {
			c := &calls[i]
			frame := blame.Frame{Module: module, Function: c.Function, Offset: c.Offset, File: c.File, Kernel: inKernel(from.Address)}
			if module == nil && c.Function == "" { // outside every module nothing else tells places apart
				frame.Offset = c.Address
			}
			c.class = f.rules.Class(&frame)
		}
		f.calls[id] = calls
	}
	return f.calls[id]
}

// inKernel reports whether an address lies in the half of 64-bit Windows that is the kernel's: the inner end of the stacks
// of system calls.
func inKernel(address uint64) bool { return address >= 0xFFFF800000000000 }

func (f *frames) make(from capture.Frame) ([]call, *blame.Module) {
	c := f.keys.capture
	address := ""
	module := -1
	if from.Address != 0 {
		address, module = hexNumber(from.Address), f.keys.find(from.Address)
	}
	if module >= 0 && f.images[module] != nil {
		if named := f.images[module].Frames(uint32(from.Address - f.keys.modules[module].Base)); len(named) > 0 {
			return f.callsOf(named, module, address), &f.modules[module]
		}
	}
	text := c.Stacks.Text(from)
	if calls, of := f.expanded(text, address); calls != nil {
		return calls, of
	}
	switch {
	case text != nil && (text.Function != "" || module < 0):
		frame := Frame{Module: text.Module, Function: text.Function, Offset: hexNumber(text.Offset), Address: address, File: text.File, Line: text.Line, Inline: text.Inline}
		of := f.named[strings.ToLower(text.Module)]
		if module >= 0 {
			frame.module, of = f.keys.lowerPaths[module], &f.modules[module]
		}
		return []call{{Frame: frame}}, of
	case module >= 0:
		return []call{{Frame: Frame{Module: f.keys.modules[module].Name(), Offset: hexNumber(from.Address - f.keys.modules[module].Base), Address: address, module: f.keys.lowerPaths[module]}}}, &f.modules[module]
	}
	return []call{{Frame: Frame{Offset: hexNumber(0), Address: address}}}, nil
}

// expanded makes the frames of a place that evidence names by itself, as a difference does: with the calls that were inlined
// there, so that it has the signature of evidence that has addresses. It gives nil where nothing is known of such.
func (f *frames) expanded(text *capture.Text, address string) ([]call, *blame.Module) {
	if text == nil || text.Function == "" || text.Inline {
		return nil, nil
	}
	module := slices.Index(f.keys.lowerNames, strings.ToLower(text.Module))
	if module < 0 || f.images[module] == nil {
		return nil, nil
	}
	named := f.images[module].At(capture.Place{Function: text.Function, Offset: text.Offset})
	if len(named) == 0 {
		return nil, nil
	}
	return f.callsOf(named, module, address), &f.modules[module]
}

// callsOf are the frames that symbols give one return address in a module.
func (f *frames) callsOf(named []capture.NamedFrame, module int, address string) []call {
	calls := make([]call, len(named))
	for i, n := range named {
		calls[i].Frame = Frame{
			Module: f.keys.modules[module].Name(), Function: n.Function, Offset: hexNumber(n.Offset), Address: address,
			File: n.File, Line: n.Line, Inline: n.Inline, Type: n.Type, Approx: n.Approx, module: f.keys.lowerPaths[module],
		}
	}
	return calls
}

// of makes a stack, each frame in its layer, and gives it the signature that it has for a kind of memory.
func (f *frames) of(id capture.StackID, kind capture.SiteKind) *stack {
	s := f.stacks[id]
	if s != nil && s.signatures[kind] != "" {
		return s
	}
	placed := f.place(id)
	if s == nil {
		s = &stack{blame: placed.Blame, frames: make([]*Frame, len(f.calling))}
		for i, c := range f.calling {
			s.frames[i] = c.in(placed.Marks[i])
		}
		f.stacks[id] = s
	}
	s.signatures[kind] = blame.ID(kind.String(), f.classes, placed)
	return s
}

// place says what part each frame of a stack has. What it returns is valid until the next call.
func (f *frames) place(id capture.StackID) blame.Placed {
	f.calling, f.classes = f.calling[:0], f.classes[:0]
	for _, id := range f.keys.capture.Stacks.Stack(id) {
		calls := f.at(id)
		for i := range calls {
			f.calling, f.classes = append(f.calling, &calls[i]), append(f.classes, &calls[i].class)
		}
	}
	placed := blame.PlaceInto(f.marks, f.classes)
	f.marks = placed.Marks
	return placed
}

// A told is all that blame says of a stack.
type told struct {
	blame.Signature
	blame.Attributes
	origin *Blame
	// outline is the signature that the stack has in evidence without inlined calls, as the text of UMDH or where symbols are
	// public; "" where it is no other.
	outline string
}

// tell says of a stack what few are asked for.
func (f *frames) tell(id capture.StackID, kind capture.SiteKind) told {
	placed := f.place(id)
	t := told{Signature: blame.Sign(kind.String(), f.classes, placed), Attributes: placed.Attributes(f.classes)}
	if placed.Origin >= 0 {
		t.origin = blameOf(&f.calling[placed.Origin].Frame)
	}
	var calls []*blame.Class
	for i, c := range f.calling {
		if !c.Inline {
			calls = append(calls, f.classes[i])
		}
	}
	if len(calls) < len(f.calling) {
		if outline := blame.ID(kind.String(), calls, blame.Place(calls)); outline != t.ID {
			t.outline = outline
		}
	}
	return t
}

// blamed is the frame that the stack's memory is counted against, as reports name it; nil for none.
func (s *stack) blamed() *Blame {
	if s.blame < 0 {
		return nil
	}
	return blameOf(s.frames[s.blame])
}

func blameOf(f *Frame) *Blame { return &Blame{f.Module, f.Function, f.Offset, f.File, f.Line} }

// in is the frame with a layer. Equal ones share memory.
func (c *call) in(mark blame.Mark) *Frame {
	for _, f := range c.made {
		if f.Layer == mark.Layer && f.Rule == mark.Rule {
			return f
		}
	}
	frame := c.Frame
	frame.Layer, frame.Rule = mark.Layer, mark.Rule
	c.made = append(c.made, &frame)
	return &frame
}

// BlameFrame is the index of the frame that a stack's memory is counted against: the first of the team's own behind what
// allocates, else the first of anybody else's, as blame.Place chooses it. It is −1 for an empty stack.
func BlameFrame(stack []*Frame) int {
	outer := len(stack)
	for outer > 0 && stack[outer-1].Layer == LayerBase {
		outer--
	}
	first, rest := map[Layer]int{}, 0
	for i, f := range stack[:outer] {
		switch f.Layer {
		case blame.LayerApp, "": // in reports of before there were layers of origin
			return i
		case blame.LayerThirdParty, blame.LayerSystem:
			if _, ok := first[f.Layer]; !ok {
				first[f.Layer] = i
			}
		case blame.LayerPlumbing:
			first[f.Layer] = i
		default:
			rest = i
		}
	}
	for _, layer := range []Layer{blame.LayerThirdParty, blame.LayerSystem, blame.LayerPlumbing} {
		if i, ok := first[layer]; ok {
			return i
		}
	}
	return min(rest, len(stack)-1)
}
