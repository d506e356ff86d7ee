package umdh

import (
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// frameModules says for each frame which module its text names: index into Modules plus 1, 0 for none. Modules that
// only frames name are added.
func (d *draft) frameModules() []int {
	c := d.c
	byName := map[string]int{}
	for i := range c.Modules {
		for _, name := range []string{c.Modules[i].Path, c.Modules[i].Name()} {
			if name = strings.ToLower(name); byName[name] == 0 {
				byName[name] = i + 1
			}
		}
	}
	moduleOf := make([]int, c.Stacks.FrameCount())
	for id := range moduleOf {
		text := c.Stacks.Text(c.Stacks.Frame(capture.FrameID(id)))
		if text == nil || text.Module == "" {
			continue
		}
		name := strings.ToLower(text.Module)
		if byName[name] == 0 {
			c.Modules = append(c.Modules, capture.Module{Path: text.Module, Symbols: capture.SymbolsText})
			byName[name] = len(c.Modules)
		}
		moduleOf[id] = byName[name]
	}
	return moduleOf
}

// warnSymbols says which names of a difference cannot be relied on: those of modules whose symbols are a guess
// from exports, or nothing.
func (d *draft) warnSymbols() {
	c, moduleOf := d.c, d.frameModules()
	stake := make([]int64, len(c.Modules)) // bytes of change whose stacks pass through the module
	last := make([]int, len(c.Modules))    // site that was counted last, plus 1
	for i := range c.Sites {
		site := &c.Sites[i]
		change := site.Usage[1].Bytes - site.Usage[0].Bytes
		for _, f := range c.Stacks.Stack(site.Stack) {
			if m := moduleOf[f]; m > 0 && last[m-1] != i+1 {
				last[m-1] = i + 1
				stake[m-1] += max(change, -change)
			}
		}
	}
	var poor []string
	for i := range c.Modules {
		m := &c.Modules[i]
		if last[i] > 0 && (m.Symbols == capture.SymbolsExport || m.Symbols == capture.SymbolsNone) {
			poor = append(poor, fmt.Sprintf("%s (symbols: %s; %s of change)", m.Path, m.Symbols, quantity.Bytes(stake[i])))
		}
	}
	if len(poor) > 0 {
		d.warn(capture.NoSymbols, int64(len(poor)), 0,
			"Compare again with the PDBs on the symbol path: UMDH had no PDB for %s. Names there are guesses or missing: %s.",
			quantity.Plural(len(poor), "module"), shortList(poor))
	}
}

// markTexts says of the modules of a snapshot whose frames came with names that they did.
func (d *draft) markTexts() {
	for _, m := range d.frameModules() {
		if m > 0 {
			d.c.Modules[m-1].Symbols = capture.SymbolsText
		}
	}
}
