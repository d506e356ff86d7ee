package operators

import (
	"fmt"
	"strings"

	"heapdrift/internal/memory"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/store"
)

// A sign is what a failure shows, and what an operator does about it.
type sign struct {
	code  string // of the failure; "" for any
	text  string // in the text of its error; "" for any
	means string
}

// signs are asked in their order: the first that matches counts.
var signs = []sign{
	{"", "panicked", "heapdrift has a bug: report it with this text. Jobs are retried by the next version."},
	{"", "SQLSTATE 22021", "PostgreSQL refused a text of the file: report it with the file. Jobs are retried by the next version."},
	{"", "SQLSTATE 53100", "The disk of PostgreSQL is full: free space there, then retry."},
	{"", "SQLSTATE 42501", "The account of HEAPDRIFT_DATABASE_URL lacks a right: grant it, then retry."},
	{"", "permission denied", "The worker may not use a file: correct its owner, then retry."},
	{"", "AccessDenied", "The key of HEAPDRIFT_BLOB_URL lacks a right: grant it, then retry."},
	{"blob-missing", "", "The blob store has lost the file: restore it from the backup, then retry."},
	{"worker-lost", "", "The worker ended while it ran the job, in every attempt: look for \"Out of memory\" in the log of its machine."},
	{memory.Code, "", "The file needs more than HEAPDRIFT_MEMORY: raise it, then retry."},
	{sandbox.CodeCrashed, "panic: ", "heapdrift has a bug, which this file shows: report it with this text."},
	{sandbox.CodeCrashed, "signal: killed", "The job's process was killed: look for who did it in the log of the worker's machine."},
	{sandbox.CodeCrashed, "", "The job's process crashed: report it with this text. The file may be damaged."},
	{sandbox.CodeStuck, "", "The job's process stood still: the disk of the worker may hang."},
	{sandbox.CodeExpensive, "", "The file took more processor time than files of its size need: it may be damaged."},
	{"internal", "", "heapdrift failed: if a retry fails, too, report it with this text."},
}

// diagnosis is a line on why a job failed.
func diagnosis(j *store.FailedJob) string {
	for _, s := range signs {
		if (s.code == "" || s.code == j.ErrorCode) && strings.Contains(j.Cause, s.text) {
			return s.means
		}
	}
	return "The file was refused for its content: a retry gives the same."
}

// workerOf names the worker that failed a job.
func workerOf(j *store.FailedJob) string {
	if j.Worker == "" {
		return "–"
	}
	return fmt.Sprintf("%s (PID %d, version %s)", j.Worker, j.WorkerPID, j.FailedBy)
}
