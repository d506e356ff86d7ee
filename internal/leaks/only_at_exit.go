package leaks

import "heapdrift/internal/analysis"

// OnlyAtExit reports whether nothing but lists of leaks at exit shows a leak, in all of its runs.
func OnlyAtExit(runs []RunSighting) bool {
	found := false
	for i := range runs {
		if r := &runs[i]; !r.Absent && r.Class.IsSuspect() {
			if r.Class != analysis.ClassLeftAtExit {
				return false
			}
			found = true
		}
	}
	return found
}

// isSilentAtExit reports whether the run shows only that the process held memory of the site. That it does not grow is
// no statement about a leak at exit: it may be left, or freed at the end.
func (s *RunSighting) isSilentAtExit() bool {
	return !s.Absent && len(s.Tools) == 0 && !s.Class.IsSuspect()
}

// FirstToolsOn returns, by the id of the scenario, the tools whose lists of leaks at exit show a leak in the first
// build of a line that has it. A tool that lists it later does not tell whether it was there before.
func FirstToolsOn(line *BuildLine, runs []RunSighting) map[int64][]string {
	tools, first := map[int64][]string{}, map[int64]int{}
	for i := range runs {
		r := &runs[i]
		at := line.IndexOf(r.BuildID)
		if at < 0 || r.Absent || !r.Class.IsSuspect() {
			continue
		}
		was, ok := first[r.ScenarioID]
		if !ok || at < was {
			first[r.ScenarioID], tools[r.ScenarioID] = at, nil
		}
		if !ok || at <= was {
			tools[r.ScenarioID] = append(tools[r.ScenarioID], r.Tools...)
		}
	}
	return tools
}
