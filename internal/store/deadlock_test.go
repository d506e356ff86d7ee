package store

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Evidence is recorded anew where the database has ended the attempt to resolve a deadlock, and for no other refusal.
func TestIsDeadlock(t *testing.T) {
	for _, test := range []struct {
		err  error
		want bool
	}{
		{&pgconn.PgError{Code: "40P01"}, true},
		{fmt.Errorf("store: add evidence: %w", &pgconn.PgError{Code: "40P01"}), true},
		{&pgconn.PgError{Code: "40001"}, false},
		{&pgconn.PgError{Code: "23505"}, false},
		{errors.New("40P01"), false},
		{nil, false},
	} {
		if isDeadlock(test.err) != test.want {
			t.Errorf("%v is a deadlock: %t", test.err, !test.want)
		}
	}
}
