package umdh

import (
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
)

// warnSymbols adds the modules that only the frames name, and says which names cannot be relied on: those of
// modules whose symbols are a guess from exports, or nothing.
func (d *draft) warnSymbols() {
	c := d.c
	byName := map[string]int{}
	for i := range c.Modules {
		if name := strings.ToLower(c.Modules[i].Path); byName[name] == 0 {
			byName[name] = i + 1
		}
	}
	moduleOf := make([]int, c.Stacks.FrameCount()) // of each frame, plus 1
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
			poor = append(poor, fmt.Sprintf("%s (%s symbols, %d bytes of change)", m.Path, m.Symbols, stake[i]))
		}
	}
	if len(poor) > 0 {
		d.warn(capture.NoSymbols, int64(len(poor)), 0, "UMDH had no PDB for %d modules, so names in their frames are guesses or missing: %s; compare again with their PDBs on the symbol path",
			len(poor), shortList(poor))
	}
}
