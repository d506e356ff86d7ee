package store

import (
	"bytes"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"heapdrift/internal/store/internal/db"
)

// An internTable is a table of content-addressed rows, which are never changed: id, hash, and the columns of the
// content.
type internTable struct {
	name    string
	columns []string
}

var (
	frameTable = internTable{"frames", []string{"id", "hash", "module", "function", "offset", "file", "line", "inline",
		"layer", "address", "rule"}}
	stackTable = internTable{"stacks", []string{"id", "hash", "frames"}}
)

// internTries is how often rows are copied before it is given up: each time, somebody else has stored one of them
// meanwhile.
const internTries = 20

// lookUp adds the ids of stored rows to ids, and returns the hashes of the others in their order.
func lookUp(ctx context.Context, tx pgx.Tx, table string, hashes []digest, ids map[digest]int64) (missing []digest,
	err error) {
	list := make([]pgtype.UUID, len(hashes))
	for i, h := range hashes {
		list[i] = pgtype.UUID{Bytes: h, Valid: true}
	}
	rows, err := tx.Query(ctx, `select hash, id from `+table+` where hash = any($1)`, list)
	if err != nil {
		return nil, err
	}
	var hash pgtype.UUID
	var id int64
	_, err = pgx.ForEachRow(rows, []any{&hash, &id}, func() error {
		ids[hash.Bytes] = id
		return nil
	})
	for _, h := range hashes {
		if _, ok := ids[h]; !ok {
			missing = append(missing, h)
		}
	}
	slices.SortFunc(missing, func(a, b digest) int { return bytes.Compare(a[:], b[:]) })
	return missing, err
}

// intern adds the ids of all hashes to ids, and stores those rows that are not there yet.
//
// Rows are copied in the order of their hash, so that two workers that store the same ones wait for each other and
// never in a circle. The second worker finds a key taken, rolls back what it copied and looks again.
func intern(ctx context.Context, tx pgx.Tx, t internTable, hashes []digest, ids map[digest]int64,
	row func(digest) []any) error {
	for try := 1; ; try++ {
		missing, err := lookUp(ctx, tx, t.name, hashes, ids)
		if err != nil || len(missing) == 0 {
			return err
		}
		fresh, err := drawIDs(ctx, tx, t.name, len(missing))
		if err != nil {
			return err
		}
		err = copyRows(ctx, tx, t.name, t.columns, len(missing), func(i int) []any {
			return append([]any{fresh[i], pgtype.UUID{Bytes: missing[i], Valid: true}}, row(missing[i])...)
		})
		if db.IsTaken(err) && try < internTries {
			continue
		}
		if err != nil {
			return err
		}
		for i, h := range missing {
			ids[h] = fresh[i]
		}
		return nil
	}
}

// drawIDs draws ids for rows that are copied.
func drawIDs(ctx context.Context, tx pgx.Tx, table string, n int) ([]int64, error) {
	return db.Values[int64](ctx, tx, `
		with drawn as materialized (select pg_get_serial_sequence($1, 'id')::regclass as sequence)
		select nextval(sequence) from drawn, generate_series(1, $2)`, table, n)
}

// copyRows copies rows into a table. Where that fails, the transaction is as it was.
func copyRows(ctx context.Context, tx pgx.Tx, table string, columns []string, n int, row func(i int) []any) error {
	return pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		_, err := tx.CopyFrom(ctx, pgx.Identifier{table}, columns,
			pgx.CopyFromSlice(n, func(i int) ([]any, error) { return row(i), nil }))
		return err
	})
}
