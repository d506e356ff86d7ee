package intake

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"heapdrift/ingest"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols"
)

// A staging holds the files of one upload under keys of IncomingKey until all of it has been looked at.
type staging struct {
	in    *Intake
	left  int64 // bytes that may still come; without meaning where there is no limit
	files []stagedFile
	keys  map[string]bool // of blobs that nothing refers to yet
}

// A content is a blob that was put.
type content struct {
	key    string
	digest blob.Digest
}

// A stagedFile is a symbol file that waits to be recorded.
type stagedFile struct {
	content
	identity symbols.Identity
}

// SymbolFile makes the row of a symbol file whose content is stored.
func SymbolFile(id symbols.Identity, content blob.Digest, origin, group string) store.SymbolFile {
	return store.SymbolFile{
		Kind: string(id.Kind), Name: id.Name, Key: id.Key(), DebugID: id.DebugID, PDB: printable(id.PDB),
		Timestamp:   int64(id.Timestamp),
		SizeOfImage: int64(id.SizeOfImage), Bits: int(id.Bits), Machine: id.Machine, Symbols: string(id.Symbols),
		Note:   printable(id.Note),
		SHA256: content.SHA256, Bytes: content.Bytes, Origin: origin, Group: group,
	}
}

// put stores what r gives under a new key.
func (s *staging) put(ctx context.Context, name string, r io.Reader) (content, error) {
	within := &limitedReader{r: r, left: s.left}
	if s.in.MaxBytes > 0 {
		r = within
	}
	c := content{key: blob.IncomingKey()}
	var err error
	if c.digest, err = blob.PutDigest(ctx, s.in.Blobs, c.key, r); err != nil {
		return c, fmt.Errorf("intake: store %s: %w", name, err)
	}
	s.left = within.left
	s.keys[c.key] = true
	return c, nil
}

// form is what the beginning of a file says that it is.
type form int

const (
	other form = iota
	symbolFile
	cabinet
)

var forms = []struct {
	magic string
	form
}{
	{"MZ", symbolFile}, {"Microsoft C/C++ ", symbolFile}, {"Microsoft MSFZ ", symbolFile},
	{"BSJB", symbolFile}, {"MSCF", cabinet},
}

func formOf(head []byte) form {
	for _, f := range forms {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.form
		}
	}
	return other
}

// recognised refuses what does not begin as symbols do.
func recognised(m ingest.Member) error {
	if len(m.Head) == 0 {
		return &evidence.Error{Code: evidence.CodeEmptyFile, File: m.Name, Message: "the file is empty",
			Do: "check that it was copied to its end"}
	}
	if formOf(m.Head) != other {
		return nil
	}
	if f := formats.Sniffed(m.Head); f != nil {
		return &evidence.Error{Code: CodeNotSymbols, File: m.Name, Message: "this is " + f.Name + ", not symbols",
			Do: "upload it as evidence: PUT /api/v1/evidence"}
	}
	return &evidence.Error{Code: CodeNotSymbols, File: m.Name,
		Message: "this is neither a PDB nor an image (EXE, DLL, SYS, OCX), nor a cabinet of one"}
}

// asRefusal lets an error that says what is wrong with a file through as that alone.
func asRefusal(err error) error {
	if refused := evidence.Refusal(err); refused != nil {
		return refused
	}
	return err
}
