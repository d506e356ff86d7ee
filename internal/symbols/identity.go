// Package symbols names return addresses. In come the modules of captures and RVAs in them. Out go functions, lines and
// inlined calls. For each module it also says where its symbols were looked for, and with which answer. The package
// finds the PDB or image that belongs to a module, and reads it once into an index.
package symbols

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pe"
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
	SizeOfImage uint32             // in bytes; for a PDB from the section headers in it, 0 where it has none
	Bits        uint8              // 32 or 64; 0 unknown
	Machine     string             // x86, x64, arm64, arm; "" unknown
	Symbols     capture.SymbolKind // what it can give: private, public, export or none
	Note        string             // what limits it, in a sentence; "" for nothing
}

// Key is the middle folder of the file's path in a symbol store: name/KEY/name.
func (i Identity) Key() string {
	if i.Kind == KindImage {
		return fmt.Sprintf("%08X%x", i.Timestamp, i.SizeOfImage)
	}
	return i.DebugID
}

// Identify reads the identity of a symbol file; name is its file name. Its error is an *evidence.Error where the file
// cannot be used, else one of reading it.
func Identify(ctx context.Context, name string, r io.ReaderAt, size int64) (Identity, error) {
	if err := ctx.Err(); err != nil {
		return Identity{}, err
	}
	head := make([]byte, 32)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Identity{}, fmt.Errorf("symbols: read %s: %w", name, err)
	}
	for _, k := range kinds {
		if bytes.HasPrefix(head[:n], []byte(k.magic)) {
			return k.identify(name, r, size)
		}
	}
	return Identity{}, &evidence.Error{Code: "not-symbols", File: name,
		Message: "this is neither a PDB nor an image (EXE, DLL, SYS)"}
}

// kinds tells symbol files by their first bytes.
var kinds = []struct {
	magic    string
	identify func(name string, r io.ReaderAt, size int64) (Identity, error)
}{
	{"MZ", identifyImage},
	{"Microsoft C/C++ ", identifyPDB}, // MSF 7.00, and 2.00 of Visual C++ 6
	{"Microsoft MSFZ ", identifyPDB},
	{"BSJB", identifyPDB}, // portable
	{"MSCF", identifyPDB}, // compressed
}

func identifyImage(name string, r io.ReaderAt, size int64) (Identity, error) {
	f, err := pe.Open(r, size)
	if err != nil {
		return Identity{}, refused(name, err)
	}
	info := f.Info()
	id := Identity{Kind: KindImage, Name: name, Timestamp: info.Timestamp, SizeOfImage: info.SizeOfImage,
		Bits: uint8(info.Bits), Machine: info.Arch(), Symbols: capture.SymbolsExport}
	view, ok, err := f.CodeView()
	switch {
	case err != nil:
		id.Note = "its reference to a PDB is damaged: " + err.Error()
	case !ok:
		id.Note = "it names no PDB"
	default:
		id.DebugID, id.PDB = view.DebugID(), legible(view.FileName())
	}
	return id, nil
}

func identifyPDB(name string, r io.ReaderAt, size int64) (Identity, error) {
	f, err := pdb.Open(r, size)
	if err != nil {
		return Identity{}, refused(name, err)
	}
	info := f.Info()
	return Identity{
		Kind: KindPDB, Name: name, PDB: name, DebugID: info.DebugID, SizeOfImage: info.SizeOfImage, Bits: uint8(info.Bits),
		Machine: pe.Info{Machine: info.Machine}.Arch(), Symbols: capture.SymbolKind(info.Quality), Note: info.Note,
	}, nil
}

// refused passes on why a file cannot be used. Errors of reading it stay what they are.
func refused(name string, err error) error {
	if wrong := evidence.Refusal(err); wrong != nil {
		wrong.File = name
		return wrong
	}
	return fmt.Errorf("symbols: read %s: %w", name, err)
}
