// Package resumer lets a suspended process go on when the program that has suspended it is killed.
//
//	heapdrift ── starts ──→ starter ── starts ──→ resumer
//	    └────────── "s" before a pause, "r" after it ──┘
//
// The resumer waits for the end of its input. It is a process of its own, as nobody else learns of a kill: Windows
// keeps a process suspended whose suspender has ended. If the last letter is an s, it resumes the process. The starter
// ends at once, so that the resumer is not in the tree of processes that "taskkill /t" ends.
package resumer

import (
	"errors"
	"io"
	"os"
	"strconv"
)

// argument is the first of a starter and of a resumer; the handle of the process is the second.
const starterArgument, resumerArgument = "start-resumer", "resume-suspended"

// The letters that a resumer reads, and the one that it writes when it is there.
const (
	suspending = 's'
	resumed    = 'r'
	ready      = '+'
)

// ErrUnsupported is returned where processes cannot be suspended.
var ErrUnsupported = errors.New("resumer: only Windows suspends processes")

// Main makes this program a starter or a resumer where it is called as one, and does not return then. A program that
// calls Start calls it first.
func Main() {
	if len(os.Args) != 3 || os.Args[1] != starterArgument && os.Args[1] != resumerArgument {
		return
	}
	handle, err := strconv.ParseUint(os.Args[2], 10, 64)
	if err == nil {
		err = runAs(os.Args[1], uintptr(handle))
	}
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// watch reads the letters until they end, and calls resume where they end inside a pause.
func watch(in io.Reader, resume func() error) error {
	var last, letter [1]byte
	for {
		_, err := io.ReadFull(in, letter[:])
		if err != nil && last[0] == suspending {
			return resume()
		}
		if err != nil {
			return nil //nolint:nilerr // the end of the input is the end of the work
		}
		last = letter
	}
}

// A Resumer is the process that waits. Its zero value is none.
type Resumer struct{ letters io.WriteCloser }

// Suspending is called before the process is suspended.
func (r *Resumer) Suspending() { r.tell(suspending) }

// Resumed is called when the process goes on.
func (r *Resumer) Resumed() { r.tell(resumed) }

func (r *Resumer) tell(letter byte) {
	if r != nil && r.letters != nil {
		_, _ = r.letters.Write([]byte{letter}) // a resumer that has ended cannot be helped
	}
}

// Close ends the resumer. The process runs then.
func (r *Resumer) Close() {
	if r != nil && r.letters != nil {
		_ = r.letters.Close()
	}
}
