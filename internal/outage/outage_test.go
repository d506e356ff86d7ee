package outage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/minio/minio-go/v7"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/blob"
	"heapdrift/internal/memory"
	"heapdrift/internal/tempfile"
)

// Faults of the machine and of services are told from faults of a file, wherever they stand in the chain of an error.
func TestOf(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	at := func(path string, number syscall.Errno) error {
		return &fs.PathError{Op: "write", Path: path, Err: number}
	}
	for what, test := range map[string]struct {
		err  error
		want Part
	}{
		"nothing":                          {nil, None},
		"TMPDIR is full":                   {at(filepath.Join(temp, "heapdrift-task-1"), syscall.ENOSPC), TempDir},
		"TMPDIR itself":                    {at(temp, syscall.EROFS), TempDir},
		"beside TMPDIR":                    {at(temp+"-other/x", syscall.ENOSPC), Disk},
		"above TMPDIR":                     {at(filepath.Dir(temp), syscall.EDQUOT), Disk},
		"a name with two dots":             {at(filepath.Join(temp, "..x"), syscall.EIO), TempDir},
		"the blob folder":                  {at(".incoming/x", syscall.EIO), Blobs},
		"a disk without a name":            {syscall.ENOSPC, Disk},
		"a stale handle of NFS":            {syscall.ESTALE, Disk},
		"no memory for a process":          {syscall.ENOMEM, Memory},
		"ended for lack of memory":         {&memory.ShortageError{}, Memory},
		"more than the budget":             {&memory.LimitError{Limit: 1}, None},
		"more than the budget, and ENOMEM": {errors.Join(&memory.LimitError{Limit: 1}, syscall.ENOMEM), None},
		"open files":                       {syscall.EMFILE, Handles},
		"open files of the machine":        {syscall.ENFILE, Handles},
		"processes":                        {syscall.EAGAIN, Handles},
		"no such file":                     {syscall.ENOENT, None},
		"too large a file":                 {syscall.EFBIG, None},
		"S3 is full":                       {minio.ErrorResponse{StatusCode: 507}, Blobs},
		"S3 is away":                       {minio.ErrorResponse{StatusCode: 503}, Blobs},
		"S3 refuses":                       {minio.ErrorResponse{StatusCode: 403, Code: "AccessDenied"}, None},
		"no network":                       {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, Blobs},
		"a connection that broke":          {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, Blobs},
		"a database's connection":          {errors.New("conn closed"), Database},
		"no such blob":                     {blob.ErrNotFound, None},
		"a file that ends early":           {io.ErrUnexpectedEOF, None},
		"a refusal":                        {&evidence.Error{Code: "not-etl"}, None},
		"a refusal for a full disk":        {&evidence.Error{Code: "not-etl", Err: at(filepath.Join(temp, "x"), syscall.ENOSPC)}, TempDir},
		"a refusal for a bad archive":      {&evidence.Error{Code: "damaged-archive", Err: io.ErrUnexpectedEOF}, None},
		"a bug":                            {errors.New("index out of range"), None},
		"a text that the store cannot":     {errors.New("invalid byte sequence (SQLSTATE 22021)"), None},
	} {
		err := test.err
		if err != nil {
			err = fmt.Errorf("worker: %w", err)
		}
		if got := Of(err); got != test.want {
			t.Errorf("%s: %q, want %q", what, got, test.want)
		}
	}
	for _, part := range Parts {
		if o := met(part, "w2", io.EOF); !strings.Contains(o.Error(), "w2") || !strings.HasSuffix(o.Error(), ": EOF") || !errors.Is(o, io.EOF) {
			t.Errorf("%q: %s", part, o)
		}
	}
}

// Below the minimum a disk has no room for a job, at the minimum it has.
func TestMinimumOfFreeSpace(t *testing.T) {
	for _, test := range []struct {
		free  int64
		known bool
		want  string
	}{
		{0, true, "TMPDIR of worker w2 is full: 0 B of 512 MB free (64.0 MB needed)"},
		{MinFree - 1, true, "TMPDIR of worker w2 is full: 64.0 MB of 512 MB free (64.0 MB needed)"},
		{MinFree, true, ""},
		{MinFree + 1, true, ""},
		{0, false, ""},
	} {
		got := ""
		if o := lowOn(TempDir, "TMPDIR of worker w2", func() (int64, int64, bool) { return test.free, 512 << 20, test.known }); o != nil {
			got = o.Error()
		}
		if got != test.want {
			t.Errorf("%d free: %q, want %q", test.free, got, test.want)
		}
	}
	if MinFree != 64<<20 {
		t.Errorf("the documentation names another minimum than %d", MinFree)
	}
}

// A probe uses what jobs use, says what fails, and leaves nothing.
func TestProbes(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	if free, _, known := tempfile.Space(temp); known && free < 2*MinFree {
		t.Skipf("%d bytes are free", free)
	}
	blobs, err := blob.Open(t.Context(), "file://"+dir)
	if err != nil {
		t.Fatal(err)
	}
	var away error
	for _, probe := range []Probe{OfTempDir("w2"), OfBlobs("w2", blobs),
		OfDatabase("w2", func(context.Context) error { return away })} {
		if o := probe.Try(t.Context()); o != nil {
			t.Error(o)
		}
	}
	away = io.EOF
	if o := OfDatabase("w2", func(context.Context) error { return away }).Try(t.Context()); o == nil ||
		o.Error() != "Worker w2 cannot use PostgreSQL: EOF" {
		t.Errorf("the database: %v", o)
	}
	for info, err := range blobs.List(t.Context(), "") {
		t.Errorf("left: %v, %v", info, err)
	}
	if left, err := filepath.Glob(temp + "/*"); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	t.Setenv("TMPDIR", filepath.Join(temp, "none"))
	if o := OfTempDir("w2").Try(t.Context()); o == nil || !strings.HasPrefix(o.Error(), "TMPDIR of worker w2 takes no files: ") {
		t.Errorf("TMPDIR: %v", o)
	}
	if o := OfBlobs("w2", forgetful{blobs}).Try(t.Context()); o == nil || o.Part != Blobs {
		t.Errorf("blobs that read differently: %v", o)
	}
}

// A forgetful store reads zeros.
type forgetful struct{ blob.Store }

func (f forgetful) Open(ctx context.Context, key string) (blob.Reader, error) {
	r, err := f.Store.Open(ctx, key)
	return zeros{r}, err
}

type zeros struct{ blob.Reader }

func (z zeros) ReadAt(p []byte, off int64) (int, error) {
	n, err := z.Reader.ReadAt(p, off)
	clear(p)
	return n, err //nolint:wrapcheck // a reader passes errors on as they are
}
