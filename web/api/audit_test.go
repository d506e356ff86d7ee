package api_test

import (
	"fmt"
	"strings"
	"testing"
)

// The audit of a project says when its builds came to stand in another order.
func TestProjectAudit(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	n := shopHistory(t)
	type audit struct {
		Audit []struct {
			Action, Actor, Signature string
			Before, After            struct{ Builds []string }
		}
	}
	const path = "/api/v1/projects/shop/audit"
	if trail := decode[audit](t, n.do("GET", path, nil).want(t, 200, "")); len(trail.Audit) != 0 {
		t.Errorf("%+v", trail)
	}
	n.do("PUT", "/api/v1/evidence?project=shop&build=1&sequence=9&scenario=declared&name=a.log",
		strings.NewReader(umdhLog(1000))).want(t, 201, "")
	trail := decode[audit](t, n.do("GET", path+"?limit=1", nil).want(t, 200, ""))
	if got, want := fmt.Sprint(trail.Audit), "[{order   {[1 2 3]} {[2 3 1]}}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// An upload without a sequence leaves the declared one as it is.
	n.do("PUT", "/api/v1/evidence?project=shop&build=1&scenario=declared&name=b.log",
		strings.NewReader(umdhLog(1000))).want(t, 201, "")
	if trail := decode[audit](t, n.do("GET", path, nil).want(t, 200, "")); len(trail.Audit) != 1 {
		t.Errorf("%+v", trail)
	}
	n.do("GET", "/api/v1/projects/nobody/audit", nil).want(t, 404, "not-found")
	n.do("GET", path+"?limit=x", nil).want(t, 422, "invalid-limit")
}
