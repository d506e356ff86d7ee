package symbols

import (
	"context"

	"heapdrift/internal/symbols/index"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/undname"
)

// BuildIndex reads all that a PDB says about the addresses of its image.
func BuildIndex(ctx context.Context, f *pdb.File) (*index.Builder, error) {
	b := index.NewBuilder(f.Info().DebugID)
	names := spelling{x86: isX86(f)}
	err := f.LocationRanges(ctx, func(s pdb.LocationRange) error {
		return b.AddRange(s.Start, s.End, names.location(&s.Location))
	})
	if err != nil {
		return nil, err
	}
	if err := f.AllocationSites(ctx, func(ret uint32, name string) error {
		b.AddType(ret, name)
		return nil
	}); err != nil {
		return nil, err
	}
	omap, err := f.OMAP()
	if err != nil || omap == nil {
		return b, err
	}
	for _, m := range omap.ToSource {
		if m.To >= 1<<31 { // some tools write negative numbers for nowhere
			m.To = 0
		}
		b.AddOMAP(m.From, m.To)
	}
	return b, nil
}

// A spelling says what a PDB knows as debuggers print it: names of public symbols are undecorated. It remembers the
// last one, because the addresses of a function come together.
type spelling struct {
	x86              bool
	decorated, spelt string
}

func (s *spelling) location(l *pdb.Location) index.Location {
	at := index.Location{Function: l.Function, Displacement: l.Displacement, File: l.File, Line: l.Line,
		Approx: l.LowConfidence}
	if l.Kind == pdb.KindPublic {
		if s.decorated != l.Function {
			s.decorated, s.spelt = l.Function, undname.Display(l.Function, s.x86)
		}
		at.Function = s.spelt
	}
	for _, i := range l.Inlines {
		at.Inlines = append(at.Inlines, index.Inline{Function: i.Name, File: i.File, Line: i.Line})
	}
	return at
}

// isX86 tells whether C names carry the decorations of 32-bit x86.
func isX86(f *pdb.File) bool { return f.Info().Machine == 0x14c }
