package symbols

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols/symsrv"
)

// A PathLibrary makes a symbol path a Library.
type PathLibrary struct{ Path *symsrv.SymbolPath }

// CheckFile returns nil if a file is the one that want identifies, else why not. A symbol path needs it to refuse other
// files of the same name.
func CheckFile(ctx context.Context, path string, want symsrv.Identity) error {
	f, err := openLocal(ctx, path, path)
	if err != nil {
		return err
	}
	if want.DebugID != "" && f.Kind == KindPDB && f.DebugID == want.Key() ||
		want.DebugID == "" && f.Kind == KindImage && f.Key() == want.Key() {
		return nil
	}
	return &evidence.Error{Code: "other-file", Message: "it has the id " + f.Key()}
}

// Find implements Library.
func (l PathLibrary) Find(ctx context.Context, want Want) (*File, []capture.Attempt, error) {
	found, attempts, err := l.Path.Find(ctx,
		symsrv.Identity{Name: want.Name, DebugID: want.DebugID, Timestamp: want.Timestamp, SizeOfImage: want.SizeOfImage})
	tried := make([]capture.Attempt, 0, len(attempts)+1)
	for _, a := range attempts {
		tried = append(tried, capture.Attempt{Place: a.Place, Result: string(a.Result), Detail: a.Detail})
	}
	var nowhere *symsrv.Error
	switch {
	case errors.As(err, &nowhere):
		return nil, tried, nil
	case err != nil:
		return nil, tried, err
	}
	f, err := openLocal(ctx, found.Path, found.Place)
	if err != nil && ctx.Err() == nil { // one file that cannot be read is no reason to name nothing
		return nil, append(tried, capture.Attempt{Place: found.Place, Result: ResultFailed, Detail: err.Error()}), nil
	}
	return f, tried, err
}

// FindByName implements Library.
func (l PathLibrary) FindByName(ctx context.Context, names []string) ([]*File, []capture.Attempt, error) {
	var files []*File
	var tried []capture.Attempt
	for _, name := range names {
		paths, err := l.Path.FindByName(ctx, name)
		var partly *symsrv.Error // some directories could not be read, or there are too many files: those found count
		switch {
		case errors.As(err, &partly):
			tried = append(tried,
				capture.Attempt{Place: name, Result: ResultFailed, Detail: strings.TrimPrefix(partly.Error(), "symsrv: ")})
		case err != nil:
			return nil, tried, err
		}
		for _, path := range paths {
			f, err := openLocal(ctx, path, path)
			switch {
			case ctx.Err() != nil:
				return nil, tried, ctx.Err()
			case err != nil:
				tried = append(tried, capture.Attempt{Place: path, Result: ResultFailed, Detail: err.Error()})
			default:
				files = append(files, f)
			}
		}
		if len(paths) == 0 && err == nil {
			tried = append(tried,
				capture.Attempt{Place: name, Result: ResultNotFound, Detail: "no local directory of the symbol path has it"})
		}
	}
	return files, tried, nil
}

// openLocal reads what a file of this machine is.
func openLocal(ctx context.Context, path, place string) (*File, error) {
	content, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }()
	identity, err := Identify(ctx, filepath.Base(path), content, content.Size())
	if err != nil {
		return nil, err
	}
	return &File{Identity: identity, Place: place, Group: filepath.Dir(path),
		Open: func(context.Context) (Content, error) { return openFile(path) }}, nil
}

// A localFile is a file of this machine as Content.
type localFile struct {
	*os.File
	size int64
}

func openFile(path string) (Content, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return localFile{f, info.Size()}, nil
}

// Size implements Content.
func (f localFile) Size() int64 { return f.size }

// Descriptor is the open file, for a process that reads it instead of this one.
func (f localFile) Descriptor() *os.File { return f.File }
