package analysis

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/blame"
)

// modules lists every module once by path, as the last part that has it shows it, in order of first appearance.
func modules(parts []part, names *capture.Names) []Module {
	list, at := []Module{}, map[string]int{}
	for _, p := range parts {
		for _, m := range p.Modules {
			out := module(m, names.Image(m.ImageID()))
			key := strings.ToLower(m.Path)
			i, ok := at[key]
			if !ok {
				at[key] = len(list)
				list = append(list, out)
				continue
			}
			list[i] = out
		}
	}
	return list
}

func module(m capture.Module, image *capture.Image) Module {
	out := Module{Name: m.FileName(), Path: m.Path, Size: m.Size, PDB: m.PDB, DebugID: m.DebugID, Symbols: m.Symbols}
	if m.Size > 0 {
		out.Base = hexNumber(m.Base)
	}
	if image == nil {
		return out
	}
	out.PDB = cmp.Or(image.PDB, out.PDB)
	out.DebugID = cmp.Or(image.UsedDebugID, out.DebugID)
	out.Symbols, out.Match, out.Tried = image.Symbols, image.Match, image.Tried
	uploaded := blame.Module{Path: m.Path, Own: image.Own, Private: image.Symbols == capture.SymbolsPrivate}
	out.Own = uploaded.IsOwn()
	out.Unproven = image.NamedAddresses() > 0 && !image.Proven
	if image.Symbols == capture.SymbolsMismatch {
		out.Symbols, out.Mismatch = capture.SymbolsNone, true
	}
	return out
}

// modulePlaces finds the index of a module in a report.
type modulePlaces struct {
	byPath, byName map[string]int32 // in lower case
	known          map[string]int32 // of names as evidence spells them
}

func placesOf(modules []Module) *modulePlaces {
	p := &modulePlaces{map[string]int32{}, map[string]int32{}, map[string]int32{}}
	for i, m := range modules {
		p.byPath[strings.ToLower(m.Path)] = int32(i)
		p.byName[strings.ToLower(capture.Module{Path: m.Path}.Name())] = int32(i)
	}
	return p
}

// of is the index of the module with a path, both in lower case; −1 for none.
func (p *modulePlaces) of(path, name string) int32 {
	at, ok := p.byPath[path]
	if path == "" {
		at, ok = p.byName[name]
	}
	if !ok {
		return -1
	}
	return at
}

// named is the index of the module with a name; −1 for none.
func (p *modulePlaces) named(name string) int32 {
	at, ok := p.known[name]
	if !ok {
		at = p.of("", strings.ToLower(name))
		p.known[name] = at
	}
	return at
}

// countFrames counts the return addresses of each module, and the memory held by stacks with unnamed frames. It marks
// modules whose names come from the evidence itself.
func countFrames(r *Report, t *frameTable) {
	named := make([]bool, len(r.Modules))
	apart := !t.repeats && !t.twice && len(t.variants) == 0 // each row without a function is another return address
	seen := newReturnSet(len(t.rows))
	if apart {
		seen = newReturnSet(0)
	}
	sites := sitesByStack(r, t) // many sites may have one stack
	used, unnamed := usedRows(t, sites), make([]bool, len(t.rows))
	for i := range t.rows {
		row, at := &t.rows[i], t.modules[i]
		if at < 0 || !used[i] {
			continue
		}
		m := &r.Modules[at]
		named[at] = named[at] || row.function != 0
		guessed := row.flags&rowApprox != 0 && m.Symbols == capture.SymbolsExport // by a nearest export, which symbols may contradict
		unnamed[i] = row.function == 0 || guessed
		isNew := row.flags&rowInline == 0 && (apart && row.function == 0 || seen.add(at, row.function, row.offset))
		if !isNew { // an inlined function has no return address of its own
			continue
		}
		m.Frames++
		if row.function == 0 {
			m.Unnamed++
		}
	}
	stake(r, t, sites, unnamed)
	for i := range r.Modules {
		if m := &r.Modules[i]; m.Symbols == capture.SymbolsNone && named[i] {
			m.Symbols = capture.SymbolsText
		}
	}
}

// usedRows tells the rows that stacks of sites have.
func usedRows(t *frameTable, sites []stackSites) []bool {
	used := make([]bool, len(t.rows))
	for i, at := range sites {
		if at.count == 0 {
			continue
		}
		for _, row := range t.FrameNumbers(StackRef(i)) {
			used[row] = true
		}
	}
	return used
}

// stake adds to each module what the sites hold whose stacks have frames of it without a name.
func stake(r *Report, t *frameTable, sites []stackSites, unnamed []bool) {
	staked := make([]int, len(r.Modules)) // by module: the last stack that counts for it
	for i, site := range sites {
		if site.count == 0 {
			continue
		}
		for _, row := range t.FrameNumbers(StackRef(i)) {
			if at := t.modules[row]; unnamed[row] && staked[at] != i {
				staked[at] = i
				r.Modules[at].UnnamedHeld = r.Modules[at].UnnamedHeld.Plus(site.held)
			}
		}
	}
}

// stackSites are the sites of one stack.
type stackSites struct {
	count int
	held  Amount // as Amounts.HeldBeforeExit has it
}

// sitesByStack sums the sites of each stack, by its StackRef.
func sitesByStack(r *Report, t *frameTable) []stackSites {
	list := make([]stackSites, t.Count()+1)
	for i := range r.Sites {
		at := &list[r.Sites[i].Stack]
		at.count++
		held, _ := r.Sites[i].HeldBeforeExit()
		at.held = at.held.Plus(held)
	}
	return list
}

// A returnSet holds return addresses: by module, function and offset. Most have no function and are one number, in a
// hash table with a random seed, so that input cannot make them collide.
type returnSet struct {
	slots  []uint64 // 1 + a number; 0 is free
	others map[returnPlace]struct{}
}

type returnPlace struct {
	module   int32
	function uint32
	offset   uint64
}

var returnSeed = rand.Uint64() | 1

func newReturnSet(size int) *returnSet {
	return &returnSet{make([]uint64, 1<<bits.Len(uint(2*size))), map[returnPlace]struct{}{}}
}

// add reports whether the address is new. The set takes no more addresses than its size.
func (s *returnSet) add(module int32, function uint32, offset uint64) bool {
	const offsetBits = 40
	if function != 0 || offset >= 1<<offsetBits || module >= 1<<(63-offsetBits) {
		before := len(s.others)
		s.others[returnPlace{module, function, offset}] = struct{}{}
		return len(s.others) > before
	}
	key := uint64(module)<<offsetBits | offset + 1
	high, low := bits.Mul64(key^returnSeed, returnSeed)
	for at := high ^ low; ; at++ {
		switch slot := &s.slots[at&uint64(len(s.slots)-1)]; *slot {
		case key:
			return false
		case 0:
			*slot = key
			return true
		}
	}
}

// symbolWarnings says once how much memory is held by sites without function names, and which symbols would name most
// of it. It also names the modules whose symbols do not match.
func (d *draft) symbolWarnings() []Warning {
	r := d.report
	var list []Warning
	if d.unnamed.Count > 0 {
		have, when := "have", ""
		if d.unnamed.Count == 1 {
			have = "has"
		}
		if d.unnamedEnded {
			when = " before the process ended"
		}
		add, wanted := "", missing(r.Modules)
		switch {
		case wanted != "":
			add = "Add symbols: "
		case slices.ContainsFunc(r.Modules, func(m Module) bool { return m.Unnamed > 0 && m.isForeign() }):
			wanted = " Symbols of ELF images are not read: give profiles with names (jeprof --raw or pprof --raw)."
		}
		list = append(list, Warning{Code: capture.NoSymbols, Count: d.unnamed.Count, Message: fmt.Sprintf(
			"%s%s of %s (%s held%s) %s no function name, only module+0xRVA.%s", add, quantity.Count(d.unnamed.Count),
			quantity.Plural(len(r.Sites), "site"), quantity.Bytes(d.unnamed.Bytes), when, have, wanted)})
	}
	list = append(list, pendingSymbols(r.Modules)...)
	var unproven []string
	for i := range r.Modules {
		m := &r.Modules[i]
		if m.Mismatch {
			list = append(list, Warning{Code: capture.SymbolMismatch, Count: m.Frames, Message: m.Name + ": " + m.Match})
		}
		if m.Unproven {
			unproven = append(unproven, m.Name)
		}
	}
	if len(unproven) > 0 {
		id := "id"
		if len(unproven) > 1 {
			id = "ids"
		}
		list = append(list, Warning{Code: capture.NoImageInfo, Count: int64(len(unproven)), Message: fmt.Sprintf(
			"%s: symbols matched by name and image size only (the evidence has no PDB %s).", strings.Join(unproven, ", "), id)})
	}
	return list
}

// missing names the symbols that would name the most bytes; "" for none.
func missing(modules []Module) string {
	var lacking []*Module
	for i := range modules {
		if modules[i].Unnamed > 0 && !modules[i].isForeign() {
			lacking = append(lacking, &modules[i])
		}
	}
	if len(lacking) == 0 {
		return ""
	}
	slices.SortStableFunc(lacking, func(a, b *Module) int { return cmp.Compare(b.UnnamedHeld.Bytes, a.UnnamedHeld.Bytes) })
	const most = 3
	wanted := make([]string, 0, most)
	for _, m := range lacking[:min(most, len(lacking))] {
		wanted = append(wanted, m.MissingSymbolsText())
	}
	s := " Wanted: " + strings.Join(wanted, ", ")
	if more := len(lacking) - most; more > 0 {
		s += ", and symbols of " + quantity.Plural(more, "more module")
	}
	return s + "."
}

// isForeign reports whether a module is an image of another system than Windows, which has no PDB.
func (m *Module) isForeign() bool { return strings.HasPrefix(m.Path, "/") }

// MissingSymbolsText names the symbols of a module that lacks them, so that a user can search for them: "app.pdb" with
// its debug id, else the module with its size.
func (m *Module) MissingSymbolsText() string {
	if m.DebugID != "" && m.PDB != "" {
		return m.PDB + " " + m.DebugID
	}
	pdb := cmp.Or(m.PDB, capture.Module{Path: m.Name}.Name()+".pdb")
	if m.Size == 0 { // unknown in a difference that UMDH printed
		return pdb + " of " + m.Name
	}
	return fmt.Sprintf("%s of %s (image size %s bytes)", pdb, m.Name, quantity.Count(int64(m.Size)))
}
