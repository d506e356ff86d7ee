package target

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// pollTime is how long to wait before the list of processes is read again.
const pollTime = 250 * time.Millisecond

// WaitForStart waits until a process of the program runs whose pid is not one of known, and opens it.
func WaitForStart(ctx context.Context, s System, image string, known []uint32) (Running, error) {
	for {
		pids, err := s.Find(image)
		if err != nil {
			return nil, err
		}
		for _, pid := range pids {
			if slices.Contains(known, pid) {
				continue
			}
			if r, err := s.Open(pid); err == nil { // it may have ended already
				return r, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pollTime):
		}
	}
}

// Only opens the process of a program; nil where none runs, and an error where several do.
func Only(s System, image string) (Running, error) {
	pids, err := s.Find(image)
	if err != nil || len(pids) == 0 {
		return nil, err
	}
	if len(pids) > 1 {
		return nil, fmt.Errorf("%s runs %d times, as PID %s: choose one by --pid", image, len(pids),
			strings.Trim(fmt.Sprint(pids), "[]"))
	}
	return s.Open(pids[0])
}

// OwnService returns an error for a service that shares its process with others: settings would affect all of them.
// path is its program.
func OwnService(name, path string) error {
	if strings.EqualFold(base(path), sharedHost) {
		return fmt.Errorf("service %s runs in %s, whose settings all services share: record its process by --pid",
			name, sharedHost)
	}
	return nil
}

func base(path string) string { return path[strings.LastIndexAny(path, `\/`)+1:] }

// ProgramOf is the path of the program in the command line of a service: quoted, or up to the first .exe.
func ProgramOf(commandLine string) string {
	line := strings.TrimSpace(commandLine)
	if rest, quoted := strings.CutPrefix(line, `"`); quoted {
		path, _, _ := strings.Cut(rest, `"`)
		return path
	}
	if i := strings.Index(strings.ToLower(line), ".exe"); i >= 0 {
		return line[:i+len(".exe")]
	}
	path, _, _ := strings.Cut(line, " ")
	return path
}

// SameImage reports whether two names are of the same file, as Windows compares them.
func SameImage(a, b string) bool { return strings.EqualFold(a, b) }
