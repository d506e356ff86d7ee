package compare

import (
	"slices"

	"heapdrift/internal/analysis"
)

// ShownBy says which sorts of evidence showed a leak: memory that a process held, or lists of leaks at exit. Only a run
// with the same sort of evidence can show that it is gone.
type ShownBy struct {
	Held   bool                  // it leaked or grew in evidence of the memory that a process held
	Listed []analysis.ListedLeak // the lists of leaks at exit that it was in, by run; nil for none
}

// shownBy is what a finding was shown by.
func shownBy(f *Finding) ShownBy {
	return ShownBy{Held: !f.AtExit, Listed: f.Listed}
}

// WhyGone returns what shows that a leak which is not in the run is gone; nil for nothing. For a leak in memory that
// was held it is a caller that ran. For a leak at exit it is a list of the same tool and of the same test or program:
// another tool sees other blocks, another test runs other code, and what a process holds while it runs says nothing
// about its end.
func (s FrameCounts) WhyGone(frames []string, by ShownBy) *RanFrame {
	if by.Held {
		if caller := s.FindRan(frames); caller != nil {
			return caller
		}
	}
	if !isProvisional(frames) && s.hasListOf(by.Listed) {
		return &RanFrame{}
	}
	return nil
}

// hasListOf reports whether a list of the run would hold a leak, by one of the runs that list it.
func (s FrameCounts) hasListOf(leak []analysis.ListedLeak) bool {
	return slices.ContainsFunc(leak, s.hasListOfRun)
}

func (s FrameCounts) hasListOfRun(leak analysis.ListedLeak) bool {
	for _, tool := range leak.Tools {
		for _, test := range leak.Tests {
			if s.StacksWith(listOfTest(tool, test)) > 0 {
				return true
			}
		}
		for _, program := range leak.Programs {
			if s.StacksWith(listOfProgram(tool, program)) > 0 {
				return true
			}
		}
	}
	return false
}

// hasTool reports whether the run has a whole list of a tool that lists a leak.
func (s FrameCounts) hasTool(leak []analysis.ListedLeak) bool {
	return slices.ContainsFunc(leak, func(l analysis.ListedLeak) bool {
		return slices.ContainsFunc(l.Tools, func(tool string) bool { return s.StacksWith(listOf(tool)) > 0 })
	})
}

// listsTools reports whether the build has a list of a tool that lists a finding, where nothing else shows it as a
// leak.
func (s *BuildResult) listsTools(f *Finding) bool {
	return !f.AtExit || f.Listed == nil ||
		slices.ContainsFunc(s.Seen, func(seen FrameCounts) bool { return seen.hasTool(f.Listed) })
}

// listMissing says why it is unknown whether a build has a leak at exit; "" where it is known.
func (s *BuildResult) listMissing(f *Finding) string {
	if s.listsTools(f) {
		return ""
	}
	return s.Name() + " has no list of leaks at exit of this tool"
}

// countLists notes, among the frames, which tests and programs have a whole list of leaks at exit of which tool.
func (s FrameCounts) countLists(lists []analysis.ExitLists) {
	for i := range lists {
		l := &lists[i]
		s.stacks[hash(listOf(l.Tool))]++
		for _, test := range l.Tests {
			s.stacks[hash(listOfTest(l.Tool, test))]++
		}
		for _, program := range l.Programs {
			s.stacks[hash(listOfProgram(l.Tool, program))]++
		}
	}
}

// listOf, listOfTest and listOfProgram stand, among the frames of a run, for whole lists of leaks at exit. No frame has
// such a name.
func listOf(tool string) string           { return "<list of " + tool + ">" }
func listOfTest(tool, test string) string { return "<list of " + tool + " in test>" + test }
func listOfProgram(tool, program string) string {
	return "<list of " + tool + " of program>" + program
}
