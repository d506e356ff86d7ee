package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

// A CaptureProcess is the process of a capture, for callers that choose one without reading captures.
type CaptureProcess struct {
	capture.Process
	EvidenceID int64 // that the capture was read from
	Trace      bool  // the capture is of a trace
	Began      int64 // ns since the trace's start, or allocations.BeforeTrace
	Held       int64 // bytes, by capture.Held
}

// A ProcessChoice is a process that the report may be about.
type ProcessChoice struct {
	CaptureProcess
	Choose string // value of Options.Process that chooses it
}

// IsOf reports whether a report is about the process.
func (c *ProcessChoice) IsOf(r *Report) bool {
	if !strings.EqualFold(c.Name, r.Process.Name) || c.Trace != (r.Trace != nil) {
		return false
	}
	if !c.Trace {
		return c.Name != "" || c.PID == r.Process.PID
	}
	began := allocations.BeforeTrace
	if at := r.Trace.BeganNS; at != nil {
		began = *at
	}
	return c.PID == r.Process.PID && c.Began == began
}

// ShowsProcess reports whether any of the processes, in the order of the evidence, is the one that Options.Process asks
// for.
func ShowsProcess(seen []CaptureProcess, process string) bool {
	lives := livesOf(seen)
	for i := range seen {
		if isProcess(seen[i].Process, lives[i], process) {
			return true
		}
	}
	return false
}

// ProcessChoices returns the processes that hold most, at most limit of them, and the number of all. seen is in the
// order of the evidence. A process is left out where no word chooses it alone.
func ProcessChoices(seen []CaptureProcess, limit int) (list []ProcessChoice, all int) {
	lives := livesOf(seen)
	traced := map[string]bool{} // programs: their snapshots are left out of reports
	for i := range seen {
		if seen[i].Trace {
			traced[strings.ToLower(seen[i].Name)] = true
		}
	}
	keys, last, owners := make([]choiceKey, len(seen)), map[choiceKey]int{}, ownersOf(seen)
	for i := range seen {
		s := &seen[i]
		if owner := owners[i]; owner != "" {
			if !traced[owner] {
				keys[i] = choiceKey{used: true, program: owner}
			}
			continue
		}
		if s.Trace || !traced[strings.ToLower(s.Name)] {
			keys[i] = keyOf(s, lives[i])
			last[keys[i]] = i // the last one says what it holds
		}
	}
	var order []int
	for i := range seen {
		if at, ok := last[keys[i]]; ok && at == i {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(seen[b].Held, seen[a].Held) })
	for _, at := range order {
		if len(list) == limit {
			break
		}
		for _, word := range wordsFor(&seen[at], lives[at]) {
			if choosesOnly(seen, lives, keys, word, keys[at]) {
				list = append(list, ProcessChoice{seen[at], word})
				break
			}
		}
	}
	return list, len(order)
}

// ownersOf finds the program, in lower case, of each process that names none; "" for others. choose knows more: it
// reads captures.
func ownersOf(seen []CaptureProcess) []string {
	var sure []*CaptureProcess
	programs := map[string]bool{}
	for i := range seen {
		if s := &seen[i]; s.Trace || namesProgram(s.Name) {
			sure = append(sure, s)
			programs[strings.ToLower(s.Name)] = true
		}
	}
	owners := make([]string, len(seen))
	for i := range seen {
		s := &seen[i]
		if s.Trace || namesProgram(s.Name) || len(sure) == 0 {
			continue
		}
		for _, is := range []func(*CaptureProcess) bool{
			func(o *CaptureProcess) bool { return s.PID != 0 && o.PID == s.PID },
			func(o *CaptureProcess) bool { return stem(o.Name) == stem(s.Name) },
			func(*CaptureProcess) bool { return s.Name == "" && len(programs) == 1 },
		} {
			if at := slices.IndexFunc(sure, is); at >= 0 {
				owners[i] = strings.ToLower(sure[at].Name)
				break
			}
		}
	}
	return owners
}

// A choiceKey identifies a possible subject of a report: one life of a process id in traces, a program in snapshots.
// Captures that reports leave out have the zero key.
type choiceKey struct {
	used     bool
	trace    bool
	program  string
	pid      uint32
	instance int
}

func keyOf(s *CaptureProcess, nth int) choiceKey {
	program := strings.ToLower(s.Name)
	switch {
	case s.Trace:
		return choiceKey{true, true, program, s.PID, nth}
	case program == "":
		return choiceKey{used: true, pid: s.PID}
	}
	return choiceKey{used: true, program: program}
}

// wordsFor are the words that choose a process, the most readable first.
func wordsFor(s *CaptureProcess, nth int) []string {
	pid := strconv.FormatUint(uint64(s.PID), 10)
	words := []string{s.Name, pid, fmt.Sprintf("%s#%d", pid, nth)}
	if s.Name == "" {
		words = words[1:]
	}
	return words
}

// choosesOnly reports whether a word chooses captures with the given key and no others that could be reported on.
func choosesOnly(seen []CaptureProcess, lives []int, keys []choiceKey, word string, key choiceKey) bool {
	found := false
	for i := range seen {
		if keys[i].used && isProcess(seen[i].Process, lives[i], word) {
			if keys[i] != key {
				return false
			}
			found = true
		}
	}
	return found
}

// livesOf are the numbers n of pid#n: each process is the n-th of its pid in its evidence. choose counts the same way.
func livesOf(seen []CaptureProcess) []int {
	type id struct {
		evidence int64
		pid      uint32
	}
	order, lives, count := make([]int, len(seen)), make([]int, len(seen)), map[id]int{}
	for i := range order {
		order[i] = i
	}
	began := func(i int) int64 {
		if !seen[i].Trace {
			return 0
		}
		return seen[i].Began
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(began(a), began(b)) })
	for _, i := range order {
		key := id{seen[i].EvidenceID, seen[i].PID}
		count[key]++
		lives[i] = count[key]
	}
	return lives
}
