package pdb

import (
	"errors"
	"slices"
	"sync"

	"heapdrift/ingest/evidence"
)

// damages are the errors that look-ups passed over.
type damages struct {
	mu  sync.Mutex
	all []error
}

// damagesKept bounds what Damage tells.
const damagesKept = 100

// Damage returns what look-ups could not read so far and left out: addresses of a damaged module get the names of
// public symbols, and no lines. At most 100 errors are kept.
func (f *File) Damage() []error {
	f.damages.mu.Lock()
	defer f.damages.mu.Unlock()
	return slices.Clone(f.damages.all)
}

// tolerate takes note of damage to a part of the PDB, without which the rest is of use. It returns other errors, such
// as those of the reader that was passed in.
func (f *File) tolerate(err error) error {
	if err == nil {
		return nil // before anything is allocated for looking into it
	}
	var e *evidence.Error
	if !errors.As(err, &e) || e.Code != CodeTruncated && e.Code != CodeCorrupt && e.Code != CodeUnsupported {
		return err
	}
	d := &f.damages
	d.mu.Lock()
	defer d.mu.Unlock()
	same := func(known error) bool { return known.Error() == e.Error() }
	if len(d.all) < damagesKept && !slices.ContainsFunc(d.all, same) {
		d.all = append(d.all, e)
	}
	return nil
}
