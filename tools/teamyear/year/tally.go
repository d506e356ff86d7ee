// Package year plays a team's year against the product and holds what it says against the truth: builds on three kinds
// of branches, leaks that come, go, come back, are renamed, accepted and picked, and runs that are lost, late, cut
// short or pushed twice, of different length, with and without a counter of work, and with symbols that come late. In
// come seeds and a database, out comes a Tally, and the histories that went worst, build by build.
package year

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"heapdrift/internal/store"
	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// A Caught counts leaks that came in on a branch, and those of them for which a build failed.
type Caught struct {
	Came, First, Three int // First: by the first build that ran them; Three: by one of the first three
}

// A Share counts answers of the product (Of), and those of them that are right.
type Share struct{ Right, Of int }

func (s *Share) add(right bool) {
	s.Of++
	if right {
		s.Right++
	}
}

// Figures say how often the gate and the states of leaks were right.
type Figures struct {
	Large, Small Caught      // leaks that do or do not keep enough blocks to matter in each run
	Quiet        map[int]int // number of builds from the third on without a new or open leak, by the exit code of the gate
	False        int         // failures of builds for something that is no leak
	AfterAnswer  int         // failures of builds for a leak that the team had accepted, assigned or begun to fix
	Contradicted int         // builds that pass although a finding of theirs is undecided
	FixedSaid    Share       // leaks that the product calls fixed on a branch
	Intervals    Share       // intervals of builds in which a leak came in, as the product says
}

// A Tally is the Figures of all builds, and of each way of recording.
type Tally struct {
	Figures
	By         map[string]*Figures // by a way in which teams and builds record: "trace", "counted"
	Names      Share               // findings of reports with symbols: right are those that kept their names and owner to the end
	Twice      int                 // pushes of files that had been pushed before
	TwiceOther int                 // those of Twice that got another verdict
}

func newTally() *Tally {
	return &Tally{Figures: Figures{Quiet: map[int]int{}}, By: map[string]*Figures{}}
}

func (t *Tally) by(label string) *Figures {
	f := t.By[label]
	if f == nil {
		f = &Figures{Quiet: map[int]int{}}
		t.By[label] = f
	}
	return f
}

// Options say what to play.
type Options struct {
	Seeds      []uint64
	Builds     int // how many on main
	Places     int // how many stacks the program has
	Behaviours []behaviour.Behaviour
	Worst      io.Writer // gets the histories in which something went wrong; nil for none
}

// Play plays one year for each seed, each in a project of its own.
func Play(ctx context.Context, s *store.Store, o Options) (*Tally, error) {
	t := newTally()
	for _, seed := range o.Seeds {
		p := &player{Script: newScript(seed, o.Builds, o.Behaviours), store: s, project: fmt.Sprintf("team-%d", seed),
			places: o.Places, behaviours: o.Behaviours, tally: t}
		if err := p.play(ctx); err != nil {
			return nil, err
		}
		if p.bad && o.Worst != nil {
			if _, err := fmt.Fprintf(o.Worst, "team %d\n  %s\n", seed, strings.Join(p.strip, "\n  ")); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// String prints the tally as a table, with a row for each way of recording.
func (t *Tally) String() string {
	quiet := t.quiet()
	rows := [][2]string{
		{"leaks that matter: failed by their first build", share(t.Large.First, t.Large.Came)},
		{"leaks that matter: failed within three builds", share(t.Large.Three, t.Large.Came)},
		{"smaller leaks: failed by their first build", share(t.Small.First, t.Small.Came)},
		{"smaller leaks: failed within three builds", share(t.Small.Three, t.Small.Came)},
		{"quiet builds: exit 0", share(t.Quiet[0], quiet)},
		{"quiet builds: exit 1", share(t.Quiet[1], quiet)},
		{"quiet builds: exit 4", share(t.Quiet[4], quiet)},
		{"failures for what is no leak", fmt.Sprint(t.False)},
		{"failures for a leak that was answered", fmt.Sprint(t.AfterAnswer)},
		{"builds that pass beside an undecided leak", fmt.Sprint(t.Contradicted)},
		{"lines on which fixed is right", share(t.FixedSaid.Right, t.FixedSaid.Of)},
		{"intervals that hold the truth", share(t.Intervals.Right, t.Intervals.Of)},
		{"findings that kept their names and owner", share(t.Names.Right, t.Names.Of)},
		{"pushes again that changed the verdict", share(t.TwiceOther, t.Twice)},
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%-48s %s\n", r[0], r[1])
	}
	fmt.Fprintf(&b, "\n%-34s %12s %12s %12s %12s %12s %6s %6s\n", "by how teams and builds record", "first build",
		"three builds", "quiet: 0", "quiet: 1", "quiet: 4", "false", "again")
	for _, label := range slices.Sorted(maps.Keys(t.By)) {
		f := t.By[label]
		of := func(n, all int) string { return fmt.Sprintf("%d of %d", n, all) }
		quiet := f.quiet()
		fmt.Fprintf(&b, "%-34s %12s %12s %12s %12s %12s %6d %6d\n", label, of(f.Large.First, f.Large.Came),
			of(f.Large.Three, f.Large.Came), of(f.Quiet[0], quiet), of(f.Quiet[1], quiet), of(f.Quiet[4], quiet),
			f.False, f.AfterAnswer)
	}
	return b.String()
}

func share(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d (%.1f %%)", n, of, 100*float64(n)/float64(of))
}

// quiet is how many quiet builds there are.
func (f *Figures) quiet() (sum int) {
	for _, n := range f.Quiet {
		sum += n
	}
	return sum
}
