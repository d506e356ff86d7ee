package year

import (
	"fmt"
	"math/rand/v2"

	"heapdrift/tools/leakeval/evaluation/behaviour"
	"heapdrift/tools/leakeval/evaluation/workload"
)

// An Answer is what the team does with a leak that a build failed for.
type Answer string

// The answers. A leak that nobody answers fails every build.
const (
	Accept Answer = "accept"
	Assign Answer = "assign"
	Fix    Answer = "fix" // two builds later
)

// A Leak is one leak of the program over the year. Builds are given by their number on their branch; 0 for none.
type Leak struct {
	Stack   int    // index of its stack in the workload
	Backlog bool   // it is there from the first build on
	Comes   int    // build of main that brings it; of Release leaks that of the release branch
	Fixed   int    // build of main from which on it is gone
	Back    int    // build of main that brings it back
	Picked  int    // build of the release branch that has the fix as well
	Renamed int    // build of main from which on its function has another name
	Release bool   // it exists on the release branch alone
	Answer  Answer // what the team does with it; "" for nothing
}

// A Build is one build of the team.
type Build struct {
	Name      string
	Branch    string
	Number    int   // on its branch, from 1
	Sequence  int64 // the sequence number that its runs are pushed with
	Main      int   // the newest build of main that it contains
	Commit    string
	Ancestors []string // commits, nearest first
	Runs      int      // how many; 0 where the run was lost
	Late      bool     // its run is pushed after those of the next After builds
	After     int
	Recording
	// Idle are the indexes of the stacks that its runs do not exercise.
	Idle map[int]bool // stacks that its runs do not exercise
}

// A Script is a team's year.
type Script struct {
	Seed    uint64
	Team    Team
	Builds  []*Build // in the order in which they are made
	Leaks   []*Leak
	Fork    int          // build of main at which the release branch leaves
	Absent  map[int]bool // indexes of the stacks of the workload that the program does not have
	Actions []string     // what happened, for people
}

const release = "release/2.0"

// newScript writes the year of a team with a number of builds on main.
func newScript(seed uint64, builds int, behaviours []behaviour.Behaviour) *Script {
	r := rand.New(rand.NewPCG(seed, 77))
	habits := rand.New(rand.NewPCG(seed, 78))
	s := &Script{Seed: seed, Team: teamOf(habits, seed, behaviours), Fork: builds / 3, Absent: map[int]bool{}}
	s.leaks(r, builds, s.Team.workload(seed, 0, 0, behaviours))
	s.builds(r, habits, builds)
	return s
}

// leaks takes some of the leaking stacks of the workload; the program does not have the others.
func (s *Script) leaks(r *rand.Rand, builds int, p *workload.Process) {
	for i := range p.Stacks {
		if p.Stacks[i].Truth != behaviour.Leaks {
			continue
		}
		l := &Leak{Stack: i, Answer: []Answer{Accept, Assign, Fix}[r.IntN(3)]}
		switch n := len(s.Leaks); {
		case n >= 15:
			s.Absent[i] = true
			continue
		case n%5 == 0:
			l.Backlog = true
		case n%5 == 4:
			l.Release, l.Comes = true, 2+r.IntN(max(1, builds/4))
		default:
			l.Comes = 3 + r.IntN(max(1, builds-5))
		}
		if l.Answer == Accept && l.Comes > 0 && !l.Release && r.IntN(2) == 0 {
			l.Renamed = l.Comes + 3 + r.IntN(4)
		}
		if l.Answer == Fix && r.IntN(3) == 0 {
			l.Back = -1 // set when it is fixed
		}
		s.Leaks = append(s.Leaks, l)
	}
}

func (s *Script) builds(r, habits *rand.Rand, builds int) {
	sequence := int64(0)
	var commits []string
	add := func(branch string, number, main int) *Build {
		sequence++
		b := &Build{Name: fmt.Sprintf("b%d", sequence), Branch: branch, Number: number, Sequence: sequence, Main: main,
			Runs: 1, After: 1, Recording: Recording{Snapshots: snapshots},
			Commit: fmt.Sprintf("%07x%07x", s.Seed, sequence), Idle: map[int]bool{}}
		switch r.IntN(20) {
		case 0:
			b.Runs = 0
		case 1:
			b.Runs = 2
		case 2:
			b.Late = true
		case 3:
			b.Snapshots = 20
		}
		s.Team.record(habits, b)
		for _, l := range s.Leaks {
			if r.IntN(20) == 0 {
				b.Idle[l.Stack] = true
			}
		}
		s.Builds = append(s.Builds, b)
		return b
	}
	onRelease := 0
	for n := 1; n <= builds; n++ {
		b := add("main", n, n)
		b.Ancestors = newestFirst(commits)
		commits = append(commits, b.Commit)
		if n > s.Fork && n%2 == 0 {
			onRelease++
			rel := add(release, onRelease, s.Fork)
			rel.Ancestors = newestFirst(commits[:s.Fork])
		}
		if n > 3 && n%5 == 0 { // a pull request, whose branch lives for two builds
			for k := range 2 {
				pull := add(fmt.Sprintf("pull/%d", n), k+1, n)
				pull.Ancestors = newestFirst(commits)
			}
		}
	}
	s.Builds[0].Runs, s.Builds[1].Runs = 1, 1
	s.Builds[0].Late, s.Builds[0].Recording = false, Recording{Snapshots: snapshots}
}

func newestFirst(commits []string) []string {
	list := make([]string, len(commits))
	for i, c := range commits {
		list[len(commits)-1-i] = c
	}
	return list
}

// has reports whether a build leaks.
func (s *Script) has(b *Build, l *Leak) bool {
	onMain := func(n int) bool {
		switch {
		case l.Release:
			return false
		case l.Backlog:
		case l.Comes == 0 || n < l.Comes:
			return false
		}
		return l.Fixed == 0 || n < l.Fixed || l.Back > 0 && n >= l.Back
	}
	if b.Branch != release {
		return onMain(b.Main)
	}
	if l.Release {
		return b.Number >= l.Comes && (l.Picked == 0 || b.Number < l.Picked)
	}
	return onMain(s.Fork) && (l.Picked == 0 || b.Number < l.Picked)
}
