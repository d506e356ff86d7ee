package evaluation

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"heapdrift/internal/analysis"
	"heapdrift/tools/leakeval/evaluation/workload"
)

// A RunCase is the verdict on one process, beside the truth.
type RunCase struct {
	Evidence string  // "12 snapshots", "trace", "attached trace"
	Leaks    int     // stacks that leak
	Lost     float64 // bytes that they lose per day
	Limit    float64 // bytes per day from which the verdict says that it would show a leak; 0 where it does not say
	Status   analysis.VerdictStatus
}

// Matters reports whether the process lost at least the limit of the verdict.
func (c *RunCase) Matters() bool { return c.Leaks > 0 && c.Lost >= c.Limit }

// Verdicts judges processes of so many stacks, half of them clean and half of them with the given number of leaks.
func Verdicts(ctx context.Context, o Options, places, leaks int) ([]RunCase, error) {
	n := len(o.Seeds) * o.Processes * 2
	all := make([][]RunCase, n)
	err := onAllCores(ctx, n, func(i int) (err error) {
		mix := workload.Mix{Stacks: places, Leaks: i % 2 * leaks}
		all[i], err = runCases(ctx, &o, o.Seeds[i/2/o.Processes], uint64(i%(2*o.Processes)), &mix)
		return err
	})
	return slices.Concat(all...), err
}

func runCases(ctx context.Context, o *Options, seed, number uint64, mix *workload.Mix) (list []RunCase, err error) {
	p := workload.NewMixed(seed, number, 0, o.Behaviours, mix)
	judge := func(name string, from float64, e *workload.Evidence, err error) error {
		if err != nil {
			return fmt.Errorf("process %d of seed %d: %w", number, seed, err)
		}
		defer e.Close()
		e.Options.Matters = o.Matters
		r, err := analysis.Analyze(ctx, e.Inputs, e.Options)
		if err != nil {
			return fmt.Errorf("process %d of seed %d, %s: %w", number, seed, name, err)
		}
		c := RunCase{Evidence: name, Leaks: mix.Leaks, Status: r.Verdict.Status,
			Lost: float64(p.Lost(from, p.Seconds)) * 86400 / (p.Seconds - from)}
		if u := r.Verdict.Undecided; u != nil && u.Limit.Unit == "day" {
			c.Limit = u.Limit.Bytes
		}
		list = append(list, c)
		return nil
	}
	for _, n := range o.Snapshots {
		e, err := p.Logs(ctx, n)
		if err := judge(fmt.Sprintf("%d snapshots", n), 0, e, err); err != nil {
			return nil, err
		}
	}
	e, err := p.Trace(ctx)
	return list, judge(traceOf(p), p.Attached, e, err)
}

// PrintVerdicts counts what the verdicts on runs would make of a gate, by kind of evidence: clean runs, runs whose leak
// is as large as the verdict says it would tell, and runs with a smaller one.
func PrintVerdicts(w io.Writer, cases []RunCase) error {
	kinds := kindsOf(cases, func(c *RunCase) string { return c.Evidence })
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(t, "| evidence\t| clean: exit 0\t| 1\t| 4\t| leak that matters: exit 0\t| 1\t| 4\t| smaller leak: exit 0\t| 1\t| 4\t|")
	fmt.Fprintln(t, "| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t|")
	for _, kind := range kinds {
		var n [3]map[analysis.VerdictStatus]int
		for i := range n {
			n[i] = map[analysis.VerdictStatus]int{}
		}
		for i := range cases {
			switch c := &cases[i]; {
			case c.Evidence != kind:
			case c.Leaks == 0:
				n[0][c.Status]++
			case c.Matters():
				n[1][c.Status]++
			default:
				n[2][c.Status]++
			}
		}
		fmt.Fprintf(t, "| %s\t|", kind)
		for _, counts := range n {
			for _, s := range []analysis.VerdictStatus{analysis.StatusNoLeak, analysis.StatusLeak, analysis.StatusInconclusive} {
				fmt.Fprintf(t, " %d\t|", counts[s])
			}
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// kindsOf are the kinds of evidence of cases, in the order of tables.
func kindsOf[T any](cases []T, kind func(*T) string) (kinds []string) {
	for i := range cases {
		if k := kind(&cases[i]); !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	slices.SortStableFunc(kinds, func(a, b string) int { return order(namedKind(a)) - order(namedKind(b)) })
	return kinds
}

func namedKind(name string) Cases {
	c := Cases{Name: name}
	_, _ = fmt.Sscanf(name, "%d", &c.Snapshots)
	return c
}
