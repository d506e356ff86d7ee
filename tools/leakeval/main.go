// Command leakeval measures how well heapdrift tells leaks from what only grows, on generated processes whose leaks are
// known:
//
//	go run ./tools/leakeval [-set kept|afterwards|tuning] [-seeds 1,2,3] [-processes 100] [-snapshots 5,6,8,12,20] [-runs 3]
//
// It prints precision and recall for each kind of evidence, a calibration table, what other rules would have flagged,
// and what became of each behaviour, the worst first. docs/method.md publishes what it prints.
//
//	go run ./tools/leakeval -places 30 [-leaks 1] [-matters 3MB/day]
//
// counts what the verdicts on whole runs would make of a gate, for processes of so many places that are clean or have
// leaks.
//
//	go run ./tools/leakeval -places 12 -leaks 6 -parts 3
//
// counts which findings are grouped by cause, where each place is an object of so many parts; with -parts 1, places
// that have nothing to do with each other and one caller. With -one-stack the parts of an object are judged as one.
//
//	go run ./tools/leakeval -fit internal/analysis/score/model_table.go
//
// fits the model on the behaviours that are for tuning, and writes its table.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"heapdrift/internal/analysis"
	"heapdrift/tools/leakeval/evaluation"
	"heapdrift/tools/leakeval/evaluation/workload"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "leakeval:", err)
		os.Exit(1)
	}
}

// arguments are what the command line says.
type arguments struct {
	set, seeds, snapshots, dumps, matters, fit string
	processes, runs, places, leaks, parts      int
	oneStack                                   bool
}

func (a *arguments) parse(args []string) error {
	flags := flag.NewFlagSet("leakeval", flag.ContinueOnError)
	flags.StringVar(&a.set, "set", "kept",
		"behaviours: kept, which nothing was chosen on, afterwards, which were written when the method was final, or tuning")
	flags.StringVar(&a.seeds, "seeds", "1,2,3", "seeds of the processes")
	flags.IntVar(&a.processes, "processes", 100, "processes for each seed")
	flags.IntVar(&a.runs, "runs", 1, "runs of each process; of several they are judged together")
	flags.StringVar(&a.snapshots, "snapshots", "5,6,8,12,20", "how many snapshots are taken")
	flags.StringVar(&a.dumps, "dumps", "8", "how many full dumps are taken")
	flags.IntVar(&a.places, "places", 0, "count the verdicts on runs of processes of so many places, half of them clean, instead of judging places")
	flags.StringVar(&a.matters, "matters", "", "with -places: the `growth` from which a leak matters, as in 3MB/day")
	flags.IntVar(&a.leaks, "leaks", 1, "with -places: how many places of the other half leak")
	flags.IntVar(&a.parts, "parts", 0, "with -places: count which findings are grouped by cause, where each place is an object of so many parts")
	flags.BoolVar(&a.oneStack, "one-stack", false, "with -parts: all parts of an object have one stack, so that they are judged as one")
	flags.StringVar(&a.fit, "fit", "", "fit the model on the behaviours for tuning and write its table to this `file`")
	return flags.Parse(args)
}

// options say what to evaluate.
func (a *arguments) options() (o evaluation.Options, err error) {
	o = evaluation.Options{Processes: a.processes, Runs: a.runs, Trace: true, Behaviours: evaluation.HeldOut()}
	switch {
	case a.set == "tuning" || a.fit != "":
		o.Behaviours = evaluation.Tuning()
	case a.set == "afterwards":
		o.Behaviours = evaluation.Afterwards()
	case a.set != "kept":
		return o, fmt.Errorf("-set: %q is none of kept, afterwards and tuning", a.set)
	}
	numbers, err := parse(a.seeds, "-seeds", 0, 1<<62)
	if err != nil {
		return o, err
	}
	for _, n := range numbers {
		o.Seeds = append(o.Seeds, uint64(n))
	}
	if o.Snapshots, err = parse(a.snapshots, "-snapshots", 2, 100); err != nil {
		return o, err
	}
	if o.Dumps, err = parse(a.dumps, "-dumps", 2, 100); err != nil {
		return o, err
	}
	if a.fit != "" {
		o.Dumps = nil
		o.Snapshots, o.Counted = evaluation.FittedSnapshots(), true
	}
	if a.matters != "" {
		threshold, err := analysis.ParseThreshold(a.matters)
		if err != nil {
			return o, fmt.Errorf("-matters: %w", err)
		}
		o.Matters = &analysis.RequestedThreshold{Threshold: threshold, By: "-matters"}
	}
	return o, nil
}

func run(ctx context.Context, args []string) error {
	var a arguments
	if err := a.parse(args); err != nil {
		return err
	}
	o, err := a.options()
	if err != nil {
		return err
	}
	switch {
	case a.places > 0 && a.parts > 0:
		mix := workload.Mix{Stacks: a.places, Leaks: a.leaks, Parts: a.parts, OneStack: a.oneStack}
		cases, err := evaluation.Causes(ctx, o, mix)
		if err != nil {
			return err
		}
		return evaluation.PrintCauses(os.Stdout, cases)
	case a.places > 0:
		cases, err := evaluation.Verdicts(ctx, o, a.places, a.leaks)
		if err != nil {
			return err
		}
		return evaluation.PrintVerdicts(os.Stdout, cases)
	case a.fit != "":
		return fitModels(ctx, o, a.fit)
	}
	all, err := evaluation.Run(ctx, o)
	if err != nil {
		return err
	}
	if a.runs > 1 {
		all = evaluation.Pooled(all)
	}
	return evaluation.Print(os.Stdout, all)
}

// fitModels fits the models of single runs, then those of several, and writes their table.
func fitModels(ctx context.Context, o evaluation.Options, file string) error {
	all, err := evaluation.Run(ctx, o)
	if err != nil {
		return err
	}
	models := evaluation.FitAll(all)
	o.Counted, o.Runs, o.Snapshots, o.Processes = false, evaluation.FittedRuns,
		evaluation.PooledSnapshots, max(1, o.Processes/2)
	if all, err = evaluation.Run(ctx, o); err != nil {
		return err
	}
	return write(file, models, evaluation.FitPools(all))
}

func write(file string, models []evaluation.Model, poolings []evaluation.Pooling) error {
	var text bytes.Buffer
	if err := evaluation.WriteModels(&text, models, poolings); err != nil {
		return err
	}
	source, err := format.Source(text.Bytes())
	if err != nil {
		return fmt.Errorf("-fit: %w", err)
	}
	for _, m := range models {
		fmt.Printf("%s from %d on: leak from %.2f, certain from %.2f\n", m.Kind, m.From, m.Leak, m.Certain)
	}
	for _, p := range poolings {
		fmt.Printf("%d runs, %s: leak from %.2f, certain from %.2f\n", p.Runs, p.Kind, p.Leak, p.Certain)
	}
	return os.WriteFile(file, source, 0o644)
}

func parse(list, name string, least, most int) (numbers []int, err error) {
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < least || n > most {
			return nil, fmt.Errorf("%s: %q is no number from %d to %d", name, word, least, most)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}
