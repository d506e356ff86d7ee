package analysis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"heapdrift/ingest/capture"
)

// findLives tells which parts show the same life of the process. Ids of stacks, heap handles and addresses mean
// the same only within a life.
func (s *series) findLives() {
	s.lives = make([]int, len(s.parts))
	known := s.parts[0] // the last part that tells its process id
	for p := 1; p < len(s.parts); p++ {
		before, now := s.parts[p-1], s.parts[p]
		s.lives[p] = s.lives[p-1]
		moved, which := movedModules(before.Modules, now.Modules)
		switch {
		case known.Process.PID != 0 && now.Process.PID != 0 && known.Process.PID != now.Process.PID:
			s.lives[p]++
			s.doubt(capture.PIDChanged, fmt.Sprintf(
				"%s shows process %d, %s shows process %d: another process life, so stacks are matched by module and offset, heaps by their order, and growth between the two compares two runs",
				known.file, known.Process.PID, now.file, now.Process.PID))
		case moved == imageMoved:
			s.lives[p]++
			s.doubt(capture.ModuleMoved, fmt.Sprintf(
				"%s lies at another address in %s than in %s although the process id is the same: the process was restarted, so stacks are matched by module and offset",
				which, now.file, before.file))
		case moved == libraryMoved:
			s.warn(capture.ModuleMoved, 1,
				fmt.Sprintf("%s was unloaded and loaded again elsewhere between %s and %s; its frames are matched by offset",
					which, before.file, now.file))
		}
		if now.Process.PID != 0 || moved == imageMoved {
			known = now
		}
		s.checkOrder(before, now)
	}
}

// doubt warns that the snapshots may not be of one process, or not in the order of time. Such snapshots allow no
// conclusion: neither that the process leaks nor that it does not.
func (s *series) doubt(code capture.Code, message string) {
	s.warn(code, 1, message)
	if s.doubted == nil {
		s.doubted = &Warning{Code: code, Message: message, Count: 1}
	}
}

// longestLife is the instants [first, last) of the process life that most snapshots show, the latest of several: no
// growth is computed from one life to another.
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

// settle leaves the beginning of the longest life out of what is judged, as if it had not been recorded. It reports
// false where the evidence does not tell what lies in that time: a trace is judged as a whole, and snapshots need
// times.
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

// judgedLife is the instants [first, last) that findings are judged by: the longest life after its settle time.
func (s *series) judgedLife() (first, last int) {
	first, last = s.longestLife()
	return first + s.young, last
}

// checkOrder says when the clocks of two neighbours contradict the order given. Equal times are no
// contradiction: the clock may be as coarse as a minute.
func (s *series) checkOrder(before, now part) {
	a, b := before.Snapshots[len(before.Snapshots)-1].TakenAt, now.Snapshots[0].TakenAt
	if !a.IsZero() && !b.IsZero() && b.Before(a) {
		s.doubt(capture.ClockDisorder, fmt.Sprintf("%s was taken at %s, before %s at %s; the order given is kept",
			now.file, b.Format("2006-01-02 15:04"), before.file, a.Format("2006-01-02 15:04")))
	}
}

type move int

const (
	nothingMoved move = iota
	libraryMoved
	imageMoved // the program itself or ntdll, which never move within a life
)

// movedModules compares where modules of the same path lie, and names one that moved.
func movedModules(before, now []capture.Module) (move, string) {
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
		if strings.HasSuffix(name, ".exe") || name == "ntdll.dll" {
			return imageMoved, m.FileName()
		}
		what, which = libraryMoved, m.FileName()
	}
	return what, which
}
