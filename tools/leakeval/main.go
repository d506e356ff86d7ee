// Command leakeval measures how well heapdrift tells leaks from what only grows, on generated processes whose leaks are known:
//
//	go run ./tools/leakeval [-seeds 1,2,3] [-processes 250] [-snapshots 3,4,5,6,8,12,20]
//
// It prints precision, recall and average precision for each kind of evidence, a calibration table, and what became of each
// pattern. docs/method.md publishes what it prints.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"heapdrift/internal/analysis/score/evaluation"
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

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("leakeval", flag.ContinueOnError)
	seeds := flags.String("seeds", join(evaluation.EvaluationSeeds), "seeds of the processes; those used for tuning are "+join(evaluation.TuningSeeds))
	processes := flags.Int("processes", 250, "processes for each seed")
	snapshots := flags.String("snapshots", "3,4,5,6,8,12,20", "how many snapshots are taken, 2 to 32")
	fit := flags.Bool("fit", false, "print the calibration that fits these seeds, as package score has it, instead of tables")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o := evaluation.Options{Processes: *processes}
	for _, word := range strings.Split(*seeds, ",") {
		n, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return fmt.Errorf("-seeds: %w", err)
		}
		o.Seeds = append(o.Seeds, n)
	}
	for _, word := range strings.Split(*snapshots, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 2 || n > 32 {
			return fmt.Errorf("-snapshots: %q is no number from 2 to 32", word)
		}
		o.Snapshots = append(o.Snapshots, n)
	}
	all, err := evaluation.Run(ctx, o)
	if err != nil {
		return err
	}
	if *fit {
		printFits(all)
		return nil
	}
	return evaluation.Print(os.Stdout, all)
}

// printFits prints the knots for each number of snapshots up to 8, for all numbers above, and for traces.
func printFits(all []evaluation.Cases) {
	var many []evaluation.Cases
	show := func(name string, cases ...evaluation.Cases) {
		fmt.Printf("{ // %s\n", name)
		for _, k := range evaluation.FitCalibration(cases...) {
			fmt.Printf("\t{%.4f, %.4f},\n", k.Model, k.Real)
		}
		fmt.Println("},")
	}
	for _, cases := range all {
		switch {
		case cases.Snapshots > 8:
			many = append(many, cases)
			continue
		case cases.Snapshots == 0 && len(many) > 0:
			show("9 snapshots and more", many...)
		}
		show(cases.Name, cases)
	}
}

func join(seeds []uint64) string {
	words := make([]string, len(seeds))
	for i, s := range seeds {
		words[i] = strconv.FormatUint(s, 10)
	}
	return strings.Join(words, ",")
}
