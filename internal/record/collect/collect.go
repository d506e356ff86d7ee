// Package collect takes the evidence of a process: snapshots one by one, or a trace of the whole time.
package collect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"heapdrift/internal/record/flags"
	"heapdrift/internal/record/target"
)

// The kinds of evidence.
const (
	// The kinds of evidence: values of --evidence. Auto chooses by the machine and the process.
	Auto  = "auto"
	Heap  = "heap"
	UMDH  = "umdh"
	Trace = "trace"
	Dump  = "dump"
)

// Kinds are all values of --evidence.
var Kinds = []string{Auto, Heap, UMDH, Trace, Dump}

// A Cost is what a snapshot cost.
type Cost struct {
	Pause time.Duration // how long the process was suspended
	Took  time.Duration // from the beginning to the written file
	Bytes int64         // of the file
	Notes []string      // what was not read, in sentences
}

// A TakeSnapshot writes a snapshot of a process to a file. work is how much work the process has done; nil for unknown.
type TakeSnapshot func(ctx context.Context, p target.Info, path string, work *float64) (Cost, error)

// ErrNoHeap is why a process cannot be recorded by snapshots of its heaps.
var ErrNoHeap = errors.New("no heap of Windows was recognised")

// A Collector records one kind of evidence.
type Collector struct {
	Kind string
	// Extension of the files, with its dot.
	Extension string
	// Want are the settings of Windows that the evidence needs.
	Want flags.Want
	// WantedAtStart says that Windows reads the settings only when the process starts: they can be restored then. If it
	// is false they must stay.
	WantedAtStart bool
	// Elevated says that only administrators may collect it.
	Elevated bool
	// Needs returns an error that says what the machine lacks; nil where the evidence can be taken. bits are those of
	// the process.
	Needs func(bits int) error
	// Take takes a snapshot; nil for a trace.
	Take TakeSnapshot
	// Begin starts a trace before the process starts, or of a process that runs already. End ends it and writes the file.
	Begin func(ctx context.Context, dir string, pid uint32) error
	End   func(ctx context.Context, path string) (Cost, error)
	// Costs is a sentence on what the evidence costs, for the plan.
	Costs string
	// Why is a sentence on why the kind was chosen; "" where the user chose it.
	Why string
	// Fallback is used instead if the first snapshot fails with ErrNoHeap; nil for none.
	Fallback *Collector
}

// Tools are what collectors use of the machine.
type Tools struct {
	Run target.Runner
	// HeapReader is the program's own reader of heaps; nil where it has none.
	HeapReader TakeSnapshot
	// Find finds a program of the Windows Kits or of the PATH; bits are 0 for any.
	Find func(name string, bits int) (string, error)
}

// New makes the collector of a kind, for Auto the best that the machine has. databaseMB is the least size of the stack
// trace database; 0 leaves the size.
func New(kind string, t *Tools, databaseMB uint32) (*Collector, error) {
	stacks := flags.Want{Stacks: true, DatabaseMB: databaseMB}
	switch kind {
	case Auto:
		return choose(t, databaseMB)
	case Heap:
		if t.HeapReader == nil {
			return nil, fmt.Errorf("this program has no reader of heaps: use --evidence umdh or dump")
		}
		return &Collector{Kind: Heap, Extension: ".hdsnap", Want: stacks, WantedAtStart: true, Take: t.HeapReader,
			Costs: "each snapshot pauses the process while its heaps are copied"}, nil
	case UMDH:
		return newUMDH(t, stacks), nil
	case Dump:
		return &Collector{Kind: Dump, Extension: ".dmp", Want: stacks, WantedAtStart: true, Take: takeDump,
			Costs: "each dump pauses the process while all of its memory is written"}, nil
	case Trace:
		return newTrace(t), nil
	}
	return nil, fmt.Errorf("--evidence: %q is none of auto, heap, umdh, trace and dump", kind)
}

// choose takes the evidence that decides with the least cost. Where the own reader does not recognise the heaps of a
// process, the tools take over that are there.
func choose(t *Tools, databaseMB uint32) (*Collector, error) {
	kind, why := Dump, "no umdh.exe is installed, and dumps need nothing that is"
	if found(t, umdhName) {
		kind, why = UMDH, "umdh.exe is installed, and its logs are smaller than dumps"
	}
	c, err := New(kind, t, databaseMB)
	if err != nil {
		return nil, err
	}
	c.Why = why
	if t.HeapReader == nil {
		return c, nil
	}
	own, err := New(Heap, t, databaseMB)
	if err != nil {
		return nil, err
	}
	own.Why, own.Fallback = "its snapshots have the shortest pause and the smallest files, and need no other program", c
	return own, nil
}

func found(t *Tools, name string) bool {
	_, err := t.Find(name, 0)
	return err == nil
}
