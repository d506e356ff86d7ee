package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/blob"
	"heapdrift/internal/intake"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols"
)

// teamStore is what attempts call the files that were uploaded or fetched before.
const teamStore = "team store"

// A teamLibrary has the team's own files, and behind them those of a symbol path. Files that only the path has are
// kept: the next run finds them in the team store.
type teamLibrary struct {
	store *store.Store
	blobs blob.Store
	path  symbols.Library // nil for none
	run   int64           // whose modules are named
	// searched hears of each place that was asked; may be nil.
	searched func(place, result string)
}

// note tells of attempts by the server that was asked; paths of this machine are one place.
func (l *teamLibrary) note(tried []capture.Attempt) {
	if l.searched == nil {
		return
	}
	for _, a := range tried {
		place := "symbol path"
		if u, err := url.Parse(a.Place); err == nil && u.Host != "" {
			place = u.Host
		} else if strings.HasPrefix(a.Place, teamStore) {
			place = teamStore
		}
		l.searched(place, a.Result)
	}
}

// Find implements symbols.Library.
func (l *teamLibrary) Find(ctx context.Context, want symbols.Want) (*symbols.File, []capture.Attempt, error) {
	f, tried, err := l.find(ctx, want)
	l.note(tried)
	return f, tried, err
}

func (l *teamLibrary) find(ctx context.Context, want symbols.Want) (*symbols.File, []capture.Attempt, error) {
	key := symbols.Identity{Kind: symbols.KindPDB, DebugID: want.DebugID}.Key()
	if want.DebugID == "" {
		key = symbols.Identity{Kind: symbols.KindImage, Timestamp: want.Timestamp, SizeOfImage: want.SizeOfImage}.Key()
	}
	place := teamStore + ": " + want.Name + "/" + key
	f, err := store.Read(ctx, l.store,
		func(v store.View) (store.SymbolFile, error) { return v.FindSymbolFile(ctx, want.Name, key) })
	switch {
	case err == nil:
		return l.file(f), []capture.Attempt{{Place: place, Result: symbols.ResultFound}}, nil
	case !errors.Is(err, store.ErrNotFound):
		return nil, nil, err
	}
	tried := []capture.Attempt{{Place: place, Result: symbols.ResultNotFound}}
	if l.path == nil {
		return nil, tried, nil
	}
	found, more, err := l.path.Find(ctx, want)
	tried = append(tried, more...)
	if found == nil || err != nil {
		return nil, tried, err
	}
	kept, err := l.keep(ctx, found, want.Name)
	return kept, tried, err
}

// FindByName implements symbols.Library. Files that the symbol path has too count once.
func (l *teamLibrary) FindByName(ctx context.Context, names []string) ([]*symbols.File, []capture.Attempt, error) {
	var ofBuild map[int64]string
	own, err := store.Read(ctx, l.store, func(v store.View) (files []store.SymbolFile, err error) {
		if ofBuild, err = v.ListBuildSymbols(ctx, l.run, names); err != nil {
			return nil, err
		}
		return v.ListSymbolFilesByName(ctx, names)
	})
	if err != nil {
		return nil, nil, err
	}
	var tried []capture.Attempt
	files, have := make([]*symbols.File, 0, len(own)), map[string]bool{}
	for _, f := range own {
		file := l.file(f)
		file.Build = ofBuild[f.ID]
		files = append(files, file)
		have[f.Kind+f.Key] = true
	}
	if len(own) == 0 {
		for _, name := range names {
			tried = append(tried, capture.Attempt{Place: teamStore + ": " + name, Result: symbols.ResultNotFound})
		}
	}
	if l.path == nil {
		return files, tried, nil
	}
	more, attempts, err := l.path.FindByName(ctx, names)
	for _, f := range more {
		if !have[string(f.Kind)+f.Key()] {
			files = append(files, f)
		}
	}
	return files, append(tried, attempts...), err
}

// file is a file of the team store.
func (l *teamLibrary) file(f store.SymbolFile) *symbols.File {
	return &symbols.File{
		Identity: symbols.Identity{
			Kind: symbols.FileKind(f.Kind), Name: f.Name, DebugID: f.DebugID, PDB: f.PDB, Timestamp: uint32(f.Timestamp),
			SizeOfImage: uint32(f.SizeOfImage),
			Bits:        uint8(f.Bits), Machine: f.Machine, Symbols: capture.SymbolKind(f.Symbols), Note: f.Note,
		},
		Place: teamStore + ": " + f.Name + "/" + f.Key,
		Own:   f.Origin == store.OriginUpload,
		Group: f.Group,
		Open: func(ctx context.Context) (symbols.Content, error) {
			r, err := l.blobs.Open(ctx, blob.ContentKey(f.SHA256))
			if errors.Is(err, blob.ErrNotFound) {
				return nil, &evidence.Error{Code: "blob-missing", File: f.Name,
					Message: "the file is not in the blob store any more", Do: "upload it again"}
			}
			if err != nil {
				return nil, fmt.Errorf("worker: open %s: %w", f.Name, err)
			}
			return r, nil
		},
	}
}

// keep copies a file of the symbol path into the team store, under the name that was asked for: a pointer in a store
// may lead to a file of another name.
func (l *teamLibrary) keep(ctx context.Context, f *symbols.File, name string) (*symbols.File, error) {
	content, err := f.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }()
	digest, err := blob.PutContent(ctx, l.blobs, io.NewSectionReader(content, 0, content.Size()))
	if err != nil {
		return nil, fmt.Errorf("worker: keep %s: %w", f.Name, err)
	}
	id := f.Identity
	id.Name = name
	added, err := l.store.CreateSymbolFile(ctx, intake.SymbolFile(id, digest, store.OriginServer, ""))
	if err != nil {
		return nil, err
	}
	return l.file(added.SymbolFile), nil
}
