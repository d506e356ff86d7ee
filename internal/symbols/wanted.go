package symbols

import (
	"cmp"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
)

// A wantedModule is an image of the run and its return addresses, whatever captures they stem from.
type wantedModule struct {
	capture.Module // as the first capture that has it shows it
	bits           uint8
	rvas           []uint32 // ascending, each once
}

// collect lists the images that return addresses of the captures lie in, the ones with most addresses first.
func collect(captures []*capture.Capture) []*wantedModule {
	byID, order := map[capture.ImageID]*wantedModule{}, []*wantedModule(nil)
	want := func(m capture.Module, address uint64, bits uint8) {
		if address-m.Base > 1<<32-1 {
			return
		}
		w := byID[m.ImageID()]
		if w == nil {
			w = &wantedModule{Module: m, bits: bits}
			byID[m.ImageID()] = w
			order = append(order, w)
		}
		w.rvas = append(w.rvas, uint32(address-m.Base))
	}
	maps := make([]*capture.ModuleMap, len(captures))
	for i, c := range captures {
		maps[i] = capture.NewModuleMap(c.Modules)
	}
	for i, c := range captures {
		others := snapshotsOf(captures, c)
		for id := range c.Stacks.FrameCount() {
			frame := c.Stacks.Frame(capture.FrameID(id))
			address := frame.Address
			if address == 0 {
				continue
			}
			if at := maps[i].Of(frame); at >= 0 {
				want(c.Modules[at], address, c.Process.Bits)
				continue
			}
			for _, other := range others { // where it was loaded, if it is in a library that is gone
				if at := maps[other].Find(address); at >= 0 {
					want(captures[other].Modules[at], address, c.Process.Bits)
				}
			}
		}
	}
	for _, w := range order {
		slices.Sort(w.rvas)
		w.rvas = slices.Compact(w.rvas)
	}
	slices.SortStableFunc(order, func(a, b *wantedModule) int { return cmp.Compare(len(b.rvas), len(a.rvas)) })
	return order
}

// snapshotsOf are the other snapshots that may be of the process that a snapshot is of, one of several with equal
// modules.
func snapshotsOf(captures []*capture.Capture, c *capture.Capture) (list []int) {
	if c.Shape != capture.ShapeSnapshot {
		return nil
	}
	for i, other := range captures {
		known := func(k int) bool { return slices.Equal(captures[k].Modules, other.Modules) }
		if other != c && other.Shape == c.Shape &&
			(other.Process.PID == c.Process.PID || other.Process.PID == 0 || c.Process.PID == 0) &&
			!slices.Equal(other.Modules, c.Modules) && !slices.ContainsFunc(list, known) {
			list = append(list, i)
		}
	}
	return list
}

// pdbName is the file name of the PDB: the evidence's, else the module's own with the other extension.
func (w *wantedModule) pdbName() string {
	return cmp.Or(w.PDB, w.Name()+".pdb")
}

// fileNames are the names that a PDB or image of the module may go by. The 32-bit system libraries of 64-bit Windows
// have PDBs whose names start with "w": wntdll.pdb belongs to an ntdll.dll.
func (w *wantedModule) fileNames() []string {
	names := []string{w.FileName(), w.pdbName()}
	if own := w.Name() + ".pdb"; !strings.EqualFold(own, w.pdbName()) {
		names = append(names, own)
	}
	if w.bits == 32 && w.PDB == "" {
		names = append(names, "w"+w.Name()+".pdb")
	}
	return names
}
