package flags

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// undoSchema is the version of undo files.
const undoSchema = "heapdrift.undo/v1"

// maxUndoFile is the size from which on a file is none of ours, in bytes.
const maxUndoFile = 64 << 10

// An Undo is what a recording changed on a machine, and what was there before.
type Undo struct {
	Schema string `json:"schema"`
	Image  string `json:"image"` // file name of the program
	Host   string `json:"host"`  // name of the machine
	// RecorderPID is the pid of the recorder, which restores the settings itself as long as it runs. RecorderStarted tells
	// it from a later process with the same pid.
	RecorderPID     uint32    `json:"recorder_pid"`
	RecorderStarted time.Time `json:"recorder_started"`
	SetAt           time.Time `json:"set_at"`  // when the settings were changed
	HadKey          bool      `json:"had_key"` // the program had a key before
	Changes         []Change  `json:"changes"`
	// Task is the name of the scheduled task that restores the settings if the recorder does not; "" for none.
	Task string `json:"task,omitempty"`
	// Server has to hear of the end of the changes; nil where none was told of them.
	Server *Server `json:"server,omitempty"`
	// RestoredAt is when all was as before again: the file stays until the server has heard of it. Absent before.
	RestoredAt *time.Time `json:"restored_at,omitempty"`

	path string
}

// A Server shows the settings of this machine as changed until it hears that they are restored.
type Server struct {
	URL     string `json:"url"`
	Project string `json:"project"`
	// Key proves to the server that this recording is meant. It says nothing more, so that whoever reads the file may
	// know it: the task runs as the system, which has no token.
	Key string `json:"key"`
}

// NewKey is a key that nobody guesses.
func NewKey() string { return rand.Text() }

// Digest is what the server knows of the key.
func (s *Server) Digest() string {
	sum := sha256.Sum256([]byte(s.Key))
	return hex.EncodeToString(sum[:])
}

// New makes the Undo for changes that are about to be made to the settings of a program. It changes nothing and writes
// no file: Write does, then Apply.
func New(r Registry, image string, changes []Change) (*Undo, error) {
	had, err := r.HasKey(image)
	if err != nil {
		return nil, fmt.Errorf("read the settings of %s: %w", image, err)
	}
	host, _ := os.Hostname() // informs people only
	return &Undo{Schema: undoSchema, Image: image, Host: host, RecorderPID: uint32(os.Getpid()), SetAt: time.Now(),
		HadKey: had, Changes: changes}, nil
}

// Write writes the undo file, and returns once it is on the disk. Nothing may be changed before.
func (u *Undo) Write(dir string) error {
	text, err := json.MarshalIndent(u, "", "  ")
	if err != nil {
		return err
	}
	if u.path == "" {
		u.path = filepath.Join(dir, fmt.Sprintf("%s-%d-%s.json", u.Image, u.RecorderPID, u.SetAt.UTC().Format("20060102T150405")))
	}
	temp, err := os.CreateTemp(dir, ".undo-*")
	if err != nil {
		return fmt.Errorf("undo file: %w", err)
	}
	defer func() { _ = os.Remove(temp.Name()) }() // gone after the rename
	_, err = temp.Write(append(text, '\n'))
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), u.path)
	}
	if err != nil {
		return fmt.Errorf("undo file: %w", err)
	}
	return nil
}

// Path is the path of the undo file; "" before Write.
func (u *Undo) Path() string { return u.path }

// Remove deletes the undo file once all is restored.
func (u *Undo) Remove() error { return os.Remove(u.path) }

// List reads the undo files of a folder whose settings are changed still, oldest first. Beside an error it returns the
// others.
func List(dir string) ([]*Undo, error) {
	undos, err := list(dir)
	return slices.DeleteFunc(undos, func(u *Undo) bool { return u.RestoredAt != nil }), err
}

// ListRestored reads the undo files of a folder whose settings are restored, and whose server has not heard of it.
func ListRestored(dir string) ([]*Undo, error) {
	undos, err := list(dir)
	return slices.DeleteFunc(undos, func(u *Undo) bool { return u.RestoredAt == nil }), err
}

func list(dir string) ([]*Undo, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("undo files: %w", err)
	}
	var undos []*Undo
	var failures []error
	for _, entry := range entries {
		if entry.IsDir() || filepath.Ext(entry.Name()) != ".json" {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		u, err := readFile(path)
		if err != nil {
			failures = append(failures, fmt.Errorf("undo file %s: %w", path, err))
			continue
		}
		undos = append(undos, u)
	}
	slices.SortStableFunc(undos, func(a, b *Undo) int { return a.SetAt.Compare(b.SetAt) })
	return undos, errors.Join(failures...)
}

func readFile(path string) (*Undo, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxUndoFile+1))
	if err != nil {
		return nil, err
	}
	u, err := Parse(text)
	if err != nil {
		return nil, err
	}
	u.path = path
	return u, nil
}

// maxData is the longest value that record changes, in bytes: a number as text.
const maxData = 64

// Parse reads an undo file. It refuses whatever record does not write: the file is applied with the rights of an
// administrator.
func Parse(text []byte) (*Undo, error) {
	if len(text) > maxUndoFile {
		return nil, fmt.Errorf("longer than %d bytes", maxUndoFile)
	}
	u := new(Undo)
	if err := json.Unmarshal(text, u); err != nil {
		return nil, err
	}
	if u.Schema != undoSchema {
		return nil, fmt.Errorf("schema %q is not %s", u.Schema, undoSchema)
	}
	if u.Image == "" || ImageName(u.Image) != u.Image || strings.TrimLeft(u.Image, ".") == "" {
		return nil, fmt.Errorf("%q is not the name of a program", u.Image)
	}
	for i := range u.Changes {
		c := &u.Changes[i]
		if !slices.Contains([]string{GlobalFlag, TraceDatabase, TracingFlags}, c.Name) {
			return nil, fmt.Errorf("%q is not a value that record changes", c.Name)
		}
		if c.After == nil {
			return nil, fmt.Errorf("%s: no value that record set", c.Name)
		}
		for _, v := range []*Value{c.Before, c.After} {
			if v == nil {
				continue
			}
			if _, err := v.number(); err != nil || len(v.Data) > maxData {
				return nil, fmt.Errorf("%s: %s is not a value that record changes", c.Name, v)
			}
		}
	}
	return u, nil
}
