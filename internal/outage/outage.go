// Package outage tells faults of the machine and of services from faults of a file, in one place, and watches what a
// worker needs. In come errors of jobs and probes; out comes an Outage with a sentence for operators, and whether the
// worker may take jobs. An outage is nobody's fault who sent a file: it costs no attempt of a job.
package outage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/blob"
	"heapdrift/internal/memory"
	"heapdrift/internal/store"
)

// A Part is what a worker needs for its jobs. Its text is a label of metrics.
type Part string

// The parts.
const (
	None     Part = "" // nothing is out of order
	TempDir  Part = "tmpdir"
	Blobs    Part = "blobs"
	Disk     Part = "disk" // any: the error names none
	Database Part = "database"
	Memory   Part = "memory"
	Handles  Part = "handles" // open files and processes
)

// Parts are all of them.
var Parts = []Part{TempDir, Blobs, Disk, Database, Memory, Handles}

// sentences say what is out of order where no probe can say more; %s is the worker.
var sentences = map[Part]string{
	TempDir:  "TMPDIR of worker %s takes no files",
	Blobs:    "Worker %s cannot use the blob store",
	Disk:     "A disk of worker %s takes no files",
	Database: "Worker %s cannot use PostgreSQL",
	Memory:   "The machine of worker %s lacks memory",
	Handles:  "The machine of worker %s lacks open files or processes",
}

// An Outage says what is out of order.
type Outage struct {
	Part     Part
	Sentence string // for users and operators
	Err      error  // what was met; nil where the sentence says all
}

func (o *Outage) Error() string {
	if o.Err == nil {
		return o.Sentence
	}
	return o.Sentence + ": " + o.Err.Error()
}

// Unwrap returns what was met.
func (o *Outage) Unwrap() error { return o.Err }

// numbers maps errors of the system to what is out of order.
var numbers = map[syscall.Errno]Part{
	syscall.ENOSPC: Disk, syscall.EDQUOT: Disk, syscall.EROFS: Disk, syscall.EIO: Disk, syscall.ESTALE: Disk,
	syscall.ENOMEM: Memory, syscall.EMFILE: Handles, syscall.ENFILE: Handles, syscall.EAGAIN: Handles,
}

// Of says which part an error is about, and None for errors of a file, of its limits or of this program.
func Of(err error) Part {
	var exceeded *memory.LimitError
	var short *memory.ShortageError
	var number syscall.Errno
	switch {
	case err == nil, errors.As(err, &exceeded): // the file needs more than the budget
		return None
	case errors.As(err, &short):
		return Memory
	case errors.As(err, &number) && numbers[number] == Disk:
		return diskOf(err)
	case errors.As(err, &number) && numbers[number] != None:
		return numbers[number]
	case evidence.IsRefusal(err):
		return None
	case store.IsQueryError(err) && (store.IsDiskFull(err) || store.IsUnavailable(err)):
		return Database
	case blob.IsFull(err), blob.IsUnavailable(err):
		return Blobs
	case number == 0 && (store.IsDiskFull(err) || store.IsUnavailable(err)): // before a query was made
		return Database
	}
	return None
}

// diskOf says where the file is that met an error: the blob store names its files relative to its folder.
func diskOf(err error) Part {
	var failed *fs.PathError
	switch {
	case !errors.As(err, &failed):
		return Disk
	case !filepath.IsAbs(failed.Path):
		return Blobs
	case isBelow(os.TempDir(), failed.Path):
		return TempDir
	}
	return Disk
}

func isBelow(dir, path string) bool {
	relative, err := filepath.Rel(dir, path)
	return err == nil && !slices.Contains(strings.Split(filepath.ToSlash(relative), "/"), "..")
}
