package symbols

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols/pdb"
)

// Types are the structures that a PDB defines. They are safe for concurrent use until Close.
type Types struct {
	ctx     context.Context //nolint:containedctx // the questions come from deep inside of what reads a dump
	file    *pdb.File
	content Content

	mu      sync.Mutex
	layouts map[string]*pdb.Layout // nil for what is not defined
}

// OpenTypes finds a PDB and opens its structures; nil where the library does not have it, or where it cannot be read.
// Its error is the library's or the context's.
func OpenTypes(ctx context.Context, library Library, name, debugID string) (*Types, error) {
	f, _, err := library.Find(ctx, Want{Name: name, DebugID: debugID})
	if err != nil || f == nil || f.Kind != KindPDB {
		return nil, err
	}
	content, err := f.Open(ctx)
	switch {
	case evidence.IsRefusal(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("symbols: types of %s: %w", name, err)
	}
	file, err := pdb.Open(content, content.Size())
	if err != nil { // who symbolises says so
		return nil, errors.Join(ctx.Err(), content.Close())
	}
	return &Types{ctx: ctx, file: file, content: content, layouts: map[string]*pdb.Layout{}}, nil
}

// Offset is the offset in bytes of a field in a structure; a dot separates a field of a field. ok is false where the
// PDB does not define it.
func (t *Types) Offset(typ, field string) (offset uint64, ok bool) {
	name, rest, nested := strings.Cut(field, ".")
	layout := t.layout(typ)
	if layout == nil {
		return 0, false
	}
	for i := range layout.Fields {
		f := &layout.Fields[i]
		switch {
		case f.Name != name || f.Base:
			continue
		case !nested:
			return f.Offset, true
		}
		within, ok := t.Offset(f.Of, rest)
		return f.Offset + within, ok
	}
	return 0, false
}

// Size is the size of a structure in bytes; ok is false where the PDB does not define it.
func (t *Types) Size(typ string) (size uint64, ok bool) {
	if l := t.layout(typ); l != nil {
		return l.Size, true
	}
	return 0, false
}

func (t *Types) layout(name string) *pdb.Layout {
	t.mu.Lock()
	defer t.mu.Unlock()
	l, known := t.layouts[name]
	if !known {
		l, _ = t.file.FindLayout(t.ctx, name) // damaged types are as good as none: there are the built-in tables
		t.layouts[name] = l
	}
	return l
}

// Close closes the PDB.
func (t *Types) Close() error { return errors.Join(t.file.Close(), t.content.Close()) }
