package leaks

import (
	"fmt"
	"strings"
)

// A BuildWarning says what is odd about the build that an upload names. The upload is accepted nevertheless.
type BuildWarning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The codes of warnings.
const (
	WarnCommitReplaced = "commit-replaced"
	WarnSameSequence   = "same-sequence"
	WarnNoBranch       = "no-branch"
)

// BuildFacts are what warnings about a build rest on.
type BuildFacts struct {
	Build        string
	Branch       string
	Commit       string
	FormerCommit string // commit that an upload to the run replaced; "" for none
	Sequence     *int64
	SameSequence []string // other builds with the sequence, the oldest first
}

// Warnings returns the warnings about a build.
func (f *BuildFacts) Warnings() []BuildWarning {
	var list []BuildWarning
	if f.FormerCommit != "" && f.FormerCommit != f.Commit {
		list = append(list, BuildWarning{WarnCommitReplaced, CommitReplacedText(f.Build, f.FormerCommit, f.Commit)})
	}
	for _, other := range f.SameSequence {
		list = append(list, BuildWarning{WarnSameSequence, fmt.Sprintf(
			"Build %s has sequence %d too: their names decide which of them is older. Correct one: heapdrift builds set %q --sequence N.",
			other, *f.Sequence, f.Build)})
	}
	if f.Branch == "" {
		list = append(list, BuildWarning{WarnNoBranch, MissingBranchText(f.Build)})
	}
	return list
}

// CommitReplacedText says that a build is of another commit than before.
func CommitReplacedText(build, former, commit string) string {
	return fmt.Sprintf("Build %s was uploaded with commit %s before; commit %s replaces it.", build, former, commit)
}

// MissingBranchText says that nobody names the branch of a build.
func MissingBranchText(build string) string {
	return fmt.Sprintf("Build %s has no branch. Name it: --branch of push, or heapdrift builds set %q --branch NAME.", build, build)
}

// A BuildBranch is a build and its branch; "" where nobody says.
type BuildBranch struct{ Name, Branch string }

// mostStretches is how many stretches of builds a sentence names.
const mostStretches = 3

// MissingBranchesText says which builds, given oldest first, have no branch where others have one; "" for none. Where
// no build has one there is one line, and nothing to say.
func MissingBranchesText(builds []BuildBranch) string {
	var stretches []string
	bare, named := 0, false
	for i := 0; i < len(builds); {
		if builds[i].Branch != "" {
			i, named = i+1, true
			continue
		}
		from := i
		for i < len(builds) && builds[i].Branch == "" {
			i++
		}
		bare += i - from
		stretch := builds[from].Name
		if i-from > 1 {
			stretch += "–" + builds[i-1].Name
		}
		stretches = append(stretches, stretch)
	}
	if !named || bare == 0 {
		return ""
	}
	if len(stretches) > mostStretches {
		stretches = append(stretches[:mostStretches], "others")
	}
	which := stretches[len(stretches)-1]
	if rest := stretches[:len(stretches)-1]; len(rest) > 0 {
		which = strings.Join(rest, ", ") + " and " + which
	}
	if bare == 1 {
		return "Build " + which + " has no branch and counts as a build of the default branch. " +
			"Name its branch: heapdrift builds set BUILD --branch NAME."
	}
	return "Builds " + which + " have no branch and count as builds of the default branch. " +
		"Name their branch: heapdrift builds set BUILD --branch NAME."
}
