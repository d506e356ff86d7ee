package analysis

import (
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/blame"
)

// frames makes the stacks of one part as the report shows them; each distinct frame is made once per layer.
type frames struct {
	table   *frameTable
	keys    *stackKeys
	images  []*capture.Image // what symbols tell, by module; nil for nothing
	rules   *blame.Classifier
	modules []blame.Module           // by module of the keys
	named   map[string]*blame.Module // by name in lower case
	// Of each module of the keys: its name as text of the table, its place in the report, and what its frames without a
	// function have in common.
	texts    []uint32
	places   []int32
	nameless []*blame.Decision
	calls    []calls       // by FrameID
	placed   []placedStack // by StackID
	scratch  scratch
}

// calls are the rows that a return address stands for, innermost first: several where functions are inlined, else one.
type calls struct {
	first uint32
	count uint32 // 0 where they are not made yet
}

// placedStack is what is known of a stack once its frames are placed.
type placedStack struct {
	ref        StackRef
	prepared   bool                                // its rows are there
	unnamed    bool                                // the frame to blame has no function
	blame      int32                               // place of the frame to blame in the stack plus one; 0 until placed, −1 for none
	marks      []uint16                            // by row: what it is marked as in this stack, once signed; gone once it is numbered
	signatures [capture.KindHeapVirtual + 1]string // by kind, once needed
	groups     [capture.KindHeapVirtual + 1]int32  // by kind: 1 + which group of sites of one signature it is of, once they are grouped
}

// scratch is memory for one stack at a time.
type scratch struct {
	rows    []uint32
	classes []*blame.Class
	marks   []blame.Mark
	numbers []uint16 // room for marks of stacks to come
	signer  blame.Signer
}

func newFrames(table *frameTable, keys *stackKeys, opt *Options, process capture.Process) *frames {
	c := keys.capture
	n := len(keys.modules)
	f := &frames{
		table: table, keys: keys, images: make([]*capture.Image, n), modules: make([]blame.Module, n),
		named: map[string]*blame.Module{},
		texts: make([]uint32, n), places: make([]int32, n), nameless: make([]*blame.Decision, n),
		calls: make([]calls, c.Stacks.FrameCount()), placed: make([]placedStack, c.Stacks.Count()),
	}
	table.builders++
	table.repeats = table.repeats || table.builders > 1
	rules := opt.Rules
	if rules == nil {
		rules = blame.DefaultRules()
	}
	f.rules = rules.Classifier()
	program := strings.ToLower(capture.Module{Path: process.Name}.Name())
	seen := make(map[int32]bool, n)
	for i, m := range keys.modules {
		image := opt.Names.Image(m.ImageID())
		f.images[i] = image
		name := keys.lowerNames[i]
		f.modules[i] = blame.Module{
			Name: m.Name(), Path: m.Path,
			Own:     opt.OwnModules[name] || image != nil && image.Own,
			Private: m.Symbols == capture.SymbolsPrivate || image != nil && image.Symbols == capture.SymbolsPrivate,
			Program: name == program, Build: hexNumber(m.Size),
		}
		f.named[name] = &f.modules[i]
		f.texts[i], f.places[i] = table.text(m.Name()), table.places.of(keys.lowerPaths[i], name)
		table.twice = table.twice || seen[f.places[i]] // it lies at two addresses
		seen[f.places[i]] = true
	}
	f.learnTexts(opt, program)
	return f
}

// learnTexts adds the modules that evidence names only in text. Text that has lines stems from private symbols.
func (f *frames) learnTexts(opt *Options, program string) {
	stacks := &f.keys.capture.Stacks
	if !stacks.HasTexts() {
		return
	}
	for id := range stacks.FrameCount() {
		text := stacks.Text(stacks.Frame(capture.FrameID(id)))
		if text == nil {
			continue
		}
		f.table.repeats = true
		if text.Module == "" {
			continue
		}
		name := strings.ToLower(text.Module)
		m := f.named[name]
		if m == nil {
			m = &blame.Module{Name: text.Module, Own: opt.OwnModules[name], Program: name == program}
			f.named[name] = m
		}
		m.Private = m.Private || text.File != ""
	}
}

// expect makes room for the frames of so many stacks.
func (f *frames) expect(stacks int) {
	c := &f.keys.capture.Stacks
	n := min(c.FrameCount(), stacks*depthLimit)
	f.table.rows, f.table.classes, f.table.modules = slices.Grow(f.table.rows, n), slices.Grow(f.table.classes, n),
		slices.Grow(f.table.modules, n)
	f.table.list = slices.Grow(f.table.list, min(stacks, c.Count())*depthLimit)
}

// rowsOf returns the rows of a return address, and makes them at the first call. Their layers are not known yet.
func (f *frames) rowsOf(id capture.FrameID) calls {
	c := f.calls[id]
	if c.count == 0 {
		c.first = uint32(len(f.table.rows))
		f.make(id)
		c.count = uint32(len(f.table.rows)) - c.first
		f.calls[id] = c
	}
	return c
}

// inKernel reports whether an address lies in the half of 64-bit Windows that is the kernel's: the inner end of the
// stacks of system calls.
func inKernel(address uint64) bool { return address >= 0xFFFF800000000000 }

// make adds the rows of a return address.
func (f *frames) make(id capture.FrameID) {
	from, module := f.keys.capture.Stacks.Frame(id), f.keys.moduleOf(id)
	if module >= 0 && f.images[module] != nil {
		if named := f.images[module].Frames(uint32(from.Address - f.keys.modules[module].Base)); len(named) > 0 {
			f.addNamed(named, module, from.Address)
			return
		}
	}
	text := f.keys.capture.Stacks.Text(from)
	if f.addExpanded(text, from.Address) {
		return
	}
	switch {
	case text != nil && (text.Function != "" || module < 0):
		of, place := f.named[strings.ToLower(text.Module)], f.table.places.named(text.Module)
		if module >= 0 {
			of, place = &f.modules[module], f.places[module]
		}
		r := frameRow{module: f.table.text(text.Module), function: f.table.text(text.Function), offset: text.Offset,
			address: from.Address, file: f.table.text(text.File), line: text.Line, flags: rowHasOffset}
		if text.Inline {
			r.flags |= rowInline
		}
		f.add(&r, place, f.classOf(&r, of))
	case module >= 0:
		r := frameRow{module: f.texts[module], offset: from.Address - f.keys.modules[module].Base,
			address: from.Address, flags: rowHasOffset}
		if f.nameless[module] == nil || inKernel(from.Address) {
			class := f.classOf(&r, &f.modules[module])
			if !inKernel(from.Address) {
				f.nameless[module] = class.Decision
			}
			f.add(&r, f.places[module], class)
			return
		}
		f.add(&r, f.places[module], f.nameless[module].At(r.offset))
	default:
		r := frameRow{address: from.Address, flags: rowHasOffset}
		f.add(&r, -1, f.classOf(&r, nil))
	}
}

// classOf is the class of a row in a module.
func (f *frames) classOf(r *frameRow, module *blame.Module) blame.Class {
	frame := blame.Frame{Module: module, Function: f.table.texts[r.function], Offset: r.offset,
		File: f.table.texts[r.file], Kernel: inKernel(r.address)}
	if module == nil && frame.Function == "" { // outside every module nothing else tells places apart
		frame.Offset = r.address
	}
	return f.rules.Class(&frame)
}

// add adds a row of a module that has a place in the report.
func (f *frames) add(r *frameRow, place int32, class blame.Class) {
	if r.address != 0 {
		r.flags |= rowHasAddress
	}
	r.mark = undecidedMark
	t := f.table
	t.rows, t.classes, t.modules = append(t.rows, *r), append(t.classes, class), append(t.modules, place)
}

// addExpanded adds the frames of a place that evidence names by itself, as a difference does: with the calls that were
// inlined there, so that it has the signature of evidence that has addresses. It adds none where no inlined calls are
// known.
func (f *frames) addExpanded(text *capture.FrameText, address uint64) bool {
	if text == nil || text.Function == "" || text.Inline {
		return false
	}
	module := slices.Index(f.keys.lowerNames, strings.ToLower(text.Module))
	if module < 0 || f.images[module] == nil {
		return false
	}
	named := f.images[module].AtOffset(capture.FunctionOffset{Function: text.Function, Offset: text.Offset})
	f.addNamed(named, module, address)
	return len(named) > 0
}

// addNamed adds the frames that symbols give one return address in a module.
func (f *frames) addNamed(named []capture.NamedFrame, module int, address uint64) {
	for i := range named {
		n := &named[i]
		t := f.table
		t.repeats = t.repeats || slices.Contains(named[:i], *n) // a function that is inlined into itself
		r := frameRow{
			module: f.texts[module], function: t.text(n.Function), offset: n.Offset, address: address, file: t.text(n.File),
			line: n.Line, kind: t.text(n.Type),
			flags: rowHasOffset,
		}
		if n.Inline {
			r.flags |= rowInline
		}
		if n.Approx {
			r.flags |= rowApprox
		}
		f.add(&r, f.places[module], f.classOf(&r, &f.modules[module]))
	}
}

// prepare makes the rows of a stack, unless they are there, so that several goroutines may look at it.
func (f *frames) prepare(id capture.StackID) {
	if at := &f.placed[id]; !at.prepared {
		at.prepared = true
		for _, frame := range f.keys.capture.Stacks.Stack(id) {
			f.rowsOf(frame)
		}
	}
}

// gather puts the rows of a stack into s.rows, and their classes into s.classes. It makes the rows at the first call.
func (f *frames) gather(s *scratch, id capture.StackID) {
	s.rows, s.classes = s.rows[:0], s.classes[:0]
	for _, at := range f.keys.capture.Stacks.Stack(id) {
		c := f.rowsOf(at)
		for row := c.first; row < c.first+c.count; row++ {
			s.rows = append(s.rows, row)
		}
	}
	for _, row := range s.rows {
		s.classes = append(s.classes, &f.table.classes[row])
	}
}

// place says what part each frame of a stack has. What it returns is valid until the next call.
func (f *frames) place(s *scratch, id capture.StackID) blame.MarkedStack {
	f.gather(s, id)
	p := blame.MarkStackInto(s.marks, s.classes)
	s.marks = p.Marks
	return p
}

// sign gives a stack whose rows exist the signature that it has for a kind of memory, and says which frame is to blame.
func (f *frames) sign(s *scratch, id capture.StackID, kind capture.SiteKind) {
	at := &f.placed[id]
	p := f.place(s, id)
	at.blame = int32(p.Blame) + 1
	if p.Blame < 0 {
		at.blame = -1
	}
	at.unnamed = p.Blame >= 0 && f.table.rows[s.rows[p.Blame]].function == 0
	if at.ref == 0 && at.marks == nil {
		at.marks = f.table.numbersOf(s, p.Marks)
	}
	at.signatures[kind] = s.signer.SignatureID(kind.String(), s.classes, p)
}

// number adds a stack that is signed to the table.
func (f *frames) number(id capture.StackID) {
	at := &f.placed[id]
	if at.ref != 0 || id == capture.NoStack {
		return
	}
	at.ref = f.table.addPlaced(f, f.keys.capture.Stacks.Stack(id), at.marks)
	at.marks = nil
}

// of makes a stack and gives it the signature that it has for a kind of memory.
func (f *frames) of(id capture.StackID, kind capture.SiteKind) *placedStack {
	at := &f.placed[id]
	if at.signatures[kind] == "" {
		f.sign(&f.scratch, id, kind)
	}
	f.number(id)
	return at
}
