package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store/internal/db"
)

// The database is away where it does not answer, has no connection left, shuts down or takes no writes; not where a
// query is wrong or its disk is full.
func TestIsUnavailable(t *testing.T) {
	for _, test := range []struct {
		err        error
		away, full bool
	}{
		{&pgconn.PgError{Code: "08006"}, true, false}, {&pgconn.PgError{Code: "53300"}, true, false},
		{&pgconn.PgError{Code: "53100"}, false, true}, {&pgconn.PgError{Code: "57P01"}, true, false},
		{&pgconn.PgError{Code: "57014"}, false, false}, {&pgconn.PgError{Code: "25006"}, true, false},
		{&pgconn.PgError{Code: "25001"}, false, false}, {&pgconn.PgError{Code: "23505"}, false, false},
		{&pgconn.ConnectError{}, true, false}, {&net.OpError{Op: "dial", Err: errors.New("refused")}, true, false},
		{context.DeadlineExceeded, true, false}, {context.Canceled, false, false}, {net.ErrClosed, true, false},
		{db.Wrap("run", io.ErrUnexpectedEOF), true, false}, {io.ErrUnexpectedEOF, false, false},
		{errors.New("conn closed"), true, false}, {ErrNotFound, false, false}, {errors.New("else"), false, false},
	} {
		for _, err := range []error{test.err, fmt.Errorf("%w, once more", test.err)} {
			if IsUnavailable(err) != test.away || IsDiskFull(err) != test.full {
				t.Errorf("%T %v: away %t, full %t", test.err, err, IsUnavailable(err), IsDiskFull(err))
			}
		}
	}
}

// Failures that another try may not meet are told from refusals of wrong content.
func TestIsRetryable(t *testing.T) {
	for _, code := range mended {
		if !IsRetryable(code) {
			t.Errorf("%s may not be tried again", code)
		}
	}
	for _, code := range []string{"", "bad-header", "not-etl"} {
		if IsRetryable(code) {
			t.Errorf("%s may be tried again", code)
		}
	}
}

// A report that names no findings has those that its sites make together: sums, the gravest class, the highest score.
func TestFindingsOfSites(t *testing.T) {
	amounts := func(n int64) analysis.Amounts {
		return analysis.Amounts{Outstanding: analysis.Amount{Count: n, Bytes: 10 * n}}
	}
	grown := func(n int64) analysis.Amounts {
		a := amounts(n)
		a.Growth, a.Lifetimes = &analysis.Amount{Count: n, Bytes: 5 * n}, &analysis.Lifetimes{Allocated: analysis.Amount{Count: n, Bytes: 7 * n}}
		return a
	}
	r := &analysis.Report{Sites: []analysis.Site{
		{Signature: "a", Kind: "heap", Verdict: analysis.ClassGrowing, Amounts: amounts(1), Score: new(0.4)},
		{Signature: "b", Kind: "heap", Verdict: analysis.ClassStable, Amounts: amounts(2)},
		{Signature: "a", Kind: "heap", Verdict: analysis.ClassLeak, Amounts: grown(3)},
		{Signature: "a", Kind: "heap", Verdict: analysis.ClassStable, Amounts: grown(4), Score: new(0.3)},
		{Signature: "", Kind: "heap", Amounts: amounts(5)},
		{Signature: "c", Kind: capture.KindHeapVirtual.String(), Amounts: amounts(6)},
	}}
	list := findingsOf(r)
	if len(list) != 2 {
		t.Fatalf("%d findings", len(list))
	}
	a, b := list[0], list[1]
	if a.Signature != "a" || a.Sites != 3 || a.Outstanding != (analysis.Amount{Count: 8, Bytes: 80}) ||
		*a.Growth != (analysis.Amount{Count: 7, Bytes: 35}) || a.Allocated != (analysis.Amount{Count: 7, Bytes: 49}) ||
		a.Verdict != analysis.ClassLeak || *a.Score != 0.4 {
		t.Errorf("%+v", a)
	}
	if b.Signature != "b" || b.Sites != 1 || b.Growth != nil || b.Lifetimes != nil || b.Score != nil {
		t.Errorf("%+v", b)
	}
	r.Findings = []analysis.Finding{{Signature: "x"}, {Signature: "y"}}
	list = findingsOf(r)
	if got := []string{list[0].Signature, list[1].Signature}; len(list) != 2 || !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("findings are %q", got)
	}
}
