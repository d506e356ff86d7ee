package embedded

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// maxUnpacked bounds what a tarball may unpack to in bytes; the bundle has 60 MB.
const maxUnpacked = 1 << 30

// unpack makes dir of what an npm tarball holds under package/, readable for the server's account. It trusts no name
// and takes no links. Those that the libraries need stand in a list of the package's own, since npm drops links.
func unpack(tarball io.Reader, dir string) error {
	plain, err := gzip.NewReader(tarball)
	if err != nil {
		return err //nolint:wrapcheck // the caller says what
	}
	if err := os.Mkdir(dir, 0o755); err != nil { // the server's account must enter it
		return err //nolint:wrapcheck // says where
	}
	root, err := os.OpenRoot(dir) // no name leads out of it
	if err != nil {
		return err //nolint:wrapcheck // says where
	}
	defer func() { _ = root.Close() }()
	limited := &io.LimitedReader{R: plain, N: maxUnpacked}
	for entries := tar.NewReader(limited); ; {
		header, err := entries.Next()
		switch {
		case limited.N == 0:
			return fmt.Errorf("more than %d bytes", maxUnpacked)
		case errors.Is(err, io.EOF):
			return link(root)
		case err != nil:
			return err //nolint:wrapcheck // the caller says what
		}
		if err := unpackEntry(root, header, entries); err != nil {
			return fmt.Errorf("entry %q: %w", header.Name, err)
		}
	}
}

func unpackEntry(root *os.Root, header *tar.Header, content io.Reader) error {
	if header.Typeflag == tar.TypeXGlobalHeader || header.Typeflag == tar.TypeDir {
		return nil // directories come with their files
	}
	if header.Typeflag != tar.TypeReg {
		return fmt.Errorf("refused: type %q is not a file", header.Typeflag)
	}
	name, ok := strings.CutPrefix(header.Name, "package/")
	if !ok || !filepath.IsLocal(filepath.FromSlash(name)) {
		return errors.New("refused: the name leads out of the package")
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err //nolint:wrapcheck // the caller says where
	}
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if err := root.Chmod(dir, 0o755); err != nil { // whatever the umask
			return err //nolint:wrapcheck // the caller says where
		}
		if dir == "." {
			break
		}
	}
	mode := fs.FileMode(0o644)
	if header.Mode&0o111 != 0 || strings.HasPrefix(name, "native/bin/") {
		mode = 0o755
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err //nolint:wrapcheck // the caller says where
	}
	_, err = io.Copy(f, content) // the caller limits it
	return errors.Join(err, f.Chmod(mode), f.Close())
}

// link makes the symbolic links that native/pg-symlinks.json lists.
func link(root *os.Root) error {
	const list = "native/pg-symlinks.json"
	content, err := root.ReadFile(list)
	if err != nil {
		return err //nolint:wrapcheck // says where
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(content, &links); err != nil {
		return fmt.Errorf("%s: %w", list, err)
	}
	for _, l := range links {
		source, target := filepath.FromSlash(l.Source), filepath.FromSlash(l.Target)
		if !filepath.IsLocal(source) || !filepath.IsLocal(target) {
			return fmt.Errorf("%s: link %q to %q refused: it leads out of the package", list, l.Target, l.Source)
		}
		relative, err := filepath.Rel(filepath.Dir(target), source)
		if err != nil {
			return fmt.Errorf("%s: %w", list, err)
		}
		if err := root.Symlink(relative, target); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s: %w", list, err)
		}
	}
	return nil
}
