package symbols

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/internal/symbols/pe"
)

// A candidate may be the module's: an image, its PDB, or both.
type candidate struct {
	pdb, image *File
	groups     []string // where these files lie; the same build may lie in several places
	build      string   // the run's own, where its push says that one of these files belongs to it
	calls      int      // return addresses that follow a call in the image
	others     int      // those that do not
}

func (c candidate) place() string {
	if c.pdb != nil {
		return c.pdb.Place
	}
	return c.image.Place
}

func (c candidate) debugID() string {
	if c.pdb != nil {
		return c.pdb.DebugID
	}
	return c.image.DebugID
}

// limits continues a sentence with what limits the PDB; "" for nothing.
func (c candidate) limits() string {
	if c.pdb == nil || c.pdb.Note == "" || c.pdb.SizeOfImage == 0 && c.image != nil { // the image has the sections it lacks
		return ""
	}
	return ". " + strings.TrimSuffix(c.pdb.Note, ".")
}

// called reports whether the image proves itself: its calls are where the return addresses say.
func (c candidate) called() bool { return c.calls >= fewCalls }

// fewCalls is the number of calls that prove an image of the right name, size and bitness: a random address follows
// what looks like a call once in some twenty times.
const fewCalls = 2

// pushed reports whether the push of the run's build says that it is the build's.
func (c candidate) pushed() bool { return c.build != "" }

// byName names a module of evidence that has no ids. A file may belong to it if it goes by its name and has its image
// size and bitness. One of the run's own build wins over all others, so that what later builds send changes no name. An
// image of that kind proves itself: the module's return addresses must follow calls in it. Where several remain, the
// one that lies beside a module which is proven is taken; else what all of them agree on.
func (s *search) byName(ctx context.Context) error {
	all, err := s.candidates(ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, s.contradicts)
	for _, better := range []func(candidate) bool{candidate.pushed, candidate.called, s.beside} {
		if some := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return !better(c) }); len(some) > 0 {
			all = some
		}
	}
	var named []capture.Image
	var used []candidate
	for _, c := range all {
		image := capture.Image{ImageID: s.out.ImageID, Symbols: capture.SymbolsNone, PDB: s.out.PDB}
		ok, err := s.use(ctx, c, &image)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if image.Symbols == capture.SymbolsExport {
			c.pdb = nil // it says nothing, or is not there
		}
		named, used = append(named, image), append(used, c)
	}
	tried := s.out.Tried
	switch len(named) {
	case 0:
		if s.out.Match = s.nothing(); len(all) > 0 {
			s.out.Match = "what fits by name and image size names nothing: " + s.out.Tried[len(s.out.Tried)-1].Detail
		}
		return nil
	case 1:
		*s.out = named[0]
		s.out.Match, s.out.Proven = s.only(used[0])
		s.out.Match += used[0].limits()
		s.groups, s.undecided = used[0].groups, !s.out.Proven
	default:
		*s.out = agreed(named)
		s.out.Match = s.several(used, named)
		s.undecided = true
	}
	s.out.Tried = append(tried, s.out.Tried...)
	return nil
}

// beside reports whether a candidate lies with the symbols of a module that is proven.
func (s *search) beside(c candidate) bool { return s.neighbour(c) != "" }

// neighbour is a proven module whose symbols a candidate lies with; "" for none.
func (s *search) neighbour(c candidate) string {
	for _, g := range c.groups {
		if name := s.neighbours[g]; name != "" {
			return name
		}
	}
	return ""
}

// candidates collects the files that may belong to the module.
func (s *search) candidates(ctx context.Context) ([]candidate, error) {
	lib := s.resolver.Library
	files, tried, err := lib.FindByName(ctx, s.fileNames())
	if err != nil {
		return nil, err
	}
	s.out.Tried = append(s.out.Tried, tried...)
	byID, order := map[string]*candidate{}, []string(nil)
	for _, f := range files {
		if result, why := s.unlike(f); result != "" {
			s.note(f.Place, result, "%s", why)
			if result == ResultMismatch {
				s.out.Symbols = capture.SymbolsMismatch
			}
			continue
		}
		id := cmp.Or(strings.ToUpper(f.DebugID), "image "+f.Key())
		if byID[id] == nil {
			byID[id] = &candidate{}
			order = append(order, id)
		}
		c := byID[id]
		if f.Group != "" {
			c.groups = append(c.groups, f.Group)
		}
		c.build = cmp.Or(c.build, f.Build)
		switch {
		case f.Kind == KindImage && c.image == nil:
			c.image = f
		case f.Kind == KindPDB && c.pdb == nil:
			c.pdb = f
		}
	}
	list := make([]candidate, 0, len(order))
	for _, id := range order {
		c := *byID[id]
		if c.pdb == nil && c.image.DebugID != "" {
			pdb, tried, err := lib.Find(ctx, Want{Name: c.image.PDB, DebugID: c.image.DebugID})
			if err != nil {
				return nil, err
			}
			s.out.Tried = append(s.out.Tried, tried...)
			c.pdb = pdb
			s.out.PDB = cmp.Or(c.image.PDB, s.out.PDB)
		}
		if c.image != nil {
			if err := s.countCalls(ctx, &c); err != nil {
				return nil, err
			}
		}
		list = append(list, c)
	}
	return list, nil
}

// unlike says why a file cannot belong to the module, or that nothing tells; "" where it may.
func (s *search) unlike(f *File) (result, why string) {
	switch {
	case f.Bits != 0 && s.bits != 0 && f.Bits != s.bits:
		return ResultMismatch, fmt.Sprintf("it is for %d-bit processes", f.Bits)
	case f.SizeOfImage == 0:
		return ResultAmbiguous,
			"it keeps no section headers: the image that names it would tell whether it belongs to this module"
	case uint64(f.SizeOfImage) != s.Size:
		return ResultMismatch, fmt.Sprintf("it belongs to an image of 0x%x bytes, the module has 0x%x", f.SizeOfImage, s.Size)
	}
	return "", ""
}

// countCalls looks what stands before the return addresses in the image.
func (s *search) countCalls(ctx context.Context, c *candidate) error {
	image, done, err := s.openImage(ctx, c.image)
	if image == nil || err != nil {
		return err
	}
	defer done()
	for _, rva := range s.rvas {
		switch image.CallSite(rva) {
		case pe.CallYes:
			c.calls++
		case pe.CallNo:
			c.others++
		}
	}
	return nil
}

// contradicts reports whether too many return addresses do not follow a call in the candidate's image. Stack walks by
// frame pointers yield a false address now and then, so a few are let pass.
func (s *search) contradicts(c candidate) bool {
	if c.others == 0 || c.others <= (c.calls+c.others)/20 {
		return false
	}
	s.note(c.image.Place, ResultMismatch, "%d of %d return addresses do not follow a call in it: it is another build",
		c.others, c.calls+c.others)
	s.out.Symbols = capture.SymbolsMismatch
	return true
}

// agreed is what several images say alike of each return address: all of it, or the function alone.
func agreed(named []capture.Image) capture.Image {
	first := &named[0]
	out := capture.Image{ImageID: first.ImageID, Symbols: first.Symbols, PDB: first.PDB}
	for rva, frames := range first.All() {
		whole, function := true, true
		for i := range named[1:] {
			other := named[i+1].Frames(rva)
			whole = whole && slices.Equal(frames, other)
			function = function && len(other) > 0 && outermost(frames) == outermost(other)
		}
		switch {
		case whole:
			out.Add(rva, frames...)
		case function:
			out.Add(rva, outermost(frames))
		}
	}
	return out
}

// outermost is the function whose code a return address lies in, without what differs between builds that are alike.
func outermost(frames []capture.NamedFrame) capture.NamedFrame {
	f := frames[len(frames)-1]
	f.File, f.Line, f.Type = "", 0, ""
	return f
}

// several says what the files that fit agree on.
func (s *search) several(used []candidate, named []capture.Image) string {
	ids := make([]string, len(used))
	for i, c := range used {
		ids[i] = c.debugID()
		s.note(c.place(), ResultAmbiguous, "it fits as well as others do")
	}
	const shown = 4 // the others stand among the places that were tried
	if more := len(ids) - shown; more > 0 {
		ids = append(ids[:shown], fmt.Sprintf("%d more", more))
	}
	what := fmt.Sprintf("%d files fit by name and image size 0x%x (%s)", len(used), s.Size, strings.Join(ids, ", "))
	for i := range named[1:] {
		if !named[0].SameNames(&named[i+1]) {
			return what + ": only what they agree on is shown; symbols of this build alone would tell the rest"
		}
	}
	return what + " and agree on every frame"
}

// only says how the match with the one file that fits was made, and whether it is proven.
func (s *search) only(c candidate) (match string, proven bool) {
	var file string
	if c.pdb != nil {
		file = c.pdb.Name
	} else {
		file = "nearest exports of " + c.image.Name
	}
	match = fmt.Sprintf("%s %s by name and image size 0x%x", file, c.debugID(), s.Size)
	switch {
	case c.called() && c.others == 0:
		return fmt.Sprintf("%s; proven: all %d return addresses follow calls in the image", match, c.calls), true
	case c.called():
		return fmt.Sprintf("%s; proven: %d of %d return addresses follow calls in the image", match,
			c.calls, c.calls+c.others), true
	case c.pushed():
		return fmt.Sprintf("%s; proven: it was pushed with build %s", match, c.build), true
	case c.calls > 0 && s.beside(c):
		return fmt.Sprintf("%s; proven: the return address follows a call in the image, which lies beside %s",
			match, s.neighbour(c)), true
	case s.beside(c):
		return fmt.Sprintf("%s; it lies beside %s, which is proven", match, s.neighbour(c)), false
	case c.calls > 0:
		return match + "; the one return address follows a call in the image, which may be chance", false
	}
	return fmt.Sprintf("%s only: the evidence has no id of its PDB; add the image (%s) to confirm it",
		match, s.FileName()), false
}

// nothing says what is missing where no file can be used.
func (s *search) nothing() string {
	if s.out.Symbols == capture.SymbolsMismatch {
		return fmt.Sprintf("the files that go by the name of %s belong to other builds", s.FileName()) + s.hindrance()
	}
	return fmt.Sprintf("no %s of an image of 0x%x bytes was found", s.out.PDB, s.Size) + s.hindrance()
}
