package intake

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/blob"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pe"
)

// The codes of refused symbol files that this package gives itself; the others are those of internal/symbols and
// ingest.
const (
	CodeNotSymbols = "not-symbols" // neither a PDB nor an image
	CodeNoSymbols  = "no-symbols"  // an archive without any
	CodeNoID       = "no-debug-id" // nothing could ever ask for the file
	CodeNoName     = "no-name"     // of a file in an archive
)

// SymbolsUpload is the result of one upload of symbols.
type SymbolsUpload struct {
	Files   []store.CreatedSymbolFile
	Refused []RefusedFile // files of an archive that were refused while others were accepted
}

// A RefusedFile is a file of an archive that was refused.
type RefusedFile struct {
	Name    string // in the archive
	Code    string
	Message string
}

// maxGroup is how long the name of a group may be, in bytes.
const maxGroup = 64

// AcceptSymbols reads a file to its end and stores the PDBs and images that it is or holds: plain, in a cabinet of a
// symbol store, in gz or zst, or many in a zip. Files of one group came together; those of a zip share one of their own
// where none is given. The same files may be sent again. Its error is an *evidence.Error where nothing could be taken,
// a *leaks.FieldError where group or name is wrong, or ErrTooLarge; then nothing is kept.
func (in *Intake) AcceptSymbols(ctx context.Context, group, name string, body io.Reader) (SymbolsUpload, error) {
	if err := CheckGroup(group); err != nil {
		return SymbolsUpload{}, err
	}
	name, err := cleanName(name)
	if err != nil {
		return SymbolsUpload{}, err
	}
	metered, err := in.meter(ctx, body)
	if err != nil {
		return SymbolsUpload{}, err
	}
	upload, err := in.acceptSymbols(ctx, group, name, metered)
	return upload, errors.Join(err, metered.settle(err == nil))
}

// acceptSymbols stores a file and records what it holds.
func (in *Intake) acceptSymbols(ctx context.Context, group, name string, body io.Reader) (SymbolsUpload, error) {
	s := staging{in: in, left: in.MaxBytes, keys: map[string]bool{}}
	defer s.discard(ctx)
	whole, err := s.put(ctx, name, body)
	if err != nil {
		return SymbolsUpload{}, err
	}
	s.left = in.MaxBytes // of what it unpacks to
	found, err := s.take(ctx, name, whole)
	if err != nil {
		return SymbolsUpload{}, err
	}
	if group == "" && found.Archive {
		group = rand.Text()
	}
	files, err := s.record(ctx, group)
	return SymbolsUpload{Files: files, Refused: found.Refused}, err
}

// CheckGroup returns a *leaks.FieldError unless group can name files that were uploaded together; "" is no group, and
// allowed.
func CheckGroup(group string) error {
	if len(group) > maxGroup ||
		strings.Trim(group, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" {
		return &leaks.FieldError{Field: "group",
			Message: fmt.Sprintf("must be at most %d letters, digits, dots, underscores and hyphens", maxGroup)}
	}
	return nil
}

// take looks through the upload and stages what is in it.
func (s *staging) take(ctx context.Context, name string, whole content) (sortResult, error) {
	r, err := s.in.Blobs.Open(ctx, whole.key)
	if err != nil {
		return sortResult{}, fmt.Errorf("intake: look at %s: %w", name, err)
	}
	defer func() { _ = r.Close() }()
	found, err := s.in.sortSymbols(ctx, symbolUpload{name, s.in.MaxBytes}, r,
		func(ctx context.Context, id symbols.Identity, file *os.File) error {
			c := whole
			if file != nil {
				if c, err = s.put(ctx, id.Name, io.NewSectionReader(file, 0, math.MaxInt64)); err != nil {
					return err
				}
			}
			s.files = append(s.files, stagedFile{c, id})
			return nil
		})
	switch {
	case err != nil:
		return found, err
	case found.TooLarge:
		return found, ErrTooLarge
	case len(s.files) == 0:
		return found, &evidence.Error{Code: CodeNoSymbols, File: name,
			Message: "the archive holds no PDB or image that is read: " + found.reasons()}
	}
	return found, nil
}

// reasons names the first few refused files.
func (s *sortResult) reasons() string {
	var list []string
	for _, r := range s.Refused[:min(5, len(s.Refused))] {
		list = append(list, r.Name+" ("+r.Code+")")
	}
	if more := len(s.Refused) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	if len(list) == 0 {
		return "it is empty"
	}
	return strings.Join(list, ", ")
}

// record moves what was staged to where it stays and enters it. From here on a client that leaves must not leave half
// behind.
func (s *staging) record(ctx context.Context, group string) ([]store.CreatedSymbolFile, error) {
	var added []store.CreatedSymbolFile
	for _, f := range s.files {
		file, err := s.recordFile(context.WithoutCancel(ctx), f, group)
		if err != nil {
			return nil, fmt.Errorf("intake: record %s: %w", f.identity.Name, err)
		}
		added = append(added, file)
	}
	return added, nil
}

func (s *staging) recordFile(ctx context.Context, f stagedFile, group string) (store.CreatedSymbolFile, error) {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	if err := s.in.Blobs.Rename(ctx, f.key, blob.ContentKey(f.digest.SHA256)); err != nil {
		return store.CreatedSymbolFile{}, err
	}
	delete(s.keys, f.key)
	return s.in.Store.CreateSymbolFile(ctx, SymbolFile(f.identity, f.digest, store.OriginUpload, group))
}

// discard deletes what was put and is not needed.
func (s *staging) discard(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	for key := range s.keys {
		_ = s.in.Blobs.Delete(ctx, key) // what stays is swept with everything else under keys of IncomingKey
	}
}

// unreadFormats are codes of the files whose format is not read.
var unreadFormats = []string{
	evidence.CodeUnknownFormat, evidence.CodeUnsupportedFormat, evidence.CodeNotTrace,
	CodeNotSymbols, pdb.CodeNotPDB, pdb.CodePDB2, pdb.CodePortable, pdb.CodeUnsupported, pe.CodeNotPE,
}

// IsUnreadFormat reports whether a file was refused with this code because its format is not read. Other codes say that
// the content is wrong.
func IsUnreadFormat(code string) bool { return slices.Contains(unreadFormats, code) }
