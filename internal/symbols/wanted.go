package symbols

import (
	"cmp"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
)

// A wanted module is an image of the run and its return addresses, whatever captures they stem from.
type wanted struct {
	capture.Module // as the first capture that has it shows it
	bits           uint8
	rvas           []uint32 // ascending, each once
}

// collect lists the images that return addresses of the captures lie in, the ones with most addresses first.
func collect(captures []*capture.Capture) []*wanted {
	byID, order := map[capture.ImageID]*wanted{}, []*wanted(nil)
	for _, c := range captures {
		modules := capture.NewModuleMap(c.Modules)
		for id := range c.Stacks.FrameCount() {
			address := c.Stacks.Frame(capture.FrameID(id)).Address
			at := modules.Find(address)
			if at < 0 || address == 0 || address-c.Modules[at].Base > 1<<32-1 {
				continue
			}
			m := c.Modules[at]
			w := byID[m.ImageID()]
			if w == nil {
				w = &wanted{Module: m, bits: c.Process.Bits}
				byID[m.ImageID()] = w
				order = append(order, w)
			}
			w.rvas = append(w.rvas, uint32(address-m.Base))
		}
	}
	for _, w := range order {
		slices.Sort(w.rvas)
		w.rvas = slices.Compact(w.rvas)
	}
	slices.SortStableFunc(order, func(a, b *wanted) int { return cmp.Compare(len(b.rvas), len(a.rvas)) })
	return order
}

// pdbName is the file name of the PDB: the evidence's, else the module's own with the other extension.
func (w *wanted) pdbName() string {
	return cmp.Or(w.PDB, w.Name()+".pdb")
}

// fileNames are the names that a PDB or image of the module may go by. The 32-bit system libraries of 64-bit Windows
// have PDBs whose names start with "w": wntdll.pdb belongs to an ntdll.dll.
func (w *wanted) fileNames() []string {
	names := []string{w.FileName(), w.pdbName()}
	if own := w.Name() + ".pdb"; !strings.EqualFold(own, w.pdbName()) {
		names = append(names, own)
	}
	if w.bits == 32 && w.PDB == "" {
		names = append(names, "w"+w.Name()+".pdb")
	}
	return names
}
