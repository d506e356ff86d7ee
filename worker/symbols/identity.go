// Package symbols names return addresses: it finds the PDB or image that belongs to a module, reads it once into an
// index, and turns module and RVA into functions, lines and inlined calls.
package symbols

import (
	"context"
	"fmt"
	"io"

	"heapdrift/ingest/capture"
)

// A FileKind is a kind of symbol file.
type FileKind string

// The kinds of symbol files.
const (
	KindPDB   FileKind = "pdb"
	KindImage FileKind = "image" // an EXE, DLL or driver
)

// An Identity says what a symbol file is and which module it belongs to.
type Identity struct {
	Kind        FileKind
	Name        string             // file name: a PDB's or an image's
	DebugID     string             // of a PDB, or of the PDB that an image names: GUID as 32 upper-case hex digits and age in hex
	PDB         string             // file name of the PDB; that which an image names
	Timestamp   uint32             // of an image
	SizeOfImage uint32             // in bytes; a PDB's is computed from the section headers it keeps, 0 where it has none
	Bits        uint8              // 32 or 64; 0 unknown
	Machine     string             // x86, x64, arm64, arm; "" unknown
	Symbols     capture.SymbolKind // what it can give: private, public, export or none
	Note        string             // what limits it, in a sentence; "" for nothing
}

// Key is the file's folder in a symbol store: name/KEY/name.
func (i Identity) Key() string {
	if i.Kind == KindImage {
		return fmt.Sprintf("%08X%x", i.Timestamp, i.SizeOfImage)
	}
	return i.DebugID
}

// An IdentityError says why a file is no symbol file that can be used; its Code is stable.
type IdentityError struct {
	Code    string
	Message string
}

func (e *IdentityError) Error() string { return e.Message }

// Identify reads what a symbol file is. Its error is an *IdentityError where the file is none that can be used.
func Identify(ctx context.Context, name string, r io.ReaderAt, size int64) (Identity, error) {
	return Identity{}, &IdentityError{"not-symbols", name + " is neither a PDB nor an image"}
}
