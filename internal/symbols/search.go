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
	*wantedModule
	out *capture.Image

	neighbours map[string]string // by group: a module whose symbols are proven
	groups     []string          // of the file that was used
	undecided  bool              // more about other modules may decide this one
}

// run finds the symbols of the module and names its return addresses.
func (s *search) run(ctx context.Context, neighbours map[string]string) error {
	*s.out = capture.Image{ImageID: s.ImageID(), Symbols: capture.SymbolsNone, PDB: s.pdbName()}
	s.neighbours, s.undecided = neighbours, false
	defer legibleImage(s.out)
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
	missing := fmt.Sprintf("%s with the id %s was not found", s.pdbName(), s.DebugID)
	if pdb != nil && pdb.SizeOfImage != 0 {
		ok, err := s.useIdentified(ctx, candidate{pdb: pdb})
		if err != nil || ok {
			return err
		}
		missing = s.useless(pdb)
	}
	// Without the PDB an image that names it still has its exports; a PDB without section headers needs those of the
	// image. Other PDBs of that name are told of, not used.
	files, tried, err := lib.FindByName(ctx, s.fileNames())
	if err != nil {
		return err
	}
	s.out.Tried = append(s.out.Tried, tried...)
	images := s.imagesOf(files, pdb)
	if pdb != nil && pdb.SizeOfImage == 0 {
		c := candidate{pdb: pdb}
		if len(images) > 0 {
			c.image = images[0]
		}
		ok, err := s.useIdentified(ctx, c)
		if err != nil || ok {
			return err
		}
		missing = s.useless(pdb)
	}
	for _, image := range images {
		ok, err := s.useExports(ctx, image, s.out)
		if err != nil {
			return err
		}
		if ok {
			s.out.Match, s.out.Proven = fmt.Sprintf("nearest exports of %s; %s", image.Name, missing), true
			return nil
		}
	}
	if s.out.Match = missing; s.out.Symbols == capture.SymbolsMismatch {
		s.out.Match += "; PDBs of that name belong to other builds"
	}
	if pdb == nil {
		s.out.Match += s.hindrance()
	}
	return nil
}

// imagesOf are the images among files of the module's names that name its PDB. Of PDBs that are others it is noted.
func (s *search) imagesOf(files []*File, pdb *File) (images []*File) {
	for _, f := range files {
		switch own := strings.EqualFold(f.DebugID, s.DebugID); {
		case f.Kind == KindImage && own:
			images = append(images, f)
		case f.Kind == KindPDB && !own:
			s.note(f.Place, ResultMismatch, "it has the id %s", f.DebugID)
			if pdb == nil {
				s.out.Symbols = capture.SymbolsMismatch
			}
		}
	}
	return images
}

// useIdentified names the module by the PDB that has its id.
func (s *search) useIdentified(ctx context.Context, c candidate) (bool, error) {
	ok, err := s.usePDB(ctx, c, s.out)
	if ok {
		s.groups = []string{c.pdb.Group}
		s.out.Match = fmt.Sprintf("%s by its id %s, which the evidence gives%s", c.pdb.Name, s.DebugID, c.limits())
		s.out.Proven = true
	}
	return ok, err
}

// useless says why a PDB that belongs to the module names nothing. That is the last thing that was noted.
func (s *search) useless(pdb *File) string {
	return fmt.Sprintf("%s %s is there and names nothing: %s", pdb.Name, pdb.DebugID,
		s.out.Tried[len(s.out.Tried)-1].Detail)
}

// hindrance continues a sentence about what was not found with the first place that could not be searched or read, or
// that was not asked; "" for none.
func (s *search) hindrance() string {
	for _, result := range []string{ResultWaiting, ResultFailed, ResultRefused, ResultOffline} {
		for _, a := range s.out.Tried {
			if a.Result == result {
				return fmt.Sprintf("; but %s: %s", a.Place, a.Detail)
			}
		}
	}
	return ""
}
