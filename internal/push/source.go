package push

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// A source is a file that is being sent. What is sent is what the file was when it was opened: a file that changes
// meanwhile is an error, as a mixture of two states would be read as evidence of a third.
type source struct {
	path    string
	file    *os.File
	size    int64
	changed time.Time // as the system had it when the file was opened
}

// openSource opens a file that has something in it.
func openSource(path string) (*source, error) {
	info, err := os.Stat(path) // before opening: a pipe would wait for a writer
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, &Error{Code: CodeNoFile, File: path, Message: "there is no such file"}
	case err != nil:
		return nil, &Error{Code: CodeUnreadable, File: path, Message: "the file cannot be read", Err: err}
	case info.IsDir():
		return nil, &Error{Code: CodeFolder, File: path, Message: "it is a folder", Do: "name its files, as in folder/*.txt"}
	case !info.Mode().IsRegular():
		return nil, &Error{Code: CodeUnreadable, File: path, Message: "it is not a regular file"}
	case info.Size() == 0:
		return nil, &Error{Code: CodeEmptyFile, File: path, Message: "the file is empty",
			Do: "check that the tool that makes it ran to its end"}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, &Error{Code: CodeUnreadable, File: path, Message: "the file cannot be read", Err: err}
	}
	if info, err = file.Stat(); err != nil {
		return nil, errors.Join(&Error{Code: CodeUnreadable, File: path, Message: "the file cannot be read", Err: err},
			file.Close())
	}
	return &source{path, file, info.Size(), info.ModTime()}, nil
}

func (s *source) close() { _ = s.file.Close() } // read only

// check reports whether the file is still what it was when it was opened.
func (s *source) check() error {
	info, err := s.file.Stat()
	if err != nil {
		return &Error{Code: CodeUnreadable, File: s.path, Message: "the file cannot be read", Err: err}
	}
	if info.Size() != s.size || !info.ModTime().Equal(s.changed) {
		return s.hasChanged()
	}
	return nil
}

func (s *source) hasChanged() error {
	return &Error{Code: CodeChanged, File: s.path, Message: "the file changes while it is sent; nothing of it was kept",
		Do: "wait until the tool that writes it has ended"}
}

// digest is the SHA-256 of the file, in hexadecimal.
func (s *source) digest(ctx context.Context) (string, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, &section{source: s, ctx: ctx, to: s.size})
	switch {
	case err != nil:
		return "", err
	case n != s.size: // it became shorter
		return "", s.hasChanged()
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// A section reads the bytes of a source from at to to, and before it gives the last bytes of the file away it checks
// that the file is still the one that was opened: the server takes a file when its last byte is there.
type section struct {
	*source
	ctx    context.Context
	at, to int64
	moved  func(at int64) // told how far it is; nil is not told
	mu     sync.Mutex     // a request may go on reading when its answer is there already
	err    error          // why reading ended early
}

func (s *section) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	if s.at == s.to {
		return 0, io.EOF
	}
	n, err := s.read(p[:min(int64(len(p)), s.to-s.at)])
	s.err = err
	return n, err
}

// failed is why reading ended early; nil where it did not.
func (s *section) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *section) read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	n, err := s.file.ReadAt(p, s.at)
	switch {
	case errors.Is(err, io.EOF) && n < len(p): // it became shorter
		return 0, s.hasChanged()
	case err != nil && !errors.Is(err, io.EOF):
		return 0, &Error{Code: CodeUnreadable, File: s.path, Message: "the file cannot be read", Err: err}
	}
	if s.at+int64(n) == s.size {
		if err := s.check(); err != nil {
			return 0, err
		}
	}
	s.at += int64(n)
	if s.moved != nil {
		s.moved(s.at)
	}
	return n, nil
}
