package intake

import (
	"context"
	"fmt"
	"path"
	"strings"

	"heapdrift/ingest"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/blob"
	"heapdrift/internal/symbols"
	"heapdrift/internal/symbols/cab"
)

// stored stages a file that lies in the blob store.
func (s *staging) stored(ctx context.Context, m ingest.Member, form form, c content) error {
	r, err := s.in.Blobs.Open(ctx, c.key)
	if err != nil {
		return fmt.Errorf("intake: look at %s: %w", m.Name, err)
	}
	defer func() { _ = r.Close() }()
	if form == cabinet {
		return s.cabinet(ctx, m, r)
	}
	return s.identify(ctx, m.Name, withoutWrapping(m.Name), r, c)
}

// identify stages a PDB or image that goes by the name.
func (s *staging) identify(ctx context.Context, file, name string, r blob.Reader, c content) error {
	name, err := cleanName(name)
	if err != nil {
		return &evidence.Error{Code: CodeNoName, File: file, Message: "its name has nothing that can be kept"}
	}
	id, err := symbols.Identify(ctx, name, r, r.Size())
	refused := evidence.Refusal(err)
	switch {
	case refused != nil:
		refused.File = file
		return refused
	case err != nil:
		return fmt.Errorf("intake: look at %s: %w", file, err)
	case id.Key() == "":
		return &evidence.Error{Code: CodeNoID, File: file, Message: "it has no debug id, so no evidence and no debugger can ever ask for it"}
	}
	id.Name = restored(id.Name, id.Kind)
	if id.Kind == symbols.KindPDB {
		id.PDB = id.Name
	}
	s.files = append(s.files, stagedFile{c, id})
	return nil
}

// cabinet stages the one file of a compressed PDB or image, as symbol stores have them: app.pd_ holds app.pdb.
func (s *staging) cabinet(ctx context.Context, m ingest.Member, packed blob.Reader) error {
	open, err := cab.Open(packed, packed.Size())
	if err != nil {
		return damagedCabinet(m.Name, err)
	}
	files := open.Files()
	if len(files) != 1 {
		return &evidence.Error{Code: evidence.CodeUnsupported, File: m.Name, Message: fmt.Sprintf("the cabinet holds %d files; those of symbol stores hold one", len(files)), Do: "unpack it first, or pack a zip"}
	}
	body, err := files[0].Open()
	if err != nil {
		return damagedCabinet(m.Name, err)
	}
	defer func() { _ = body.Close() }()
	name := files[0].Name
	if _, err := cleanName(name); err != nil {
		name = withoutWrapping(m.Name)
	}
	c, err := s.put(ctx, m.Name, m.Unpacking(body))
	if err != nil {
		return asRefusal(err)
	}
	r, err := s.in.Blobs.Open(ctx, c.key)
	if err != nil {
		return fmt.Errorf("intake: look at %s: %w", m.Name, err)
	}
	defer func() { _ = r.Close() }()
	return s.identify(ctx, m.Name, name, r, c)
}

// damagedCabinet says what is wrong with a cabinet. Errors of reading it stay what they are.
func damagedCabinet(file string, err error) error {
	wrong := evidence.Refusal(err)
	if wrong == nil {
		return fmt.Errorf("intake: look at %s: %w", file, err)
	}
	return &evidence.Error{Code: evidence.CodeDamaged, File: file, Message: "the cabinet cannot be unpacked", Err: wrong}
}

// withoutWrapping is the name that a file has when it is unpacked.
func withoutWrapping(name string) string {
	for _, ext := range []string{".gz", ".zst"} {
		if cut := len(name) - len(ext); cut > 0 && strings.EqualFold(name[cut:], ext) {
			return name[:cut]
		}
	}
	return name
}

// lastLetters are those that compressing replaced by "_", by what comes before them.
var lastLetters = map[string]string{".dl_": "l", ".ex_": "e", ".sy_": "s", ".oc_": "x", ".cp_": "l", ".dr_": "v", ".sc_": "r"}

// restored is the name that a file had before it was compressed.
func restored(name string, kind symbols.FileKind) string {
	ext := path.Ext(name)
	letter := lastLetters[strings.ToLower(ext)]
	if kind == symbols.KindPDB && strings.EqualFold(ext, ".pd_") {
		letter = "b"
	}
	switch {
	case letter == "":
		return name
	case ext == strings.ToUpper(ext):
		letter = strings.ToUpper(letter)
	}
	return strings.TrimSuffix(name, "_") + letter
}
