package debugdiag

import (
	"strconv"
	"strings"
)

// Bounds of what one dump may have. A report with more is cut and says so.
const (
	maxFunctions = 1 << 20
	maxSamples   = 64 // of one function
	maxFrames    = 512
)

// A module is what the report says of a module's allocations and of its file.
type module struct {
	name    string
	path    string
	version string
	company string
	pdb     string
	base    uint64
	size    span  // of the image
	count   int64 // −1 where the report does not say
	bytes   span
	handles bool // they are handles
	stated  bool // its name was met as a fact
}

// A function is what the report says of the allocations that one return address made.
type function struct {
	frame   frame
	named   string // as printed
	source  string
	kind    string // "Heap allocation(s)"
	heap    uint64
	heaped  bool // one heap is named
	count   int64
	bytes   span
	percent int
	handles bool
	module  int             // index, or −1
	sizes   map[int64]int64 // blocks by requested size, as far as the graph shows
	samples []sample
}

// A sample is one allocation with its stack.
type sample struct {
	title   string
	address uint64
	size    span
	time    string
	frames  []frame
}

// factTarget is the module, function or sample that the facts read next belong to.
type factTarget struct {
	module   int
	function bool // the last one is open for facts
	facts    bool // the module is
	sample   bool // a title was met, and facts and a stack may follow
}

// leave closes what facts go to: another section begins.
func (d *draft) leave() { d.open.function, d.open.facts, d.open.sample = false, false, false }

// endFacts closes what facts of the table went to.
func (d *draft) endFacts() { d.open.function, d.open.facts = false, false }

// startModule begins the details of a module. anchor names its base address, behind the name of the dump.
func (d *draft) startModule(name, anchor string, handles bool) {
	d.leave()
	d.openHeap = -1
	if len(d.modules) == maxFunctions {
		d.dropped++
		return
	}
	d.modules = append(d.modules, module{name: name, base: anchorNumber(anchor, "Module"), count: -1, handles: handles})
	d.address(d.modules[len(d.modules)-1].base, 0)
	d.open.module = len(d.modules) - 1
	d.hasFacts = true
}

// exactDoubles is where numbers that went through a double begin to lose bits.
const exactDoubles = 1 << 53

// anchorNumber is the number at the end of an anchor "#<dump>Module<number>". It went through a double: what has lost
// bits, or prints with an exponent, is 0.
func anchorNumber(anchor, word string) uint64 {
	_, digits, found := cutLast(anchor, word)
	if !found || digits == "" {
		return 0
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n >= exactDoubles {
		return 0
	}
	return n
}

func cutLast(s, sep string) (before, after string, found bool) {
	at := strings.LastIndex(s, sep)
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+len(sep):], true
}

// member takes a fact of a module, a function or a sample, and reports whether it is one.
func (d *draft) member(name string, value cell, handles bool) bool {
	switch name {
	case "function":
		d.startFunction(value.text, handles)
		return true
	case "module name":
		last := d.open.module
		if last < 0 || d.modules[last].stated || !strings.EqualFold(d.modules[last].name, value.text) {
			d.startModule(value.text, value.name, handles)
			if last = d.open.module; last < 0 {
				return true
			}
		}
		d.modules[last].stated = true
		d.open.facts, d.open.function, d.open.sample = true, false, false
		return true
	}
	switch {
	case d.open.function:
		if take := functionFacts[name]; take != nil {
			take(d, &d.functions[len(d.functions)-1], value.text)
			return true
		}
	case d.open.sample:
		if take := sampleFacts[name]; take != nil {
			samples := d.functions[len(d.functions)-1].samples
			take(d, &samples[len(samples)-1], value.text)
			return true
		}
	case d.open.facts:
		if take := moduleFacts[name]; take != nil {
			take(d, &d.modules[d.open.module], value.text)
			return true
		}
	}
	return false
}

func (d *draft) startFunction(name string, handles bool) {
	d.leave()
	d.openHeap = -1
	if len(d.functions) == maxFunctions {
		d.dropped++
		return
	}
	f := function{named: name, count: -1, percent: -1, handles: handles, module: d.open.module}
	f.frame = d.frame(name, "")
	d.functions = append(d.functions, f)
	d.open.function, d.hasFacts = true, true
}

func (d *draft) startSample(title string) {
	d.leave()
	if len(d.functions) == 0 {
		return
	}
	f := &d.functions[len(d.functions)-1]
	if len(f.samples) == maxSamples {
		d.dropped++
		return
	}
	f.samples = append(f.samples, sample{title: title})
	d.open.sample = true
}

// addFrames takes the stack of the open sample. Its first column is the return addresses, innermost first.
func (d *draft) addFrames(t *table) {
	if !d.open.sample {
		return
	}
	at := columns(&t.header, "function", "source")
	f := &d.functions[len(d.functions)-1]
	s := &f.samples[len(f.samples)-1]
	for i := range t.rows {
		row := &t.rows[i]
		name, source := row.text(max(at[0], 0)), ""
		if at[1] >= 0 {
			source = row.text(at[1])
		}
		if i == 0 && kindOf(row) == tableStack || name == "" {
			continue
		}
		if len(s.frames) == maxFrames {
			d.dropped++
			return
		}
		s.frames = append(s.frames, d.frame(name, source))
		d.frames++
	}
}

// frame reads a frame, or finds it among those that were read: most of them are in many stacks, and keep one text.
func (d *draft) frame(name, source string) frame {
	key := [2]string{name, source}
	f, known := d.known[key]
	if !known {
		text, address, ok := ParseFrame(name, source)
		if !ok {
			text.Function = name // whatever it is, the stack goes on behind it
		}
		f = frame{text, address}
		d.known[key] = f
	}
	return f
}

var functionFacts = map[string]func(d *draft, f *function, value string){
	"source line":      func(_ *draft, f *function, value string) { f.source = value },
	"source":           func(_ *draft, f *function, value string) { f.source = value },
	"allocation type":  (*draft).allocationType,
	"handle type":      (*draft).allocationType,
	"heap handle":      (*draft).heapHandle,
	"allocation count": func(d *draft, f *function, value string) { d.counted(&f.count, value) },
	"handle count":     func(d *draft, f *function, value string) { d.counted(&f.count, value) },
	"allocation size":  func(d *draft, f *function, value string) { d.sized(&f.bytes, f.named, value) },
	"leak probability": func(_ *draft, f *function, value string) { f.percent = parsePercent(value) },
}

func (d *draft) allocationType(f *function, value string) {
	f.kind = value
	f.handles = f.handles || strings.Contains(strings.ToLower(value), "handle")
}

// heapHandle takes the heap where the report names one: "0x0000000000260000 (default process heap)".
func (d *draft) heapHandle(f *function, value string) {
	if at, width, ok := parseAddress(value); ok && at != 0 {
		f.heap, f.heaped = at, true
		d.address(at, width)
	}
}

var sampleFacts = map[string]func(d *draft, s *sample, value string){
	"address":         (*draft).sampleAddress,
	"handle":          (*draft).sampleAddress,
	"allocation time": func(_ *draft, s *sample, value string) { s.time = value },
	"allocation size": func(d *draft, s *sample, value string) { d.sized(&s.size, s.title, value) },
}

func (d *draft) sampleAddress(s *sample, value string) {
	if at, width, ok := parseAddress(value); ok {
		s.address = at
		d.address(at, width)
	}
}

var moduleFacts = map[string]func(d *draft, m *module, value string){
	"allocation count":  func(d *draft, m *module, value string) { d.counted(&m.count, value) },
	"handle count":      func(d *draft, m *module, value string) { d.counted(&m.count, value) },
	"allocation size":   func(d *draft, m *module, value string) { d.sized(&m.bytes, m.name, value) },
	"image name":        func(_ *draft, m *module, value string) { m.path = value },
	"loaded image name": func(_ *draft, m *module, value string) { m.longer(value) },
	"mapped image name": func(_ *draft, m *module, value string) { m.longer(value) },
	"module path":       func(_ *draft, m *module, value string) { m.longer(value) },
	"file path":         func(_ *draft, m *module, value string) { m.longer(value) },
	"path":              func(_ *draft, m *module, value string) { m.longer(value) },
	"file version":      func(_ *draft, m *module, value string) { m.version = value },
	"version":           func(_ *draft, m *module, value string) { m.version = value },
	"company name":      func(_ *draft, m *module, value string) { m.company = value },
	"company":           func(_ *draft, m *module, value string) { m.company = value },
	"symbol file name":  func(_ *draft, m *module, value string) { m.pdb = value },
	"module size":       func(d *draft, m *module, value string) { d.sized(&m.size, "module "+m.name, value) },
	"base address": func(_ *draft, m *module, value string) {
		if at, _, ok := parseAddress(value); ok {
			m.base = at
		}
	},
}

// longer takes a path in place of a bare name.
func (m *module) longer(path string) {
	if len(path) > len(m.path) && strings.ContainsAny(path, `\/`) {
		m.path = path
	}
}
