// Command teamyear plays teams' years against the product and counts how often its gate and its states were right:
//
//	go run ./tools/teamyear [-half kept|tuning|afterwards] [-seeds 1,2,701-720] [-builds 40] [-places 30] [-worst]
//
// A team builds on main, on a release branch and on branches of pull requests; leaks come, go, come back, are renamed,
// accepted, assigned and picked; runs are lost, late, cut short and pushed twice. Each seed draws whether the team
// counts its work, has runs of different length, or sends symbols late. docs/method.md publishes what it prints.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"heapdrift/internal/embedded"
	"heapdrift/internal/store"
	"heapdrift/tools/leakeval/evaluation"
	"heapdrift/tools/teamyear/year"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "teamyear:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("teamyear", flag.ContinueOnError)
	half := flags.String("half", "kept", "behaviours: kept, which nothing was chosen on, tuning, or afterwards")
	seeds := flags.String("seeds", "1,2,3", "seeds of the teams; 701-720 is a range")
	builds := flags.Int("builds", 40, "builds on main")
	places := flags.Int("places", 30, "stacks of the program")
	worst := flags.Bool("worst", false, "print the years in which something went wrong, build by build")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o := year.Options{Builds: *builds, Places: *places, Behaviours: evaluation.HeldOut(), Worst: io.Discard}
	switch *half {
	case "kept":
	case "tuning":
		o.Behaviours = evaluation.Tuning()
	case "afterwards":
		o.Behaviours = evaluation.Afterwards()
	default:
		return fmt.Errorf("-half: %q is none of kept, tuning and afterwards", *half)
	}
	if *worst {
		o.Worst = os.Stdout
	}
	var err error
	if o.Seeds, err = parseSeeds(*seeds); err != nil {
		return err
	}
	if *builds < 6 || *places < 1 {
		return errors.New("a year has 6 builds or more, and a program 1 place or more")
	}
	return play(ctx, o)
}

// parseSeeds reads numbers and ranges, as in 1,2,701-720.
func parseSeeds(text string) (list []uint64, err error) {
	for word := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(word, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.ParseUint(from, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("-seeds: %w", err)
		}
		last, err := strconv.ParseUint(to, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("-seeds: %w", err)
		}
		if last < first {
			return nil, fmt.Errorf("-seeds: %s ends before it begins", word)
		}
		for seed := first; seed <= last; seed++ {
			list = append(list, seed)
		}
	}
	return list, nil
}

// play plays on a private database that goes when it ends.
func play(ctx context.Context, o year.Options) (err error) {
	dir, err := os.MkdirTemp("", "teamyear")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// The account that runs the server for root has to enter it.
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	postgres, err := embedded.StartPostgres(ctx, embedded.PostgresOptions{Dir: filepath.Join(dir, "postgres")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, postgres.Stop()) }()
	if err := store.Migrate(ctx, postgres.URL()); err != nil {
		return err
	}
	s, err := store.Open(ctx, postgres.URL())
	if err != nil {
		return err
	}
	defer s.Close()
	tally, err := year.Play(ctx, s, o)
	if err != nil {
		return err
	}
	_, err = fmt.Print(tally)
	return err
}
