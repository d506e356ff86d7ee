package symbols

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/symsrv"
)

// An expandedFile is a symbol file of this machine, unpacked if it was compressed.
type expandedFile struct {
	Identity
	path    string // as it is called
	data    string // where its contents lie
	content Content
	refused *evidence.Error // a PDB, but one without native code
}

// maxExpanded bounds what a compressed file may unpack to, in bytes.
const maxExpanded = 8 << 30

// openExpanded opens a symbol file, plain or as symbol stores compress it (.pd_, .dl_, .ex_).
func openExpanded(ctx context.Context, path string) (*expandedFile, error) {
	f := &expandedFile{path: path, data: path}
	form, err := symsrv.FormOf(path)
	if err == nil && form == symsrv.FormCompressed {
		err = f.expand(ctx)
	}
	if err == nil {
		f.content, err = openFile(f.data)
	}
	if err == nil {
		f.Identity, err = Identify(ctx, filepath.Base(path), f.content, f.content.Size())
	}
	if refused := evidence.Refusal(err); refused != nil && refused.Code == pdb.CodePortable {
		f.Kind, f.refused, err = KindPDB, refused, nil
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// expand unpacks the file into a temporary one.
func (f *expandedFile) expand(ctx context.Context) error {
	work, err := os.CreateTemp("", "heapdrift-symbols-*")
	if err != nil {
		return fmt.Errorf("symbols: expand: %w", err)
	}
	f.data = work.Name()
	err = symsrv.Expand(ctx, f.path, maxExpanded, work)
	return errors.Join(err, work.Close())
}

func (f *expandedFile) close() {
	if f.content != nil {
		_ = f.content.Close() // read only
	}
	if f.data != f.path {
		_ = os.Remove(f.data)
	}
}

// beside finds the PDB of an image in its folder, by the name that the image gives it and by the image's own. Without
// one it says why.
func (f *expandedFile) beside(ctx context.Context) (found *expandedFile, missing string, err error) {
	if f.DebugID == "" {
		return nil, "The image names no PDB: only its exports are known.", nil
	}
	stem := strings.TrimSuffix(filepath.Base(f.path), filepath.Ext(f.path))
	wanted := cmp.Or(f.PDB, stem+".pdb")
	missing = fmt.Sprintf("Only the image's exports are known: %s with the id %s does not lie beside it.",
		wanted, f.DebugID)
	entries, err := os.ReadDir(filepath.Dir(f.path)) // names are compared without regard to case, as Windows does
	if err != nil {
		return nil, "", err
	}
	for _, name := range []string{wanted, stem + ".pdb", symsrv.CompressedName(wanted),
		symsrv.CompressedName(stem + ".pdb")} {
		for _, entry := range entries {
			if entry.IsDir() || !strings.EqualFold(entry.Name(), name) {
				continue
			}
			path := filepath.Join(filepath.Dir(f.path), entry.Name())
			other, err := openExpanded(ctx, path)
			switch {
			case ctx.Err() != nil:
				return nil, "", context.Cause(ctx)
			case errors.Is(err, fs.ErrNotExist):
				continue
			case err != nil:
				missing = fmt.Sprintf("Only the image's exports are known: %s cannot be read: %v.", entry.Name(), err)
				continue
			case other.Kind == KindPDB && other.DebugID == f.DebugID:
				return other, "", nil
			case other.refused != nil:
				missing = other.refused.Sentence()
			default:
				missing = fmt.Sprintf("Only the image's exports are known: %s belongs to another build, it has the id %s and not %s.", entry.Name(), other.DebugID, f.DebugID)
			}
			other.close()
		}
	}
	return nil, missing, nil
}
