package symsrv

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The first bytes of what stores hold. A file is what it begins with: symstore writes nam_ as a cabinet or, in newer
// versions, a zip, and cabinets that are named .pdb have been seen on servers.
var (
	cabMagic  = []byte("MSCF")
	zipMagic  = []byte("PK\x03\x04")
	msfzMagic = []byte("Microsoft MSFZ Container\r\n\x1aALD")
	szddMagic = []byte("SZDD\x88\xf0\x27\x33") // compress.exe
	kwajMagic = []byte("KWAJ\x88\xf0\x27\xd1") // compress.exe
)

// FormOf tells what a file holds from its first bytes.
func FormOf(file string) (Form, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, 64)
	n, err := io.ReadFull(f, head)
	head = head[:n]
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return "", errors.New("the file is empty")
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return "", err
	case bytes.HasPrefix(head, cabMagic), bytes.HasPrefix(head, zipMagic):
		return FormCompressed, nil
	case bytes.HasPrefix(head, msfzMagic):
		return FormMSFZ, nil
	case bytes.HasPrefix(head, szddMagic), bytes.HasPrefix(head, kwajMagic):
		return "", errors.New("the file was compressed with compress.exe, which is not read here: expand it with expand.exe")
	}
	return FormPlain, nil
}

// Expand writes what a compressed file of a symbol store holds: the file of its name, or the only one. More than limit
// bytes are an error.
func Expand(ctx context.Context, archive string, limit int64, w io.Writer) error {
	return expand(ctx, archive, filepath.Base(archive), limit, w)
}

// expand writes the file that goes by the name in a cabinet or zip, or else the only one in it.
func expand(ctx context.Context, archive, name string, limit int64, w io.Writer) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	magic := make([]byte, 4)
	if _, err := f.ReadAt(magic, 0); err != nil {
		return err
	}
	var members []member
	if bytes.Equal(magic, cabMagic) {
		members, err = cabinet(f, info.Size())
	} else {
		members, err = zipped(f, info.Size())
	}
	if err != nil {
		return err
	}
	m, err := choose(members, name)
	if err != nil {
		return err
	}
	r, err := m.open()
	if err != nil {
		return err
	}
	err = copyBounded(ctx, w, r, limit)
	return errors.Join(err, r.Close())
}

// A member is a file in an archive.
type member struct {
	name string
	open func() (io.ReadCloser, error)
}

func choose(members []member, name string) (member, error) {
	for _, m := range members {
		if strings.EqualFold(BaseName(m.name), name) {
			return m, nil
		}
	}
	if len(members) == 1 {
		return members[0], nil
	}
	if len(members) == 0 {
		return member{}, errors.New("there is nothing in the archive")
	}
	return member{}, fmt.Errorf("the archive has %d files, none of them called %s", len(members), name)
}

func zipped(r io.ReaderAt, size int64) ([]member, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	var members []member
	for _, f := range z.File {
		if !f.Mode().IsDir() {
			members = append(members, member{f.Name, f.Open})
		}
	}
	return members, nil
}

// copyBounded copies at most limit bytes, and stops when the context ends.
func copyBounded(ctx context.Context, w io.Writer, r io.Reader, limit int64) error {
	n, err := io.Copy(w, &boundedReader{ctx, io.LimitReader(r, limit+1)})
	if err == nil && n > limit {
		err = &tooBigError{limit}
	}
	return err
}

type boundedReader struct {
	ctx context.Context
	r   io.Reader
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	return b.r.Read(p)
}

// A tooBigError says that a file has more than the bytes allowed.
type tooBigError struct{ limit int64 }

func (e *tooBigError) Error() string {
	return fmt.Sprintf("the file is larger than %d bytes, the most that is taken", e.limit)
}
