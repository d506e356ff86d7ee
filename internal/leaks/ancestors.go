package leaks

import (
	"strings"
	"unicode/utf8"
)

// How many commits behind a build are kept, and how long the name of one may be, in characters.
const (
	MaxAncestors = 1000
	maxCommit    = 64
)

// ownFork says what is wrong with a build that forks from itself.
const ownFork = "is the build itself: name the build at which its branch left the parent line"

// ParseAncestors reads the commits behind a build, newest first: one a line, or with commas between; nil for none. Its
// error is a *FieldError.
func ParseAncestors(text string) ([]string, error) {
	var commits []string
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' || r == ',' }) {
		commit := strings.TrimSpace(part)
		switch {
		case commit == "":
			continue
		case !anyName.fits(commit) || strings.Contains(commit, " ") || utf8.RuneCountInString(commit) > maxCommit:
			return nil, wrongField("ancestors", "%.80q is not a commit: write one a line, at most %d characters each", commit,
				maxCommit)
		case len(commits) == MaxAncestors:
			return nil, wrongField("ancestors", "at most %d commits, the newest first", MaxAncestors)
		}
		commits = append(commits, commit)
	}
	return commits, nil
}

// shortestCommit is how much of a commit names it, in characters.
const shortestCommit = 7

// LaterCommit is the commit of a build after an upload that names another one: the later word counts, but a commit that
// is written short is the same as its long form. replaced says that it is another commit than before.
func LaterCommit(former, later string) (commit string, replaced bool) {
	switch {
	case later == "" || later == former:
		return former, false
	case former == "":
		return later, false
	case len(former) >= shortestCommit && strings.HasPrefix(later, former):
		return later, false
	case len(later) >= shortestCommit && strings.HasPrefix(former, later):
		return former, false
	}
	return later, true
}
