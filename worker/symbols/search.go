package symbols

import (
	"context"
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
)

// A search looks for the symbols of one module and writes down what it finds, and where it looked.
type search struct {
	resolver *Resolver
	*wanted
	out *capture.Image

	neighbours map[string]string // by group: a module whose symbols are proven
	groups     []string          // of the file that was used
	undecided  bool              // more about other modules may decide this one
}

// run finds the symbols of the module and names its return addresses.
func (s *search) run(ctx context.Context, neighbours map[string]string) error {
	*s.out = capture.Image{ImageID: s.ImageID(), Symbols: capture.SymbolsNone, PDB: s.pdbName()}
	s.neighbours, s.undecided = neighbours, false
	if s.DebugID != "" {
		return s.byID(ctx)
	}
	return s.byName(ctx)
}

// note writes down what came of a place.
func (s *search) note(place, result, format string, args ...any) {
	s.out.Tried = append(s.out.Tried, capture.Attempt{Place: place, Result: result, Detail: fmt.Sprintf(format, args...)})
}

// byID names a module whose PDB the evidence identifies.
func (s *search) byID(ctx context.Context) error {
	lib := s.resolver.Library
	pdb, tried, err := lib.Find(ctx, Want{Name: s.pdbName(), DebugID: s.DebugID})
	if err != nil {
		return err
	}
	s.out.Tried = append(s.out.Tried, tried...)
	if pdb != nil {
		ok, err := s.use(ctx, candidate{pdb: pdb}, s.out)
		if err != nil || ok {
			s.groups = []string{pdb.Group}
			s.out.Match = fmt.Sprintf("%s by its id %s, which the evidence gives", pdb.Name, s.DebugID)
			s.out.Proven = true
			return err
		}
	}
	// Without the PDB an image that names it still has its exports; other PDBs of that name are told of, not used.
	files, tried, err := lib.Named(ctx, s.fileNames())
	if err != nil {
		return err
	}
	s.out.Tried = append(s.out.Tried, tried...)
	for _, f := range files {
		switch {
		case f.Kind == KindImage && strings.EqualFold(f.DebugID, s.DebugID):
			ok, err := s.use(ctx, candidate{image: f}, s.out)
			if err != nil {
				return err
			}
			if ok {
				s.out.Match = fmt.Sprintf("nearest exports of %s, whose PDB %s %s is not there", f.Name, s.pdbName(), s.DebugID)
				s.out.Proven = true
				return nil
			}
		case f.Kind == KindPDB && !strings.EqualFold(f.DebugID, s.DebugID):
			s.note(f.Place, resultMismatch, "it has the id %s", f.DebugID)
			s.out.Symbols = capture.SymbolsMismatch
		}
	}
	s.out.Match = fmt.Sprintf("%s with the id %s was not found", s.pdbName(), s.DebugID)
	if s.out.Symbols == capture.SymbolsMismatch {
		s.out.Match += "; PDBs of that name belong to other builds"
	}
	return nil
}
