package accountstore_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m, store.Migrate) }

// A lab is a store in a database of its own.
type lab struct {
	testing.TB
	*store.Store
	conn *pgx.Conn
}

func newLab(t testing.TB) *lab {
	t.Helper()
	s, conn := storetest.Open(t)
	return &lab{t, s, conn}
}

func (l *lab) now() store.View { return storetest.Now(l, l.Store) }

func (l *lab) sql(statement string, args ...any) {
	l.Helper()
	if _, err := l.conn.Exec(l.Context(), statement, args...); err != nil {
		l.Fatal(err)
	}
}

func (l *lab) text(query string) (text string) {
	l.Helper()
	if err := l.conn.QueryRow(l.Context(), query).Scan(&text); err != nil {
		l.Fatal(err)
	}
	return text
}

// complaintOf is the field that an error is about; "" for none.
func complaintOf(err error) string {
	var wrong *leaks.FieldError
	if errors.As(err, &wrong) {
		return wrong.Field
	}
	return ""
}
