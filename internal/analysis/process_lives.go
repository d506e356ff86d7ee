package analysis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"heapdrift/ingest/capture"
)

// findLives numbers the life of the process that each part shows. Stack ids, heap handles and addresses have one
// meaning only within a life.
func (s *series) findLives() {
	s.lives = make([]int, len(s.parts))
	known := s.parts[0] // the last part with a process id
	for p := 1; p < len(s.parts); p++ {
		before, now := s.parts[p-1], s.parts[p]
		s.lives[p] = s.lives[p-1]
		moved, which := movedModules(before.Modules, now.Modules, now.Process.Name)
		switch {
		case known.Process.PID != 0 && now.Process.PID != 0 && known.Process.PID != now.Process.PID:
			s.lives[p]++
			s.doubt(capture.PIDChanged, fmt.Sprintf(
				"Take all snapshots from one process: %s shows process %d, %s process %d, so growth between them compares two runs. Stacks are matched by module and offset, heaps by their order.",
				known.file, known.Process.PID, now.file, now.Process.PID))
		case moved == imageMoved:
			s.lives[p]++
			s.doubt(capture.ModuleMoved, fmt.Sprintf(
				"Take all snapshots before the process restarts: %s has another address in %s than in %s, with the same PID. Stacks are matched by module and offset.",
				which, now.file, before.file))
		case moved == libraryMoved:
			s.warn(capture.ModuleMoved, 1,
				fmt.Sprintf("%s was loaded at another address between %s and %s. Its frames are matched by offset.",
					which, before.file, now.file))
		}
		if now.Process.PID != 0 || moved == imageMoved {
			known = now
		}
		s.checkOrder(before, now)
	}
}

// doubt warns that the snapshots may not be of one process, or not in the order of time. Such snapshots allow no
// verdict.
func (s *series) doubt(code capture.Code, message string) {
	s.warn(code, 1, message)
	if s.doubted == nil {
		s.doubted = &Warning{Code: code, Message: message, Count: 1}
	}
}

// longestLife is the range [first, last) of instants of the process life with most snapshots, the latest of several.
// Growth is never computed from one life to another.
func (s *series) longestLife() (first, last int) {
	for at := 0; at < len(s.instants); {
		end := at
		for end < len(s.instants) && s.lives[s.instants[end].part] == s.lives[s.instants[at].part] {
			end++
		}
		if end-at >= last-first {
			first, last = at, end
		}
		at = end
	}
	return first, last
}

// settle excludes the first d of the longest life, as if it had not been recorded. It reports false where it cannot: a
// trace is judged as a whole, and snapshots need times.
func (s *series) settle(snapshots []Snapshot, d time.Duration) (settled bool) {
	first, last := s.longestLife()
	life := snapshots[first:last]
	if s.parts[len(s.parts)-1].Trace != nil ||
		slices.ContainsFunc(life, func(snap Snapshot) bool { return snap.TakenAt == "" }) {
		return false
	}
	for s.young < len(life)-1 && life[s.young].AtNS-life[0].AtNS < d.Nanoseconds() {
		s.young++
	}
	return true
}

// judgedLife is the range [first, last) of instants that findings are judged by: the longest life after its settle
// time.
func (s *series) judgedLife() (first, last int) {
	first, last = s.longestLife()
	return first + s.young, last
}

// checkOrder warns if the times of two neighbours contradict their order. Equal times do not: a clock may count
// minutes.
func (s *series) checkOrder(before, now part) {
	a, b := before.Snapshots[len(before.Snapshots)-1].TakenAt, now.Snapshots[0].TakenAt
	if !a.IsZero() && !b.IsZero() && b.Before(a) {
		s.doubt(capture.ClockDisorder, fmt.Sprintf(
			"Check the order of the snapshots: %s of %s comes after %s of %s. The given order is kept.",
			now.file, b.Format("2006-01-02 15:04"), before.file, a.Format("2006-01-02 15:04")))
	}
}

type move int

const (
	nothingMoved move = iota
	libraryMoved
	imageMoved // the program itself or ntdll, which never move within a life
)

// movedModules compares the addresses of modules of the same path, and names one that moved.
func movedModules(before, now []capture.Module, program string) (move, string) {
	bases := map[string]uint64{}
	for _, m := range before {
		if m.Base != 0 {
			bases[strings.ToLower(m.Path)] = m.Base
		}
	}
	what, which := nothingMoved, ""
	for _, m := range now {
		base, ok := bases[strings.ToLower(m.Path)]
		if !ok || m.Base == 0 || m.Base == base {
			continue
		}
		name := strings.ToLower(m.FileName())
		if strings.HasSuffix(name, ".exe") || name == "ntdll.dll" || strings.EqualFold(name, program) {
			return imageMoved, m.FileName()
		}
		what, which = libraryMoved, m.FileName()
	}
	return what, which
}
