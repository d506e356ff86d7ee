// Command fill gives a server the history of many teams, to measure what pages and the API take:
//
//	heapdrift up --demo
//	go run ./tools/fill postgres://…
//
// The database is that of a server with the demo, one of whose reports all generated runs show; run.json in the folder
// postgres of the state directory has the address. With the default numbers fill adds 100 projects, 2,000 builds,
// 20,000 runs, 5,000,000 sites and 200,000 signatures in some minutes; a tenth of the builds and signatures and 4,000
// runs are of the first project, team-001. Numbers are the same each time. A database is filled once.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store"
)

//go:embed fill.sql
var statements string

//go:embed indexes.sql
var indexStatements string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fill:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("fill", flag.ContinueOnError)
	numbers := map[string]*int{
		"@projects":   flags.Int("projects", 100, "the `number` of projects, 2 or more"),
		"@builds":     flags.Int("builds", 2000, "the `number` of builds"),
		"@runs":       flags.Int("runs", 20_000, "the `number` of runs"),
		"@large":      flags.Int("large", 4000, "the `number` of runs of the first project"),
		"@signatures": flags.Int("signatures", 200_000, "the `number` of signatures"),
		"@sites":      flags.Int("sites", 250, "the `number` of sites of a run"),
	}
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("flags: %w", err)
	}
	if flags.NArg() != 1 {
		return errors.New("give the address of the database, as run.json of the state folder has it")
	}
	var words []string
	for word, number := range numbers {
		words = append(words, word, strconv.Itoa(*number))
	}
	return fill(ctx, flags.Arg(0), strings.NewReplacer(words...))
}

// fill runs the statements, and then orders the builds, which finds the states of all that leaks.
func fill(ctx context.Context, url string, numbers *strings.Replacer) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.Background()) }() // nothing is left to write
	began := time.Now()
	say := func(what string) { fmt.Printf("%6.1f s  %s\n", time.Since(began).Seconds(), what) }
	if err := check(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `set synchronous_commit = off; set work_mem = '256MB'; set maintenance_work_mem = '512MB'`); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return insert(ctx, tx, numbers, say) }); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `vacuum analyze`); err != nil {
		return fmt.Errorf("vacuum: %w", err)
	}
	say("indexes and statistics are there")
	s, err := store.Open(ctx, url)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.UpdateBuildOrder(ctx); err != nil {
		return err
	}
	say("builds are in order, states are found")
	_, err = conn.Exec(ctx, `vacuum analyze`)
	return err
}

// insert runs the statements.
func insert(ctx context.Context, tx pgx.Tx, numbers *strings.Replacer, say func(string)) error {
	indexes, err := dropIndexes(ctx, tx, []string{"sites", "findings"})
	if err != nil {
		return err
	}
	for statement := range strings.SplitSeq(statements, "\n--;\n") {
		statement = numbers.Replace(strings.TrimSpace(statement))
		if statement == "" {
			continue
		}
		tag, err := tx.Exec(ctx, statement)
		if err != nil {
			return fmt.Errorf("%s: %w", firstWords(statement), err)
		}
		say(firstWords(statement) + ": " + strconv.FormatInt(tag.RowsAffected(), 10))
	}
	for _, index := range indexes {
		if _, err := tx.Exec(ctx, index); err != nil {
			return fmt.Errorf("%s: %w", index, err)
		}
	}
	return nil
}

// check returns an error unless a database has the demo and nothing of fill.
func check(ctx context.Context, conn *pgx.Conn) error {
	var template, filled bool
	if err := conn.QueryRow(ctx, `select exists (select from runs where summary is not null and not trace),
		exists (select from projects where name = 'team-001')`).Scan(&template, &filled); err != nil {
		return fmt.Errorf("look at the database: %w", err)
	}
	switch {
	case !template:
		return errors.New("the database has no report to show: start heapdrift up --demo, and wait for its reports")
	case filled:
		return errors.New("the database is filled already")
	}
	return nil
}

// dropIndexes drops indexes and keys of tables, so that filling them takes minutes, and returns the statements that
// make them again.
func dropIndexes(ctx context.Context, tx pgx.Tx, tables []string) (again []string, err error) {
	rows, err := tx.Query(ctx, indexStatements, tables)
	if err != nil {
		return nil, fmt.Errorf("indexes: %w", err)
	}
	var drop, add string
	var drops []string
	if _, err := pgx.ForEachRow(rows, []any{&drop, &add}, func() error {
		drops, again = append(drops, drop), append(again, add)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("indexes: %w", err)
	}
	for _, statement := range drops {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return nil, fmt.Errorf("%s: %w", statement, err)
		}
	}
	return again, nil
}

// firstWords is the beginning of a statement, without comments.
func firstWords(statement string) string {
	for line := range strings.Lines(statement) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			return line[:min(len(line), 60)]
		}
	}
	return ""
}
