// Package update replaces a program by the one that a server gives away for its platform. In come the address of a
// server and the path of a program; out go the program of the server's version in its place, or an error and the old
// program.
//
// The new file is fetched beside the old one, compared with the digest that the server states, and put in place by a
// rename, so that no moment has half a program. Windows does not replace a program that runs, but renames it: it is put
// aside as NAME.old, which the next update deletes.
package update

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"heapdrift/internal/downloads"
)

const (
	maxProgram = 512 << 20 // bytes; a program has 15 MB to 45 MB
	maxAnswer  = 1 << 16   // bytes of what is not the program
)

// The codes of errors.
const (
	CodeURL         = "bad-url"
	CodeUnreachable = "unreachable"
	CodeNone        = "no-program"   // the server has none for the platform
	CodeDigest      = "wrong-digest" // what came is not what the server says
	CodeReplace     = "not-replaced" // the program cannot be written
)

// An Error says why a program was not replaced, and what to do.
type Error struct {
	Code    string
	Message string
	Do      string
	Err     error // nil where there is no cause
}

func (e *Error) Error() string {
	text := e.Message
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text + "; " + e.Do
}

func (e *Error) Unwrap() error { return e.Err }

// An Update says which program to replace by the server's.
type Update struct {
	// Server is the address of a server, http://host:port.
	Server string
	// Program is the path of the program to replace.
	Program string
	// Platform is the platform of the program.
	Platform downloads.Platform
	// Aside renames the old program instead of replacing it, because it runs: Windows needs that.
	Aside bool
}

// NewSelfUpdate makes the Update of the running program. It does not contact the server: Run does.
func NewSelfUpdate(server string) (Update, error) {
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return Update{}, &Error{CodeReplace, "the path of this program is not known", "download it from the server's page", err}
	}
	return Update{server, path, downloads.Here(), runtime.GOOS == "windows"}, nil
}

// A Result is the result of an update.
type Result struct {
	Version  string // the server's
	Replaced bool   // false where the program was the server's already
}

// Run downloads the server's program and replaces the old one.
func (u *Update) Run(ctx context.Context) (Result, error) {
	root, err := u.root()
	if err != nil {
		return Result{}, err
	}
	client := &http.Client{CheckRedirect: stay}
	var health struct{ Version string }
	text, err := ask(ctx, client, root+"/healthz")
	if err == nil {
		err = json.Unmarshal(text, &health)
	}
	if err != nil {
		return Result{}, &Error{CodeUnreachable, root + " does not answer as a heapdrift server", "check the address", err}
	}
	path := u.Platform.Path()
	text, err = ask(ctx, client, root+path+".sha256")
	if err != nil {
		return Result{}, &Error{CodeNone, fmt.Sprintf("%s has no program for %s", root, u.Platform),
			"see " + root + "/download", err}
	}
	digest, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	if own, err := digestOf(u.Program); err == nil && own == digest {
		return Result{Version: health.Version}, nil
	}
	if err := u.replace(ctx, client, root+path, digest); err != nil {
		return Result{}, err
	}
	return Result{health.Version, true}, nil
}

func (u *Update) root() (string, error) {
	at, err := url.Parse(strings.TrimSpace(u.Server))
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.User != nil || at.RawQuery != "" {
		return "", &Error{CodeURL, fmt.Sprintf("%q is not the address of a server", u.Server), "write http://host:port", nil}
	}
	return strings.TrimRight(at.String(), "/"), nil
}

// stay refuses redirects: another server might answer.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// open returns the body of an answer of 200.
func open(ctx context.Context, client *http.Client, address string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, errors.Join(errors.New(answer.Status), answer.Body.Close())
	}
	return answer.Body, nil
}

func ask(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	body, err := open(ctx, client, address)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	return text, errors.Join(err, body.Close())
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)), errors.Join(err, f.Close())
}

// replace fetches the program and puts it in place.
func (u *Update) replace(ctx context.Context, client *http.Client, address, digest string) error {
	failed := func(err error) error {
		return &Error{CodeReplace, u.Program + " cannot be replaced",
			"run the command as a user who may write there, or download the program from the server's page", err}
	}
	info, err := os.Stat(u.Program)
	if err != nil {
		return failed(err)
	}
	fresh, err := os.CreateTemp(filepath.Dir(u.Program), ".heapdrift-update-*")
	if err != nil {
		return failed(err)
	}
	defer func() { _ = os.Remove(fresh.Name()) }() // it is gone where all went well
	got, fetched := fetch(ctx, client, address, fresh)
	if err := errors.Join(fresh.Chmod(info.Mode().Perm()), fresh.Sync(), fresh.Close()); err != nil {
		return failed(err)
	}
	if fetched != nil {
		return &Error{CodeUnreachable, "the program did not arrive", "try again", fetched}
	}
	if got != digest {
		return &Error{CodeDigest, fmt.Sprintf("the program has the SHA-256 %s, and the server says %q", got, digest),
			"try again; tell the operator if it stays", nil}
	}
	if err := u.swap(fresh.Name()); err != nil {
		return failed(err)
	}
	return nil
}

// fetch writes a program to a file and returns its digest.
func fetch(ctx context.Context, client *http.Client, address string, to io.Writer) (digest string, err error) {
	body, err := open(ctx, client, address)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, h), io.LimitReader(body, maxProgram+1))
	if err == nil && n > maxProgram {
		err = fmt.Errorf("it has more than %d bytes", maxProgram)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), errors.Join(err, body.Close())
}

// swap puts a file in the program's place.
func (u *Update) swap(fresh string) error {
	if !u.Aside {
		return os.Rename(fresh, u.Program)
	}
	old := u.Program + ".old"
	if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("an older program still runs: %w", err)
	}
	if err := os.Rename(u.Program, old); err != nil {
		return err
	}
	if err := os.Rename(fresh, u.Program); err != nil {
		return errors.Join(err, os.Rename(old, u.Program))
	}
	return nil
}
