package evaluation

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// Print writes all tables, as docs/method.md has them.
func Print(w io.Writer, all []Cases) error {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	printQuality(t, all)
	printCalibration(t, all)
	printRivals(t, all)
	printBehaviours(t, all)
	return t.Flush()
}

func printQuality(w io.Writer, all []Cases) {
	fmt.Fprintln(w, "| evidence\t| stacks\t| leak: precision\t| recall\t| certain: precision\t| recall\t| average precision\t|")
	fmt.Fprintln(w, "| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t|")
	for i := range all {
		c := &all[i]
		leak, certain := c.Quality(IsLeak), c.Quality(IsCertain)
		fmt.Fprintf(w, "| %s\t| %d\t| %.3f\t| %.3f\t| %.3f\t| %.3f\t| %.3f\t|\n", c.Name, len(c.List), leak.Precision,
			leak.Recall, certain.Precision, certain.Recall, c.AveragePrecision())
	}
	fmt.Fprintln(w)
}

func printCalibration(w io.Writer, all []Cases) {
	fmt.Fprint(w, "| evidence\t|")
	for b := range 10 {
		fmt.Fprintf(w, " %.1f–%.1f\t|", float64(b)/10, float64(b+1)/10)
	}
	fmt.Fprintln(w, "\n|"+strings.Repeat(" ---\t|", 11))
	for i := range all {
		fmt.Fprintf(w, "| %s\t|", all[i].Name)
		for _, b := range all[i].Calibration() {
			if b.Cases == 0 {
				fmt.Fprint(w, " –\t|")
				continue
			}
			fmt.Fprintf(w, " %.2f → %.2f (%d)\t|", b.Mean, b.Real, b.Cases)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}

func printRivals(w io.Writer, all []Cases) {
	fmt.Fprintln(w, "| evidence\t| rule\t| precision\t| recall\t|\n|"+strings.Repeat(" ---\t|", 4))
	for i := range all {
		c := &all[i]
		for k, rival := range RivalsOf(c) {
			q := c.Quality(func(c *Case) bool { return len(c.Rivals) > k && c.Rivals[k] })
			fmt.Fprintf(w, "| %s\t| %s\t| %.2f\t| %.2f\t|\n", c.Name, rival.Name, q.Precision, q.Recall)
		}
	}
	fmt.Fprintln(w)
}

var truthWords = map[behaviour.Truth]string{behaviour.Leaks: "leak", behaviour.Innocent: "innocent",
	behaviour.Undecidable: "undecidable"}

// printBehaviours lists what is judged worst first, by truth.
func printBehaviours(w io.Writer, all []Cases) {
	fmt.Fprint(w, "| called a leak\t|")
	type row struct {
		behaviour *behaviour.Behaviour
		cells     []string
		missed    float64
	}
	rows := map[*behaviour.Behaviour]*row{}
	for i := range all {
		fmt.Fprintf(w, " %s\t|", all[i].Name)
		for _, b := range all[i].Behaviours() {
			r := rows[b.Behaviour]
			if r == nil {
				r = &row{behaviour: b.Behaviour, cells: make([]string, len(all))}
				rows[b.Behaviour] = r
			}
			r.cells[i] = fmt.Sprintf("%.0f %% of %d", 100*b.Share(), b.Cases)
			r.missed += b.Missed()
		}
	}
	fmt.Fprintln(w, "\n|"+strings.Repeat(" ---\t|", len(all)+1))
	var list []*row
	for _, r := range rows {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *row) int {
		return cmp.Or(cmp.Compare(order3(a.behaviour.Truth), order3(b.behaviour.Truth)), cmp.Compare(b.missed, a.missed),
			cmp.Compare(a.behaviour.Name, b.behaviour.Name))
	})
	for _, r := range list {
		fmt.Fprintf(w, "| %s: %s\t|", truthWords[r.behaviour.Truth], r.behaviour.Name)
		for _, cell := range r.cells {
			fmt.Fprintf(w, " %s\t|", cmp.Or(cell, "–"))
		}
		fmt.Fprintln(w)
	}
}

// order3 puts leaks first and what is undecidable last.
func order3(t behaviour.Truth) int {
	return map[behaviour.Truth]int{behaviour.Leaks: 0, behaviour.Innocent: 1, behaviour.Undecidable: 2}[t]
}
