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

// A database whose disk is full answers, and the trial of it fails until it takes rows again.
func TestOutageOfWrites(t *testing.T) {
	l := newLab(t)
	for range 2 { // the row is new, then it is there
		if err := l.TryWrite(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	l.sql(`create function refuse() returns trigger language plpgsql as
		$$ begin raise 'could not extend file' using errcode = '53100'; end $$`)
	l.sql(`create trigger full_disk before insert or update on rounds for each row execute function refuse()`)
	if err := l.Ping(t.Context()); err != nil {
		t.Errorf("it does not answer: %v", err)
	}
	if err := l.TryWrite(t.Context()); !store.IsDiskFull(err) || !store.IsQueryError(err) {
		t.Errorf("on a full disk: %v", err)
	}
	l.sql(`drop trigger full_disk on rounds`)
	if err := l.TryWrite(t.Context()); err != nil {
		t.Error(err)
	}
}
