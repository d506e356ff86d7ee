package evaluation

import (
	"fmt"
	"io"
	"text/tabwriter"

	"heapdrift/internal/analysis/score"
)

// Print writes all tables.
func Print(w io.Writer, all []Cases) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "evidence\tsites\tleak: P\tR\tscore>0.5: P\tR\tscore≥0.9: P\tR\tcertain: P\tR\tavg P\tnot full: flagged")
	for i := range all {
		c := &all[i]
		leak, half, most, certain := c.Quality(IsLeak), c.Quality(ScoreAbove(0.5)), c.Quality(ScoreAbove(score.CertainScore-1e-12)), c.Quality(IsCertain)
		fmt.Fprintf(t, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.0f %%\n", c.Name, len(c.List), leak.Precision, leak.Recall,
			half.Precision, half.Recall, most.Precision, most.Recall, certain.Precision, certain.Recall, c.AveragePrecision(), 100*c.notFullFlagged())
	}
	fmt.Fprintln(t)
	fmt.Fprint(t, "calibration: share of leaks (cases)")
	for b := range 10 {
		fmt.Fprintf(t, "\t%.1f–%.1f", float64(b)/10, float64(b+1)/10)
	}
	fmt.Fprintln(t)
	for i := range all {
		fmt.Fprint(t, all[i].Name)
		for _, b := range all[i].Calibration() {
			if b.Cases == 0 {
				fmt.Fprint(t, "\t–")
				continue
			}
			fmt.Fprintf(t, "\t%.2f (%d)", b.Real, b.Cases)
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t)
	fmt.Fprint(t, "classed a leak, by pattern")
	for i := range all {
		fmt.Fprint(t, "\t"+all[i].Name)
	}
	fmt.Fprintln(t)
	rows := map[string][]PatternCount{}
	var order []string
	for i := range all {
		for _, p := range all[i].Patterns() {
			if i == 0 {
				order = append(order, p.Pattern)
			}
			rows[p.Pattern] = append(rows[p.Pattern], p)
		}
	}
	for _, name := range order {
		kind := "innocent"
		switch {
		case rows[name][0].Leaks:
			kind = "leak"
		case rows[name][0].NotFull:
			kind = "undecidable"
		}
		fmt.Fprintf(t, "%s: %s", kind, name)
		for _, p := range rows[name] {
			fmt.Fprintf(t, "\t%.1f %%", 100*ratio(p.Flagged, p.Cases))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func (c *Cases) notFullFlagged() float64 {
	var flagged, all int
	for i := range c.List {
		if k := &c.List[i]; k.NotFull {
			all++
			if IsLeak(&k.Result) {
				flagged++
			}
		}
	}
	return ratio(flagged, all)
}
