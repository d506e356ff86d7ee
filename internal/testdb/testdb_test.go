package testdb_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/testdb"
)

func TestMain(m *testing.M) {
	testdb.Main(m, func(ctx context.Context, url string) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }()
		_, err = conn.Exec(ctx, `create table marks (name text)`)
		return err
	})
}

// Every test has a database of its own, made from the migrated template.
func TestDatabasesAreApart(t *testing.T) {
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			conn, err := pgx.Connect(t.Context(), testdb.New(t))
			if err != nil {
				t.Fatal(err)
			}
			var n int
			if err := conn.QueryRow(t.Context(), `with added as (insert into marks values ('x')) select count(*) from marks`).Scan(&n); err != nil || n != 0 {
				t.Errorf("%d rows of other tests, %v", n, err)
			}
		})
	}
}
