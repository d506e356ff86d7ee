// Package ci knows the systems that run CI jobs. In comes the environment of a job, out go the build that it describes,
// and notes and summaries in the form that the system shows. One row of Systems is one system.
package ci

import (
	"path"
	"strconv"
	"strings"
	"unicode"
)

// An Environment is what a CI system says of the job that runs. Fields are "" where it does not say; names are ones
// that a server takes.
type Environment struct {
	Project     string
	Build       string
	Sequence    *int64 // sequence number of the build; nil where the system does not count over all builds
	Run         string // attempt of a job that is run again: its evidence is of another process
	Branch      string
	Commit      string
	Link        string // page of the job
	Root        string // folder of the sources on this machine
	PullRequest string // number of the pull or merge request
}

// Getenv reads a variable of the environment, as os.Getenv does.
type Getenv func(name string) string

// A System is a CI system. Its functions are nil where it lacks the feature.
type System struct {
	Name   string
	marker string // variable that is set in its jobs, and nowhere else
	read   func(get Getenv) Environment
	// annotate writes the line that attaches a note to the job.
	annotate func(n Note) string
	// open and close write the lines around output that people fold away; id tells sections apart.
	open, close func(id, title string, now int64) string
	// summarize tells the system the outcome, by files that the environment names or by lines of output.
	summarize func(get Getenv, s *Summary) (lines []string, err error)
}

// Systems are the known systems. The first one whose marker is set in the environment runs the job.
var Systems = []System{github, gitlab, azure, teamcity, jenkins}

// Detect returns the system that runs this job, nil where none does.
func Detect(get Getenv) *System {
	for i := range Systems {
		if get(Systems[i].marker) != "" {
			return &Systems[i]
		}
	}
	return nil
}

// Environment is what the system says of the job.
func (s *System) Environment(get Getenv) Environment {
	if s == nil {
		return Environment{}
	}
	e := s.read(get)
	e.Project, e.Build, e.Run = name(e.Project, projectMarks, 64), name(e.Build, nameMarks, 128),
		name(e.Run, nameMarks, 128)
	e.Branch, e.Commit = name(e.Branch, nameMarks, 128), name(e.Commit, nameMarks, 128)
	return e
}

// The marks that names on the server may hold behind their first letter or digit.
const (
	nameMarks    = " ._+@#:/-"
	projectMarks = " ._+@-"
)

// name makes a name of what a system calls something: what no name holds becomes a dash.
func name(text, marks string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune(marks, r) {
			return r
		}
		return '-'
	}, strings.ToValidUTF8(text, "-"))
	text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit])
	}
	return strings.TrimSpace(text)
}

// numbered is the name of a build by a number that counts the runs of one workflow or job only: with the commit, two
// workflows of a project do not come to one build.
func numbered(number, commit string) string {
	if number == "" || len(commit) < shortCommit {
		return number
	}
	return number + "-" + commit[:shortCommit]
}

// shortCommit is how much of a commit tells it from others, in characters.
const shortCommit = 7

// whole reads a number that counts builds; nil where it is none.
func whole(text string) *int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return nil
	}
	return &n
}

// branchOf is the branch that a ref of git names, "" where it names something else.
func branchOf(ref string) string {
	if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
		return branch
	}
	if strings.HasPrefix(ref, "refs/") {
		return ""
	}
	return ref
}

// lastElement is the last part of a path or an address of a repository, without .git.
func lastElement(text string) string {
	text = strings.TrimSuffix(strings.TrimRight(text, "/"), ".git")
	if text == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(text, ":", "/"))
}

// first is the first text that is not empty.
func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
