package evaluation

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"

	"heapdrift/internal/analysis"
	"heapdrift/tools/leakeval/evaluation/behaviour"
	"heapdrift/tools/leakeval/evaluation/workload"
)

// A CauseCase counts how well one report groups the findings that are parts of one object.
type CauseCase struct {
	Evidence string // "12 snapshots", "trace", "attached trace"
	Together int    // pairs of suspect findings that are parts of one object
	Found    int    // of Together those that the report gives one cause
	Apart    int    // pairs of suspect findings that are parts of different objects
	Mistaken int    // of Apart those that the report gives one cause
	Wrong    bool   // Mistaken is not 0
	Leaks    int    // objects that leak and that the report calls a leak
	Certain  int    // of Leaks those that the report is certain of
	Innocent int    // objects that do not leak and that the report calls a leak
	Rows     int    // causes that the verdict counts
	Places   int    // leaks that the verdict counts
}

// Causes analyses processes of the mix and counts how well the reports group the findings.
func Causes(ctx context.Context, o Options, mix workload.Mix) ([]CauseCase, error) {
	n := len(o.Seeds) * o.Processes
	all := make([][]CauseCase, n)
	err := onAllCores(ctx, n, func(i int) (err error) {
		all[i], err = causeCases(ctx, &o, o.Seeds[i/o.Processes], uint64(i%o.Processes), &mix)
		return err
	})
	return slices.Concat(all...), err
}

func causeCases(ctx context.Context, o *Options, seed, number uint64, mix *workload.Mix) (list []CauseCase, err error) {
	p := workload.NewMixed(seed, number, 0, o.Behaviours, mix)
	judge := func(name string, e *workload.Evidence, err error) error {
		if err != nil {
			return fmt.Errorf("process %d of seed %d: %w", number, seed, err)
		}
		defer e.Close()
		r, err := analysis.Analyze(ctx, e.Inputs, e.Options)
		if err != nil {
			return fmt.Errorf("process %d of seed %d, %s: %w", number, seed, name, err)
		}
		list = append(list, causeCaseOf(p, name, r))
		return nil
	}
	for _, n := range o.Snapshots {
		e, err := p.Logs(ctx, n)
		if err := judge(fmt.Sprintf("%d snapshots", n), e, err); err != nil {
			return nil, err
		}
	}
	e, err := p.Trace(ctx)
	return list, judge(traceOf(p), e, err)
}

func causeCaseOf(p *workload.Process, name string, r *analysis.Report) CauseCase {
	c := CauseCase{Evidence: name, Rows: r.Verdict.Causes, Places: r.Verdict.Leaks}
	type grown struct{ object, cause int }
	var list []grown
	leaking, certain, innocent := map[int]bool{}, map[int]bool{}, map[int]bool{}
	for i := range r.Findings {
		f := &r.Findings[i]
		m := stackNumber.FindStringSubmatch(f.Title)
		if m == nil || !f.Verdict.IsSuspect() {
			continue
		}
		k, _ := strconv.Atoi(m[1])
		list = append(list, grown{p.Stacks[k].Object, f.CauseNumber})
		switch object := p.Stacks[k].Object; {
		case f.Verdict != analysis.ClassLeak:
		case p.Stacks[k].Truth != behaviour.Leaks:
			innocent[object] = true
		default:
			leaking[object], certain[object] = true, certain[object] || f.Certain
		}
	}
	c.Leaks, c.Innocent = len(leaking), len(innocent)
	for _, is := range certain {
		if is {
			c.Certain++
		}
	}
	for i, a := range list {
		for _, b := range list[:i] {
			one := a.cause > 0 && a.cause == b.cause
			switch {
			case a.object == b.object && one:
				c.Together, c.Found = c.Together+1, c.Found+1
			case a.object == b.object:
				c.Together++
			case one:
				c.Apart, c.Mistaken, c.Wrong = c.Apart+1, c.Mistaken+1, true
			default:
				c.Apart++
			}
		}
	}
	return c
}

// PrintCauses counts pairs of findings by kind of evidence.
func PrintCauses(w io.Writer, cases []CauseCase) error {
	kinds := kindsOf(cases, func(c *CauseCase) string { return c.Evidence })
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(t, "| evidence\t| runs\t| with a wrong group\t| independent pairs in one group\t| pairs of one object in one group\t| objects found to leak\t| certain\t| innocent ones\t| stacks of them\t| rows\t|")
	fmt.Fprintln(t, "| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t|")
	for _, kind := range kinds {
		var sum CauseCase
		runs, wrong := 0, 0
		for i := range cases {
			c := &cases[i]
			if c.Evidence != kind {
				continue
			}
			runs++
			if c.Wrong {
				wrong++
			}
			sum.Together, sum.Found, sum.Apart, sum.Mistaken = sum.Together+c.Together, sum.Found+c.Found, sum.Apart+c.Apart,
				sum.Mistaken+c.Mistaken
			sum.Leaks, sum.Certain, sum.Innocent = sum.Leaks+c.Leaks, sum.Certain+c.Certain, sum.Innocent+c.Innocent
			sum.Rows, sum.Places = sum.Rows+c.Rows, sum.Places+c.Places
		}
		fmt.Fprintf(t, "| %s\t| %d\t| %d\t| %d of %d\t| %d of %d\t| %d\t| %d\t| %d\t| %d\t| %d\t|\n", kind, runs, wrong, sum.Mistaken,
			sum.Apart, sum.Found, sum.Together, sum.Leaks, sum.Certain, sum.Innocent, sum.Places, sum.Rows)
	}
	return t.Flush()
}
