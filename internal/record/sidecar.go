package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"heapdrift/internal/record/flags"
)

// SidecarFile is the name of the file beside the evidence that says how it was taken.
const SidecarFile = "recording.json"

// sidecarSchema is the version of sidecars.
const sidecarSchema = "heapdrift.recording/v1"

// Labels say which run was recorded, as flags of push do; "" for not said.
type Labels struct {
	Project  string `json:"project,omitempty"`
	Build    string `json:"build,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Branch   string `json:"branch,omitempty"`
	Scenario string `json:"scenario,omitempty"`
}

// The states of a recording.
const (
	StateRunning     = "running"
	StateEnded       = "ended"
	StateInterrupted = "interrupted"
	StateFailed      = "failed"
)

// A Sidecar says how evidence was taken.
type Sidecar struct {
	Schema      string `json:"schema"`
	State       string `json:"state"`        // one of the State constants
	Heapdrift   string `json:"heapdrift"`    // the version of this program
	RecorderPID uint32 `json:"recorder_pid"` // pid of the recorder

	Host    string      `json:"host"` // name of the machine
	OS      string      `json:"os"`   // with its build
	Process ProcessInfo `json:"process"`
	Labels

	Evidence string     `json:"evidence"` // a kind of package collect
	Began    time.Time  `json:"began"`
	Ended    *time.Time `json:"ended,omitempty"` // nil while it runs
	WorkUnit string     `json:"work_unit,omitempty"`
	// Watch says that every run of the program is recorded. EveryNS is the time between two snapshots in ns; 0 where
	// they follow the work.
	Watch     bool       `json:"watch,omitempty"`
	EveryNS   int64      `json:"every_ns,omitempty"`
	Snapshots []Snapshot `json:"snapshots"`
	// Marks is how many marks the recording has answered.
	Marks int `json:"marks"`

	Settings Settings `json:"settings"`
	Notes    []string `json:"notes,omitempty"` // sentences
}

// ProcessInfo is the process that was recorded.
type ProcessInfo struct {
	Image   string    `json:"image"`          // file name of the program
	Path    string    `json:"path,omitempty"` // of the program's file; "" where Windows does not tell
	PID     uint32    `json:"pid"`
	Bits    int       `json:"bits,omitempty"` // 32 or 64; 0 where Windows does not tell
	Started time.Time `json:"started"`
	// ExitCode is nil unless the process ended during the recording.
	ExitCode *uint32 `json:"exit_code,omitempty"`
}

// A Snapshot is one file of evidence; a trace is one, too.
type Snapshot struct {
	File    string    `json:"file"` // file name
	TakenAt time.Time `json:"taken_at"`
	Bytes   int64     `json:"bytes"`    // size of the file
	PauseMS float64   `json:"pause_ms"` // how long the process was suspended
	TookMS  float64   `json:"took_ms"`  // from the beginning to the written file
	// Work is how much work the process had done; nil where unknown.
	Work  *float64 `json:"work,omitempty"`
	Notes []string `json:"notes,omitempty"` // what was not read, in sentences
}

// Settings are those of Windows that the recording needed.
type Settings struct {
	Changed []flags.Change `json:"changed"`
	// SetAt is when they were changed: before the recording began, where a watch set them. Absent where nothing is changed.
	SetAt      *time.Time `json:"set_at,omitempty"`
	Undo       string     `json:"undo_file,omitempty"` // path of the undo file
	Task       string     `json:"task,omitempty"`      // name of the scheduled task; "" for none
	RestoredAt *time.Time `json:"restored,omitempty"`  // nil while they are changed
	// RestoreKey is the SHA-256 of what proves to the server that these settings are restored; "" for none.
	RestoreKey string   `json:"restore_key,omitempty"`
	Notes      []string `json:"notes,omitempty"`
}

// save writes the sidecar, whole or not at all: marks are answered by it.
func (r *Recording) save() error {
	text, err := json.MarshalIndent(&r.Sidecar, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(r.Dir, SidecarFile)
	temp := path + ".new"
	if err := os.WriteFile(temp, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("%s: %w", SidecarFile, err)
	}
	if err := replace(temp, path); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", SidecarFile, err), os.Remove(temp))
	}
	return nil
}

// replaceTries and replacePause bound the wait for a reader: Windows replaces no file that is open.
const replaceTries, replacePause = 20, 50 * time.Millisecond

func replace(from, to string) (err error) {
	for range replaceTries {
		if err = os.Rename(from, to); err == nil {
			return nil
		}
		<-time.After(replacePause)
	}
	return err
}

// maxSidecar is the size from which on a file is none of ours, in bytes.
const maxSidecar = 16 << 20

// ReadSidecar reads the sidecar of a recording's folder.
func ReadSidecar(dir string) (*Sidecar, error) {
	path := filepath.Join(dir, SidecarFile)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxSidecar {
		return nil, fmt.Errorf("%s: %d bytes are too many", path, info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseSidecar(text)
}

// ParseSidecar reads a sidecar.
func ParseSidecar(text []byte) (*Sidecar, error) {
	s := new(Sidecar)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%s: %w", SidecarFile, err)
	}
	if s.Schema != sidecarSchema {
		return nil, fmt.Errorf("%s: schema %q is not %s", SidecarFile, s.Schema, sidecarSchema)
	}
	return s, nil
}
