package leaks

import (
	"cmp"
	"slices"
	"strings"
)

// A LineBuild has the facts of a build that decide which line of builds it is on.
type LineBuild struct {
	ID        int64
	Name      string
	Branch    string // "" where no upload says
	Commit    string
	Ancestors []string // commits before its own, the newest first; nil where no upload says
	Fork      string   // the build at which its branch left its parent line, by declaration; "" for none
	Rank      BuildRank
}

// A BuildLine is the builds of a branch in their order: those of its parent line up to the fork, then its own.
type BuildLine struct {
	Branch   string
	Parent   string  // branch of the parent line; "" where there is no fork
	ForkID   int64   // id of the last build that the line shares with its parent; 0 for none
	BuildIDs []int64 // ids, oldest first
	OwnCount int     // how many builds, at the end of Builds, are of the branch itself

	at map[int64]int
}

// IndexOf is the index on the line of the build with this id; −1 where the line does not have it.
func (l *BuildLine) IndexOf(build int64) int {
	if at, ok := l.at[build]; ok {
		return at
	}
	return -1
}

// IDAt is the id of the build at an index of the line; nil for −1.
func (l *BuildLine) IDAt(at int) *int64 {
	if at < 0 {
		return nil
	}
	return &l.BuildIDs[at]
}

// ForkIndex is the index of the fork on the line; −1 for none.
func (l *BuildLine) ForkIndex() int { return len(l.BuildIDs) - l.OwnCount - 1 }

// BuildIDsUpTo returns the builds of the line up to and including one; nil where the line does not have it.
func (l *BuildLine) BuildIDsUpTo(build int64) []int64 {
	return l.BuildIDs[:l.IndexOf(build)+1]
}

// BuildLines are the lines of a project's builds.
type BuildLines struct {
	Default string // the branch of the line that stands for the project
	list    map[string]*BuildLine
	builds  map[int64]*LineBuild
	own     map[string][]*LineBuild // by branch, oldest first
}

// usualDefaults are the branches that are a project's default where no setting says, the likeliest first.
var usualDefaults = []string{"main", "master", "trunk", "develop", "development"}

// NewBuildLines finds the lines of builds, which may come in any order. chosen is the project's default branch; where
// it is "" the first of the usual names is, else no branch where builds have none, else the branch of the oldest build.
//
// A build without a branch is one of the default branch: nobody says that it is not.
func NewBuildLines(builds []LineBuild, chosen string) *BuildLines {
	l := &BuildLines{list: map[string]*BuildLine{}, builds: make(map[int64]*LineBuild, len(builds)),
		own: map[string][]*LineBuild{}}
	order := make([]*LineBuild, len(builds))
	for i := range builds {
		order[i] = &builds[i]
		l.builds[builds[i].ID] = &builds[i]
	}
	slices.SortStableFunc(order, func(a, b *LineBuild) int {
		return cmp.Or(CompareRanks(a.Rank, b.Rank), cmp.Compare(a.ID, b.ID))
	})
	l.Default = defaultBranch(order, chosen)
	for _, b := range order {
		branch := l.branchOf(b)
		l.own[branch] = append(l.own[branch], b)
	}
	for _, b := range order { // the branch that is first begins where two lead to each other
		l.line(l.branchOf(b), nil)
	}
	if l.list[l.Default] == nil {
		l.list[l.Default] = &BuildLine{Branch: l.Default, at: map[int64]int{}}
	}
	return l
}

func defaultBranch(order []*LineBuild, chosen string) string {
	if chosen != "" || len(order) == 0 {
		return chosen
	}
	has := func(branch string) bool {
		return slices.ContainsFunc(order, func(b *LineBuild) bool { return b.Branch == branch })
	}
	for _, name := range append(slices.Clone(usualDefaults), "") {
		if has(name) {
			return name
		}
	}
	return order[0].Branch
}

// branchOf is the branch that a build counts as one of.
func (l *BuildLines) branchOf(b *LineBuild) string { return cmp.Or(b.Branch, l.Default) }

// Of returns the line of a branch: that of the default branch for "" and for a branch without builds.
func (l *BuildLines) Of(branch string) *BuildLine {
	if line := l.list[branch]; line != nil {
		return line
	}
	return l.list[l.Default]
}

// OfBuild returns the line of the branch of a build; nil for an unknown id.
func (l *BuildLines) OfBuild(id int64) *BuildLine {
	if b := l.builds[id]; b != nil {
		return l.list[l.branchOf(b)]
	}
	return nil
}

// BuildName is the name of the build with this id; "" for an unknown one.
func (l *BuildLines) BuildName(id int64) string {
	if b := l.builds[id]; b != nil {
		return b.Name
	}
	return ""
}

// All returns the lines, that of the default branch first, the others by name.
func (l *BuildLines) All() []*BuildLine {
	list := make([]*BuildLine, 0, len(l.list))
	for _, line := range l.list {
		list = append(list, line)
	}
	slices.SortFunc(list, func(a, b *BuildLine) int {
		return cmp.Or(compareBools(b.Branch == l.Default, a.Branch == l.Default), cmp.Compare(a.Branch, b.Branch))
	})
	return list
}

// line makes the line of a branch. under are the branches whose lines are being made: a branch whose fork leads back to
// one of them begins by itself.
func (l *BuildLines) line(branch string, under []string) *BuildLine {
	if made := l.list[branch]; made != nil {
		return made
	}
	line := &BuildLine{Branch: branch, at: map[int64]int{}}
	own := l.own[branch]
	if branch != l.Default {
		if fork := l.fork(branch, own); fork != nil {
			parent := l.branchOf(fork)
			if parent != branch && !slices.Contains(under, parent) {
				from := l.line(parent, append(under, branch))
				line.Parent, line.ForkID = parent, fork.ID
				line.BuildIDs = append(line.BuildIDs, from.BuildIDsUpTo(fork.ID)...)
			}
		}
	}
	for _, b := range own {
		line.BuildIDs = append(line.BuildIDs, b.ID)
	}
	line.OwnCount = len(own)
	for at, id := range line.BuildIDs {
		line.at[id] = at
	}
	l.list[branch] = line
	return line
}

// fork finds the build at which a branch left its parent line: the one that an upload declares, else the nearest
// ancestor that is a build of another branch, else the newest build of the default branch before the first of the
// branch. nil is none.
func (l *BuildLines) fork(branch string, own []*LineBuild) *LineBuild {
	for i := len(own) - 1; i >= 0; i-- {
		if own[i].Fork == "" {
			continue
		}
		var declared *LineBuild
		for _, b := range l.builds {
			if b.Name == own[i].Fork && l.branchOf(b) != branch && (declared == nil || l.prefers(b, declared)) {
				declared = b
			}
		}
		if declared != nil {
			return declared
		}
	}
	for _, b := range own {
		if len(b.Ancestors) == 0 {
			continue
		}
		if found := l.nearest(branch, b.Ancestors); found != nil {
			return found
		}
	}
	var newest *LineBuild
	for _, b := range l.own[l.Default] {
		if CompareRanks(b.Rank, own[0].Rank) < 0 {
			newest = b
		}
	}
	return newest
}

// nearest is the build of another branch that was made of the newest of some commits; of several, one of the default
// branch. nil is none.
func (l *BuildLines) nearest(branch string, commits []string) *LineBuild {
	var found *LineBuild
	nearest := len(commits)
	for _, b := range l.builds {
		if b.Commit == "" || l.branchOf(b) == branch {
			continue
		}
		within := commits[:min(nearest+1, len(commits))]
		at := slices.IndexFunc(within, func(c string) bool { return isSameCommit(c, b.Commit) })
		switch {
		case at < 0:
		case found == nil, at < nearest, l.prefers(b, found):
			found, nearest = b, at
		}
	}
	return found
}

// prefers reports whether of two builds of one commit, or of one name, the first is the better fork: one of the default
// branch, else the newer.
func (l *BuildLines) prefers(a, b *LineBuild) bool {
	isDefault := func(b *LineBuild) bool { return l.branchOf(b) == l.Default }
	return cmp.Or(compareBools(isDefault(a), isDefault(b)), CompareRanks(a.Rank, b.Rank), cmp.Compare(a.ID, b.ID)) > 0
}

// shortCommit is how many digits of a commit tell it from all others in practice.
const shortCommit = 7

// isSameCommit reports whether two commits are one; either may be cut short.
func isSameCommit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= shortCommit && strings.EqualFold(a, b[:len(a)])
}
