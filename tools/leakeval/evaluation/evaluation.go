// Package evaluation says how well package score does: in come seeds, out come judgements beside the truth. Processes
// are made of behaviours that several hands wrote without knowing the method, recorded as Windows tools would, and read
// and analysed as the product does. docs/method.md publishes the figures; tools/leakeval prints them and fits the
// model.
package evaluation

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/tools/leakeval/evaluation/behaviour"
	"heapdrift/tools/leakeval/evaluation/workload"
)

// Options say what to evaluate.
type Options struct {
	Behaviours []behaviour.Behaviour
	Seeds      []uint64
	Processes  int                          // how many for each seed
	Runs       int                          // of each process; 0 for 1
	Snapshots  []int                        // how many snapshots are taken, one evaluation for each
	Dumps      []int                        // how many full dumps are taken, one evaluation for each
	Counted    bool                         // each series of snapshots is judged a second time, without addresses
	Trace      bool                         // a trace of each run is judged, too
	Matters    *analysis.RequestedThreshold // growth from which a leak matters; nil for the default
}

// A Case is the judgement on one stack of one run, beside the truth.
type Case struct {
	Behaviour *behaviour.Behaviour
	Process   int // number of the process
	Run       int // number of the run of the process, from 0
	Stack     int // index of the stack in the process
	Class     score.Class
	Score     float64         // probability of a leak, from 0 to 1
	Certain   bool            // it may fail a gate
	Evidence  *score.Evidence // nil where the stack held too little to be judged
	// Rivals says for each rule of RivalsOf whether it flags the stack.
	Rivals []bool
}

// Leaks reports whether the stack leaks.
func (c *Case) Leaks() bool { return c.Behaviour.Truth == behaviour.Leaks }

// Counts reports whether the case counts in precision and recall: undecidable ones do not.
func (c *Case) Counts() bool { return c.Behaviour.Truth != behaviour.Undecidable }

// Cases are all judgements on one kind of evidence.
type Cases struct {
	Name      string // "8 snapshots", "trace", "attached trace"
	Snapshots int    // how many; 0 for traces
	List      []Case
}

// Run makes processes and judges all their stacks by every kind of evidence, on all cores. The result depends on the
// options only.
func Run(ctx context.Context, o Options) ([]Cases, error) {
	runs := max(1, o.Runs)
	all := make([][]Cases, len(o.Seeds)*o.Processes*runs)
	err := onAllCores(ctx, len(all), func(i int) (err error) {
		all[i], err = judgeProcess(ctx, &o, o.Seeds[i/runs/o.Processes], i/runs, i%runs)
		return err
	})
	if err != nil {
		return nil, err
	}
	return joined(all), nil
}

// onAllCores calls do for 0 to n−1 and returns its first error, or why the context ended.
func onAllCores(ctx context.Context, n int, do func(i int) error) error {
	work := make(chan int)
	var first error
	var once sync.Once
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range work {
				if err := do(i); err != nil {
					once.Do(func() { first = err })
				}
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		work <- i
	}
	close(work)
	group.Wait()
	if first == nil {
		first = context.Cause(ctx)
	}
	return first
}

// joined puts the cases of one kind of evidence together, in the order in which kinds turn up.
func joined(all [][]Cases) []Cases {
	var sum []Cases
	for _, cases := range all {
		for _, c := range cases {
			at := slices.IndexFunc(sum, func(s Cases) bool { return s.Name == c.Name })
			if at < 0 {
				at = len(sum)
				sum = append(sum, Cases{Name: c.Name, Snapshots: c.Snapshots})
			}
			sum[at].List = append(sum[at].List, c.List...)
		}
	}
	slices.SortStableFunc(sum, func(a, b Cases) int { return order(a) - order(b) })
	return sum
}

// order puts traces behind snapshots, attached ones last.
func order(c Cases) int {
	switch c.Name {
	case traceName:
		return 1 << 20
	case attachedName:
		return 1 << 21
	}
	for i, suffix := range []string{dumpsName, countedName} {
		if strings.HasSuffix(c.Name, suffix) {
			return (i+1)<<10 + c.Snapshots
		}
	}
	return c.Snapshots
}

const traceName, attachedName, countedName, dumpsName = "trace", "attached trace", " without addresses", " dumps"

// traceOf is the name of the trace of a process.
func traceOf(p *workload.Process) string {
	if p.Attached > 0 {
		return attachedName
	}
	return traceName
}

func judgeProcess(ctx context.Context, o *Options, seed uint64, number, run int) ([]Cases, error) {
	p := workload.New(seed, uint64(number%o.Processes), uint64(run), o.Behaviours)
	var list []Cases
	judge := func(name string, snapshots int, e *workload.Evidence, err error) error {
		if err != nil {
			return fmt.Errorf("process %d of seed %d: %w", number%o.Processes, seed, err)
		}
		defer e.Close()
		r, err := analysis.Analyze(ctx, e.Inputs, e.Options)
		if err != nil {
			return fmt.Errorf("process %d of seed %d, %s: %w", number%o.Processes, seed, name, err)
		}
		list = append(list, Cases{Name: name, Snapshots: snapshots, List: casesOf(p, number, r)})
		return nil
	}
	for _, n := range o.Snapshots {
		e, err := p.Logs(ctx, n)
		if err := judge(fmt.Sprintf("%d snapshots", n), n, e, err); err != nil {
			return nil, err
		}
		if !o.Counted {
			continue
		}
		e.ForgetAddresses()
		if err := judge(fmt.Sprintf("%d snapshots%s", n, countedName), n, e, nil); err != nil {
			return nil, err
		}
	}
	for _, n := range o.Dumps {
		e, err := p.Dumps(ctx, n)
		if err := judge(fmt.Sprintf("%d%s", n, dumpsName), n, e, err); err != nil {
			return nil, err
		}
	}
	if o.Trace {
		e, err := p.Trace(ctx)
		if err := judge(traceOf(p), 0, e, err); err != nil {
			return nil, err
		}
	}
	return list, nil
}

var stackNumber = regexp.MustCompile(`Stack(\d+)::Allocate`)

// casesOf takes the judgement on each stack from a report; of a stack that the evidence does not show there is none.
func casesOf(p *workload.Process, number int, r *analysis.Report) []Case {
	cases := make([]Case, len(p.Stacks))
	for i := range cases {
		cases[i] = Case{
			Behaviour: p.Stacks[i].Behaviour, Process: number, Run: int(p.Run), Stack: i, Class: score.ClassUnknown,
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		m := stackNumber.FindStringSubmatch(f.Title)
		if m == nil {
			continue
		}
		k, _ := strconv.Atoi(m[1])
		c := &cases[k]
		c.Class, c.Certain, c.Evidence = f.Verdict, f.Certain, f.Evidence
		if f.Score != nil {
			c.Score = *f.Score
		}
	}
	addRivals(cases, r)
	return cases
}
