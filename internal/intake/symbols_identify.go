package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"heapdrift/ingest"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/symbols"
	"heapdrift/internal/symbols/cab"
	"heapdrift/internal/tempfile"
)

// A sorting finds the PDBs and images in an upload: plain, in cabinets, in gz or zst, or many in an archive.
type sorting struct {
	name    string // of the upload
	content sandbox.Content
	left    int64 // bytes that it may unpack to; without meaning where there is no limit
	limited bool
	// keep keeps a file that was found; file is nil where it is the upload itself.
	keep func(ctx context.Context, id symbols.Identity, file *os.File) error

	found sortResult
}

// sortResult is what a sorting found beside the files that were kept.
type sortResult struct {
	Archive  bool `json:"archive"` // the upload is an archive of files
	Refused  []RefusedFile
	TooLarge bool `json:"too_large"` // it unpacks to more than it may
}

// sort looks through the upload.
func (s *sorting) sort(ctx context.Context) error {
	visit := func(m ingest.Member) error {
		s.found.Archive = s.found.Archive || strings.HasPrefix(m.Name, s.name+"/")
		return s.member(ctx, m)
	}
	refuse := func(member string, e *evidence.Error) {
		s.found.Refused = append(s.found.Refused, RefusedFile{Name: printable(member), Code: e.Code, Message: e.Sentence()})
	}
	err := ingest.Unpack(ctx, ingest.Source{Name: s.name, ReaderAt: s.content, Size: s.content.Size()}, visit, refuse)
	if errors.Is(err, ErrTooLarge) {
		s.found.TooLarge, err = true, nil
	}
	return err
}

// member looks at a file of the upload, or at the upload itself where it is not packed. Files that cannot be symbols
// are not even unpacked.
func (s *sorting) member(ctx context.Context, m ingest.Member) error {
	if err := recognised(m); err != nil {
		return err
	}
	form := formOf(m.Head)
	if !m.Packed {
		return s.look(ctx, m, form, s.content, nil)
	}
	return s.unpacked(ctx, m, m,
		func(content sandbox.Content, file *os.File) error { return s.look(ctx, m, form, content, file) })
}

func (s *sorting) look(ctx context.Context, m ingest.Member, form form, content sandbox.Content, file *os.File) error {
	if form == cabinet {
		return s.cabinet(ctx, m, content)
	}
	return s.identify(ctx, m.Name, withoutWrapping(m.Name), content, file)
}

// unpacked calls use with what r unpacks.
func (s *sorting) unpacked(ctx context.Context, m ingest.Member, r io.Reader,
	use func(content sandbox.Content, file *os.File) error) error {
	f, err := tempfile.New("heapdrift-symbols-")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // temporary
	within := &limitedReader{r: &contextReader{ctx, r}, left: s.left}
	if s.limited {
		r = within
	}
	if _, err := io.Copy(f, r); err != nil {
		return asRefusal(err)
	}
	s.left = within.left
	content, err := sandbox.Opened(f)
	if err != nil {
		return fmt.Errorf("intake: look at %s: %w", m.Name, err)
	}
	return use(content, f)
}

// contextReader fails as soon as its context has ended.
type contextReader struct {
	ctx context.Context //nolint:containedctx // an io.Reader has no other way to be told
	r   io.Reader
}

func (u *contextReader) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.r.Read(p)
}

// identify keeps a PDB or image that goes by the name.
func (s *sorting) identify(ctx context.Context, member, name string, r sandbox.Content, file *os.File) error {
	name, err := cleanName(name)
	if err != nil {
		return &evidence.Error{Code: CodeNoName, File: member, Message: "its name has no character that can be kept"}
	}
	id, err := symbols.Identify(ctx, name, r, r.Size())
	refused := evidence.Refusal(err)
	switch {
	case refused != nil:
		refused.File = member
		return refused
	case err != nil:
		return fmt.Errorf("intake: look at %s: %w", member, err)
	case id.Key() == "":
		return &evidence.Error{Code: CodeNoID, File: member,
			Message: "it has no debug id, so no evidence and no debugger can ever ask for it"}
	}
	id.Name = restored(id.Name, id.Kind)
	if id.Kind == symbols.KindPDB {
		id.PDB = id.Name
	}
	return s.keep(ctx, id, file)
}

// cabinet looks at the one file of a compressed PDB or image, as symbol stores have them: app.pd_ holds app.pdb.
func (s *sorting) cabinet(ctx context.Context, m ingest.Member, packed sandbox.Content) error {
	open, err := cab.Open(packed, packed.Size())
	if err != nil {
		return damagedCabinet(m.Name, err)
	}
	files := open.Files()
	if len(files) != 1 {
		return &evidence.Error{Code: evidence.CodeUnsupportedFormat, File: m.Name,
			Message: fmt.Sprintf("the cabinet holds %d files; those of symbol stores hold one", len(files)),
			Do:      "unpack it first, or pack a zip"}
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
	return s.unpacked(ctx, m, m.Unpacking(body), func(content sandbox.Content, file *os.File) error {
		return s.identify(ctx, m.Name, name, content, file)
	})
}

// damagedCabinet says what is wrong with a cabinet. Errors of reading it stay what they are.
func damagedCabinet(file string, err error) error {
	wrong := evidence.Refusal(err)
	if wrong == nil {
		return fmt.Errorf("intake: look at %s: %w", file, err)
	}
	return &evidence.Error{
		Code: evidence.CodeDamagedArchive, File: file, Message: "the cabinet cannot be unpacked", Err: wrong,
	}
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
var lastLetters = map[string]string{".dl_": "l", ".ex_": "e", ".sy_": "s", ".oc_": "x", ".cp_": "l",
	".dr_": "v", ".sc_": "r"}

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
