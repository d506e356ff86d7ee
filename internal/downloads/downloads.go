// Package downloads holds the programs that a server gives away: heapdrift itself, for the machines on which leaks are
// recorded. In come a folder and the server's own program; out go what is there for each platform, with size and
// digest, and the open files. Only programs of the server's own version are given away.
//
// A release fills the folder as "go run ./tools/build" writes it:
//
//	VERSION                        the version of all programs there, as "heapdrift version" prints it
//	windows-amd64/heapdrift.exe    one folder for each platform
//	linux-amd64/heapdrift
package downloads

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"heapdrift/internal/build"
)

// Folder is the name of the folder of downloads beside the server's program, the default.
const Folder = "downloads"

// VersionFile is the name of the file in the folder that has the version of its programs.
const VersionFile = "VERSION"

// maxVersion bounds what is read of the file: versions have some forty characters.
const maxVersion = 256

// A Platform is an operating system and an architecture by Go's names: windows, amd64.
type Platform struct{ System, Architecture string }

// String is the name of the platform in paths: windows-amd64.
func (p Platform) String() string { return p.System + "-" + p.Architecture }

// Program is the file name of the program there: heapdrift or heapdrift.exe.
func (p Platform) Program() string {
	if p.System == "windows" {
		return "heapdrift.exe"
	}
	return "heapdrift"
}

// Here is the platform of this process.
func Here() Platform { return Platform{runtime.GOOS, runtime.GOARCH} }

// Platforms returns all platforms for which a release has a client.
func Platforms() []Platform {
	list := make([]Platform, 0, len(build.Clients))
	for _, name := range build.Clients {
		system, architecture, _ := strings.Cut(name, "/")
		list = append(list, Platform{system, architecture})
	}
	return list
}

// A Program is a program that the server gives away.
type Program struct {
	Platform Platform
	Size     int64  // bytes
	SHA256   string // hexadecimal
	Modified time.Time
}

// A Library gives away programs. It is safe for concurrent use.
type Library struct {
	// Dir is the folder; it need not exist.
	Dir string
	// Own is the path of the server's own program, which is given away for its platform where the folder has none.
	Own string
	// Version is that of the server.
	Version string

	mu   sync.Mutex
	sums map[string]sum
}

// A sum is a digest of a file that had this size and time of change.
type sum struct {
	size     int64
	modified time.Time
	digest   string
}

// List returns the programs that are there, in the order of Platforms. missing says why the folder gives none; "" where
// it gives some.
func (l *Library) List(ctx context.Context) (programs []Program, missing string, err error) {
	missing, err = l.refused()
	if err != nil {
		return nil, "", err
	}
	for _, p := range Platforms() {
		program, f, err := l.Open(ctx, p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		_ = f.Close() // read only
		programs = append(programs, program)
	}
	return programs, missing, nil
}

// Open opens the program of a platform; the caller closes the file. The error is fs.ErrNotExist where the library has
// none.
func (l *Library) Open(ctx context.Context, p Platform) (Program, *os.File, error) {
	f, err := l.open(p)
	if err != nil {
		return Program{}, nil, err
	}
	program, err := l.describe(ctx, p, f)
	if err != nil {
		return Program{}, nil, errors.Join(err, f.Close())
	}
	return program, f, nil
}

func (l *Library) open(p Platform) (*os.File, error) {
	if p != Here() && !slices.Contains(Platforms(), p) { // a request names it: no other path is opened
		return nil, fs.ErrNotExist
	}
	missing, err := l.refused()
	if err != nil {
		return nil, err
	}
	if missing == "" {
		f, err := openRegular(filepath.Join(l.Dir, p.String(), p.Program()))
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	if p == Here() && l.Own != "" {
		return openRegular(l.Own)
	}
	return nil, fs.ErrNotExist
}

// openRegular opens a file; anything else is not there: it might not end.
func openRegular(path string) (*os.File, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	return os.Open(path)
}

// refused says why the folder's programs are not given away; "" where they are.
func (l *Library) refused() (string, error) {
	if l.Dir == "" {
		return "no folder is set", nil
	}
	f, err := openRegular(filepath.Join(l.Dir, VersionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "the folder " + l.Dir + " has no file " + VersionFile, nil
	}
	if err != nil {
		return "", fmt.Errorf("downloads: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	text, err := io.ReadAll(io.LimitReader(f, maxVersion))
	if err != nil {
		return "", fmt.Errorf("downloads: read %s: %w", f.Name(), err)
	}
	if has := strings.TrimSpace(string(text)); has != l.Version {
		return fmt.Sprintf("the folder %s has programs of version %q, and this server is %q", l.Dir, has, l.Version), nil
	}
	return "", nil
}

// describe reads the digest, or remembers it while the file does not change.
func (l *Library) describe(ctx context.Context, p Platform, f *os.File) (Program, error) {
	info, err := f.Stat()
	if err != nil {
		return Program{}, fmt.Errorf("downloads: %w", err)
	}
	program := Program{Platform: p, Size: info.Size(), Modified: info.ModTime()}
	l.mu.Lock()
	defer l.mu.Unlock() // two requests need not both read the file
	known, ok := l.sums[f.Name()]
	if !ok || known.size != program.Size || !known.modified.Equal(program.Modified) {
		h := sha256.New()
		if _, err := io.Copy(h, reader{ctx, f}); err != nil {
			return Program{}, fmt.Errorf("downloads: read %s: %w", f.Name(), err)
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return Program{}, fmt.Errorf("downloads: %w", err)
		}
		known = sum{program.Size, program.Modified, fmt.Sprintf("%x", h.Sum(nil))}
		if l.sums == nil {
			l.sums = map[string]sum{}
		}
		l.sums[f.Name()] = known
	}
	program.SHA256 = known.digest
	return program, nil
}

// A reader ends with its context.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}
