package leaks

import (
	"slices"

	"heapdrift/internal/analysis"
)

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

// ToolsOf are the tools whose lists of leaks at exit show a leak, each once.
func ToolsOf(runs []RunSighting) []string {
	var tools []string
	for i := range runs {
		tools = append(tools, runs[i].Tools...)
	}
	slices.Sort(tools)
	return slices.Compact(tools)
}
