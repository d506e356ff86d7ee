package api

import (
	"net/http/httptest"
	"testing"

	"heapdrift/internal/accounts"
)

// A person waits for what a page sends. A program may write what browsers write; with a token it stays a program.
func TestAwaited(t *testing.T) {
	token := accounts.OfToken(1, "ci", 1, []accounts.Scope{accounts.ScopeUpload})
	for what, test := range map[string]struct {
		actor accounts.Actor
		site  string
		want  bool
	}{
		"a page of a user":                 {accounts.Actor{Name: "ada", UserID: 1}, "same-origin", true},
		"a page of an open server":         {accounts.Actor{Open: true}, "same-origin", true},
		"a program":                        {accounts.Actor{Open: true}, "", false},
		"a token":                          {token, "", false},
		"a token that claims to be a page": {token, "same-origin", false},
	} {
		r := httptest.NewRequestWithContext(accounts.WithActor(t.Context(), &test.actor), "PUT", "/api/v1/evidence", nil)
		if test.site != "" {
			r.Header.Set("Sec-Fetch-Site", test.site)
		}
		if got := awaited(r); got != test.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}
