package symsrv

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A Result is the result of a search for a file at one place.
type Result string

// The results.
const (
	ResultFound          Result = "found"
	ResultNotFound       Result = "not-found"
	ResultMismatch       Result = "mismatch" // a file is there, and Options.Check says that it is another one
	ResultRefused        Result = "refused"  // the answer was refused: a web page, a path outside the mappings, a redirect
	ResultNotAllowed     Result = "offline"  // the server is not on the allow-list and was not asked
	ResultFailed         Result = "failed"   // the place could not be searched, or what it has could not be read
	ResultOutOfTime      Result = "waiting"  // the run had no more time for the server: see WithRunLimit
	ResultPointerMessage Result = "message"  // a file.ptr says why the file is not to be had
)

// An Attempt is one place that was searched. Place is a directory or file on this machine, or a URL without passwords
// and query; Detail is for people and may be empty.
type Attempt struct {
	Place  string
	Result Result
	Detail string
}

// LocalFile is a file on this machine.
type LocalFile struct {
	Path  string // the file itself, decompressed; an MSFZ container stays one
	Place string // where it came from: Path itself, or the file or URL that it was copied from
}

type outcome struct {
	found    LocalFile
	attempts []Attempt
	waits    []string // servers for which the run that began the search had no more time
	err      error
}

// Find searches for the file along the path, and returns it with every place that was searched, in order. Simultaneous
// calls for the same file share one search. The error is the context's, or an *Error: of code CodeNotFound where no
// place has the file, of CodeBadIdentity where want is no identity.
func (p *SymbolPath) Find(ctx context.Context, want Identity) (LocalFile, []Attempt, error) {
	if ctx.Err() != nil {
		return LocalFile{}, nil, context.Cause(ctx)
	}
	want, err := want.checked()
	if err != nil {
		return LocalFile{}, nil, err
	}
	for {
		out, err := p.finds.do(ctx, want.Path(), func(ctx context.Context) outcome {
			s := &search{path: p, want: want, folders: p.folders.view(), searched: make(map[string]bool)}
			found, err := s.run(ctx)
			return outcome{found, s.attempts, s.waits, err}
		})
		if err != nil {
			return LocalFile{}, nil, err
		}
		hasTime := func(server string) bool { return !ledgerOf(ctx).isOver(server, p.opt.Limits.Wait) }
		if out.err == nil || !slices.ContainsFunc(out.waits, hasTime) { // else another run's time was used up, not this one's
			return out.found, slices.Clone(out.attempts), out.err
		}
	}
}

// A search is one Find under way.
type search struct {
	path     *SymbolPath
	want     Identity // checked
	folders  view
	attempts []Attempt
	waits    []string        // servers for which the run had no more time
	searched map[string]bool // stores that had nothing; chains share them
}

func (s *search) note(place string, result Result, detail string) {
	s.attempts = append(s.attempts, Attempt{place, result, detail})
}

func (s *search) run(ctx context.Context) (LocalFile, error) {
	for _, e := range s.path.elements {
		found, ok := s.element(ctx, e)
		if ctx.Err() != nil {
			return LocalFile{}, context.Cause(ctx)
		}
		if ok {
			return found, nil
		}
	}
	where := "the symbol path is empty"
	if len(s.attempts) > 0 {
		where = "none of the places on the symbol path has it"
	}
	return LocalFile{}, &Error{Code: CodeNotFound,
		Message: fmt.Sprintf("%s (%s) was not found: %s", s.want.Name, s.want.Key(), where)}
}

// element searches the caches before an element, then its own levels from left to right.
func (s *search) element(ctx context.Context, e element) (LocalFile, bool) {
	levels := slices.Concat(e.caches, e.levels)
	if e.kind == cacheElement {
		levels = e.levels // each cache to its left has been an element itself
	}
	last := len(levels) - 1
	var stores []string // to the left of the level: what is found further right is copied there
	for i, lv := range levels {
		if ctx.Err() != nil {
			return LocalFile{}, false
		}
		var found LocalFile
		var ok bool
		root, why := s.root(lv)
		switch {
		case lv.server != nil:
			found, ok = s.server(ctx, lv.server, stores)
		case why != "":
			place := lv.text
			if place == "" {
				place = "default downstream store"
			}
			if !s.searched[place] { // a cache comes back before every element to its right
				s.searched[place] = true
				s.note(place, ResultFailed, why)
			}
			continue
		case e.kind == directoryElement && i == last:
			found, ok = s.directory(ctx, root, stores)
		default:
			from := origin{stores: stores}
			if i < last || e.kind == cacheElement {
				from.own = root // a downstream store may be written to, the last level of a chain is only read
				stores = append(stores[:len(stores):len(stores)], root)
			}
			if !s.searched[root] {
				s.searched[root] = true
				found, ok = s.store(ctx, root, from)
			}
		}
		if ok {
			return found, true
		}
	}
	return LocalFile{}, false
}

// root returns a level's directory on this machine, or why it has none.
func (s *search) root(lv level) (root, why string) {
	switch {
	case lv.server != nil:
		return "", ""
	case lv.unmapped:
		return "", "this is a directory of a Windows machine, and no mapping says where it lies on this one"
	case lv.base == "":
		return "", "no default downstream store is configured"
	case lv.rest == "":
		return lv.base, ""
	}
	return s.folders.resolve(lv.base, strings.Split(lv.rest, "/")...), ""
}

// An origin is where a file was found, seen from the chain.
type origin struct {
	stores []string // roots of the levels to the left, leftmost first
	own    string   // root of the level itself, where that may be written to
}

// A candidate is a file that may be the one.
type candidate struct {
	place string // for people
	path  string
	home  string // root of the store in whose staging folder it lies, to be moved or removed; else empty
	loose bool   // its place says nothing about its key: it only has the right name
}

// accept checks a candidate and brings it to where it can stay. It notes what came of it.
func (s *search) accept(ctx context.Context, c candidate, from origin) (LocalFile, bool) {
	form, err := FormOf(c.path)
	if err != nil {
		s.note(c.place, ResultFailed, err.Error())
		return LocalFile{}, false
	}
	if c.loose && s.path.opt.Check == nil {
		if form == FormCompressed {
			s.note(c.place, ResultRefused, "it has the right name only, and nothing is configured that could check its identity")
			return LocalFile{}, false
		}
		from = origin{}
	}
	if form != FormCompressed && c.home == "" && len(from.stores) == 0 {
		return s.direct(ctx, c, "")
	}
	kept, err := s.keep(ctx, c, form, from)
	switch {
	case ctx.Err() != nil:
		return LocalFile{}, false
	case err == nil:
		s.note(c.place, ResultFound, "kept as "+kept)
		return LocalFile{Path: kept, Place: c.place}, true
	case isMismatch(err):
		s.note(c.place, ResultMismatch, err.Error())
		return LocalFile{}, false
	case form != FormCompressed && c.home == "":
		// A store that cannot be written to is passed over: the file is there all the same.
		s.path.opt.Log.WarnContext(ctx, "symbol file not copied into its store",
			"file", c.path, "error", err)
		return s.direct(ctx, c, "not kept: "+err.Error())
	}
	s.note(c.place, ResultFailed, err.Error())
	return LocalFile{}, false
}

// direct takes a file where it lies.
func (s *search) direct(ctx context.Context, c candidate, detail string) (LocalFile, bool) {
	if err := s.check(ctx, c.path); err != nil {
		s.note(c.place, ResultMismatch, err.Error())
		return LocalFile{}, false
	}
	s.note(c.place, ResultFound, detail)
	return LocalFile{Path: c.path, Place: c.place}, true
}

// A mismatchError is what Options.Check said.
type mismatchError struct{ error }

func isMismatch(err error) bool {
	var m mismatchError
	return errors.As(err, &m)
}

func (s *search) check(ctx context.Context, path string) error {
	if s.path.opt.Check == nil {
		return nil
	}
	if err := s.path.opt.Check(ctx, path, s.want); err != nil {
		return mismatchError{err}
	}
	return nil
}

// inStore returns the place of a file in a store: name/KEY/file, below na/ where the store is two-tier.
func (s *search) inStore(root string, file ...string) string {
	way := append([]string{s.want.Name, s.want.Key()}, file...)
	if s.twoTier(root) {
		way = append([]string{tierOf(s.want.Name)}, way...)
	}
	return s.folders.resolve(root, way...)
}

func (s *search) twoTier(root string) bool {
	for _, err := range s.folders.files(root, indexName) {
		return err == nil
	}
	return false
}

func (s *search) place(root string) string {
	return filepath.Join(root, s.want.Name, s.want.Key())
}
