package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// marksFile is where heapdrift mark writes a line for each mark: the work done so far, or nothing for one more.
const marksFile = "marks.txt"

// DirVariable is the environment variable that tells the recorded program, and its children, in which folder to leave
// marks.
const DirVariable = "HEAPDRIFT_RECORDING"

// pollTime is how long to wait before a file of marks or a counter is read again.
const pollTime = 200 * time.Millisecond

// maxMarks is the size of a file of marks from which on it is none, in bytes.
const maxMarks = 1 << 20

// ParseMark reads a line of marks: the work done so far, or nil for "", which stands for one more piece.
func ParseMark(line string) (*float64, error) {
	if line = strings.TrimSpace(line); line == "" {
		return nil, nil
	}
	n, err := strconv.ParseFloat(line, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
		return nil, fmt.Errorf("%q is not an amount of work, such as 100", line)
	}
	return &n, nil
}

// Mark tells the recording in dir that its program has done work, and waits until the recording has taken a snapshot.
// work is the work done so far; nil for one more piece.
func Mark(ctx context.Context, dir string, work *float64) (*Sidecar, error) {
	s, err := ReadSidecar(dir)
	if err != nil {
		return nil, fmt.Errorf("no recording in %s: %w", dir, err)
	}
	if s.State != StateRunning {
		return nil, fmt.Errorf("the recording in %s is not running: it is %s", dir, s.State)
	}
	line := "\n"
	if work != nil {
		line = strconv.FormatFloat(*work, 'g', -1, 64) + "\n"
	}
	path := filepath.Join(dir, marksFile)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the recording in %s takes no marks: start it with --per-work", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("mark: %w", err)
	}
	_, err = file.WriteString(line)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("mark: %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("mark: %w", err)
	}
	number := bytes.Count(text, []byte("\n")) // where two marks come at once, each waits for both
	for {
		if s, err := ReadSidecar(dir); err == nil && (s.Marks >= number || s.State != StateRunning) {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the recording in %s has not answered: %w", dir, context.Cause(ctx))
		case <-time.After(pollTime):
		}
	}
}

// markReader reads what is new in a file of marks.
type markReader struct {
	path string
	seen int // lines
}

// newMarks makes the file of marks.
func newMarks(dir string) (*markReader, error) {
	m := &markReader{path: filepath.Join(dir, marksFile)}
	return m, os.WriteFile(m.path, nil, 0o644)
}

// next returns the lines that have been added since the last call.
func (m *markReader) next() ([]string, error) {
	info, err := os.Stat(m.path)
	if err != nil || info.Size() > maxMarks {
		return nil, errors.Join(err, tooLong(m.path, info))
	}
	text, err := os.ReadFile(m.path)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines = lines[:len(lines)-1] // behind the last end of a line
	if len(lines) < m.seen {
		m.seen = len(lines) // somebody has emptied the file
	}
	added := lines[m.seen:]
	m.seen = len(lines)
	return added, nil
}

func tooLong(path string, info os.FileInfo) error {
	if info == nil {
		return nil
	}
	return fmt.Errorf("%s: %d bytes are too many", path, info.Size())
}

// announceDir is where recordings that take marks say which folder is theirs, in the folder of temporary files.
const announceDir = "heapdrift-recordings"

// announce lets heapdrift mark find a recording without being told its folder. The result withdraws it.
func announce(dir string) (withdraw func()) {
	folder := filepath.Join(os.TempDir(), announceDir)
	path := filepath.Join(folder, strconv.Itoa(os.Getpid()))
	if os.MkdirAll(folder, 0o755) != nil || os.WriteFile(path, []byte(dir), 0o644) != nil {
		return func() {} // heapdrift mark --dir still finds it
	}
	return func() { _ = os.Remove(path) }
}

// FindRecording is the folder of the recording that a mark is for: the one whose program calls, else the only one that
// takes marks.
func FindRecording() (string, error) {
	if dir := os.Getenv(DirVariable); dir != "" {
		return dir, nil
	}
	entries, err := os.ReadDir(filepath.Join(os.TempDir(), announceDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("mark: %w", err)
	}
	var running []string
	for _, entry := range entries {
		dir, err := os.ReadFile(filepath.Join(os.TempDir(), announceDir, entry.Name()))
		if err != nil {
			continue // withdrawn meanwhile
		}
		if s, err := ReadSidecar(string(dir)); err == nil && s.State == StateRunning {
			running = append(running, string(dir))
		}
	}
	switch len(running) {
	case 0:
		return "", errors.New("no recording takes marks: start one with heapdrift record --per-work, or name its folder by --dir")
	case 1:
		return running[0], nil
	}
	return "", fmt.Errorf("several recordings take marks: choose one by --dir: %s", strings.Join(running, ", "))
}
