package store_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store"
	"heapdrift/internal/store/internal/db"
)

// A connection that is lost in the middle of a transaction is an outage, whatever callers add to the error.
func TestLostConnectionInTransaction(t *testing.T) {
	l := newLab(t)
	err := db.Tx(t.Context(), l.Store, "add evidence", func(pgx.Tx) error { return io.ErrUnexpectedEOF })
	if err = fmt.Errorf("intake: record a.txt: %w", err); !store.IsUnavailable(err) {
		t.Errorf("%v is no outage", err)
	}
	if store.IsUnavailable(fmt.Errorf("intake: read the upload: %w", io.ErrUnexpectedEOF)) {
		t.Error("an upload that ends too early is an outage")
	}
}
