// Package flags sets what Windows needs to record allocations of a program, and restores exactly what was there before.
//
// Windows reads the settings of a program when it starts, from the key of its file name below
// Image File Execution Options:
//
//	GlobalFlag                  bit 0x1000: keep the call stack of each heap block (gflags +ust)
//	StackTraceDatabaseSizeInMb  the room for these stacks (gflags /tracedb)
//	TracingFlags                bit 1: report heap events to traces (wpr -heaptracingconfig)
//
// What is changed stands in an undo file before it is changed, so that a recorder that is killed leaves nothing behind
// that nobody knows of.
package flags

import (
	"errors"
	"fmt"
	"strings"
)

// The values that record changes, and the bits that it sets.
const (
	// The names of the registry values that record changes, and the bits that it sets.
	GlobalFlag    = "GlobalFlag"
	TraceDatabase = "StackTraceDatabaseSizeInMb"
	TracingFlags  = "TracingFlags"

	StackTraces = 0x1000 // FLG_USER_STACK_TRACE_DB of GlobalFlag
	heapTracing = 0x1    // of TracingFlags
)

// Root is the key in HKEY_LOCAL_MACHINE that has a key for each program.
const Root = `SOFTWARE\Microsoft\Windows NT\CurrentVersion\Image File Execution Options`

// A Registry holds the settings of programs. image is the file name of the program, name that of a value below its key.
// A *Value is nil where it is absent.
type Registry interface {
	// HasKey reports whether the program has a key.
	HasKey(image string) (bool, error)
	Get(image, name string) (*Value, error)
	// Get32 is Get in the view that 32-bit programs see.
	Get32(image, name string) (*Value, error)
	// Set sets a value, and makes the key where it is missing.
	Set(image, name string, v Value) error
	Delete(image, name string) error
	// DeleteKey deletes the key of a program if it is empty.
	DeleteKey(image string) error
}

// A Want says which settings a recording needs.
type Want struct {
	Stacks      bool   // the call stack of each block
	DatabaseMB  uint32 // least size of the stack trace database in MB; 0 leaves the size
	HeapTracing bool   // heap events in traces
}

// Nothing reports that no setting is needed.
func (w Want) Nothing() bool { return !w.Stacks && !w.HeapTracing }

// A Change is one value that a recording changes.
type Change struct {
	Name   string `json:"name"`   // of the value
	Before *Value `json:"before"` // nil: the value was absent
	After  *Value `json:"after"`  // never nil
}

// String shows the change: name, old and new value.
func (c *Change) String() string {
	if c.Name == TraceDatabase {
		return fmt.Sprintf("%s: %s → %s MB", c.Name, c.Before.decimal(), c.After.decimal())
	}
	return fmt.Sprintf("%s: %s → %s", c.Name, c.Before, c.After)
}

// Compute returns the changes that a program needs; none for values that are as wanted.
func Compute(r Registry, image string, want Want) ([]Change, error) {
	var changes []Change
	for _, row := range []struct {
		name   string
		needed bool
		change func(n uint32) uint32
	}{
		{GlobalFlag, want.Stacks, func(n uint32) uint32 { return n | StackTraces }},
		{TraceDatabase, want.Stacks && want.DatabaseMB > 0, func(n uint32) uint32 { return max(n, want.DatabaseMB) }},
		{TracingFlags, want.HeapTracing, func(n uint32) uint32 { return n | heapTracing }},
	} {
		if !row.needed {
			continue
		}
		before, err := r.Get(image, row.name)
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", row.name, image, err)
		}
		n := uint32(0)
		if before != nil {
			if n, err = before.number(); err != nil {
				return nil, fmt.Errorf(`%s in HKLM\%s\%s: %w; correct or delete the value first`, row.name, Root, image, err)
			}
		}
		if before != nil && row.change(n) == n {
			continue
		}
		after := before.with(row.change(n))
		changes = append(changes, Change{row.name, before, &after})
	}
	return changes, nil
}

// Apply makes the changes that an undo file holds. After an error it has restored what it changed, unless the error
// says otherwise.
func (u *Undo) Apply(r Registry) error {
	for i := range u.Changes {
		c := &u.Changes[i]
		if err := r.Set(u.Image, c.Name, *c.After); err != nil {
			return u.failed(r, fmt.Errorf("set %s of %s: %w", c.Name, u.Image, err))
		}
		// Both views share the key from Windows 7 on. Where they do not, a program of 32 bit would run without stacks.
		seen, err := r.Get32(u.Image, c.Name)
		if err != nil || !equal(seen, c.After) {
			return u.failed(r, errors.Join(fmt.Errorf("programs of 32 bit do not see %s of %s", c.Name, u.Image), err))
		}
	}
	return nil
}

// failed restores what was changed before err.
func (u *Undo) failed(r Registry, err error) error {
	_, restoring := u.Restore(r)
	return errors.Join(err, restoring)
}

// Restore makes every value what it was before. A value that somebody else has changed meanwhile stays, except for the
// bits that record has set; notes say so. It may be called again: what is restored already stays.
func (u *Undo) Restore(r Registry) (notes []string, err error) {
	var failures []error
	for i := range u.Changes {
		note, err := u.restore(r, &u.Changes[i])
		if err != nil {
			failures = append(failures, fmt.Errorf(`restore %s to %s in HKLM\%s\%s: %w`, u.Changes[i].Name,
				u.Changes[i].Before, Root, u.Image, err))
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	if len(failures) == 0 && !u.HadKey {
		if err := r.DeleteKey(u.Image); err != nil {
			failures = append(failures, fmt.Errorf(`delete the empty key HKLM\%s\%s: %w`, Root, u.Image, err))
		}
	}
	return notes, errors.Join(failures...)
}

func (u *Undo) restore(r Registry, c *Change) (note string, err error) {
	now, err := r.Get(u.Image, c.Name)
	switch {
	case err != nil:
		return "", err
	case equal(now, c.Before):
		return "", nil
	case equal(now, c.After) && c.Before == nil:
		return "", r.Delete(u.Image, c.Name)
	case equal(now, c.After):
		return "", r.Set(u.Image, c.Name, *c.Before)
	}
	note = fmt.Sprintf("%s of %s is %s now: changed by another program since record set it to %s", c.Name, u.Image, now,
		c.After)
	if added := c.addedBits(); added != 0 && now != nil {
		if n, err := now.number(); err == nil && n&added != 0 {
			return note + "; only what record added is removed", r.Set(u.Image, c.Name, now.with(n&^added))
		}
	}
	return note + "; it stays", nil
}

// addedBits are the bits that record has added to a value of bits.
func (c *Change) addedBits() uint32 {
	if c.Name == TraceDatabase {
		return 0
	}
	before := uint32(0)
	if c.Before != nil {
		before, _ = c.Before.number() // it was a number when the file was written
	}
	after, err := c.After.number()
	if err != nil {
		return 0
	}
	return after &^ before
}

// ImageName is the file name of a program, which is the name of its key; "" where it cannot be one.
func ImageName(path string) string {
	name := path[strings.LastIndexAny(path, `\/`)+1:]
	if name == "" || len(name) > maxImageName || strings.ContainsAny(name, "*?\"<>|:\x00") {
		return ""
	}
	return name
}

// maxImageName is the longest file name of Windows.
const maxImageName = 255
