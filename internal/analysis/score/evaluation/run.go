package evaluation

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"

	"heapdrift/internal/analysis/score"
)

// Options say what to evaluate.
type Options struct {
	Seeds     []uint64
	Processes int   // for each seed
	Snapshots []int // how many snapshots are taken, one evaluation for each
}

// TuningSeeds are those that constants and calibration were chosen on; EvaluationSeeds are those that figures are published
// for. None is of both.
var (
	TuningSeeds     = []uint64{101, 102, 103}
	EvaluationSeeds = []uint64{1, 2, 3}
)

// A Case is one judgement and what is true.
type Case struct {
	Pattern string
	Leaks   bool
	NotFull bool // a cache that the run is too short to fill: counted apart
	Result  score.Result
}

// Cases are all judgements on one kind of evidence.
type Cases struct {
	Name      string // "3 snapshots", "trace"
	Snapshots int    // 0 for a trace
	List      []Case
}

// Run makes processes and judges all their sites on every kind of evidence, on all cores. What comes out depends on the
// options only.
func Run(ctx context.Context, o Options) ([]Cases, error) {
	kinds := len(o.Snapshots) + 1
	all := make([][]Cases, len(o.Seeds)*o.Processes)
	work := make(chan int)
	var first error
	var once sync.Once
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range work {
				cases, err := judgeProcess(ctx, o.Seeds[i/o.Processes], uint64(i%o.Processes), o.Snapshots)
				if err != nil {
					once.Do(func() { first = err })
				}
				all[i] = cases
			}
		})
	}
	for i := range all {
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
	if first != nil {
		return nil, first
	}
	sum := make([]Cases, kinds)
	for _, cases := range all {
		for k := range cases {
			sum[k].Name, sum[k].Snapshots = cases[k].Name, cases[k].Snapshots
			sum[k].List = append(sum[k].List, cases[k].List...)
		}
	}
	return sum, nil
}

func judgeProcess(ctx context.Context, seed, number uint64, snapshots []int) ([]Cases, error) {
	p := newProcess(seed, number)
	list := make([]Cases, 0, len(snapshots)+1)
	for _, n := range snapshots {
		r := rand.New(rand.NewPCG(seed, number<<8|uint64(n)|1<<63)) // the same snapshots whichever others are taken
		axis, series := p.snapshots(r, n)
		cases := Cases{Name: plural(n), Snapshots: n}
		for i := range series {
			cases.add(&p.sites[i], score.Snapshots(&series[i], axis))
		}
		list = append(list, cases)
	}
	survivals, err := p.trace(ctx)
	if err != nil {
		return nil, err
	}
	cases := Cases{Name: "trace"}
	for i := range survivals {
		cases.add(&p.sites[i], score.Trace(&survivals[i], nil))
	}
	return append(list, cases), nil
}

func (c *Cases) add(s *site, r score.Result) {
	c.List = append(c.List, Case{Pattern: s.pattern.name, Leaks: s.pattern.truth == leaking, NotFull: s.pattern.truth == notFull, Result: r})
}
