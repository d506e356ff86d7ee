package api_test

import (
	"fmt"
	"strings"
	"testing"
)

// An upload names the commit of its build; an upload without one leaves the commit as it is, and a malformed name is
// refused.
func TestCommitOfABuild(t *testing.T) {
	n := start(t)
	for _, test := range []struct{ given, want string }{{"", ""}, {"1f0c9ab", "1f0c9ab"}, {"", "1f0c9ab"}, {"2", "2"}} {
		run := n.put(umdhLog(1000), "commit", test.given).Run
		shown := decode[struct{ Commit string }](t, n.do("GET", fmt.Sprintf("/api/v1/runs/%d", run), nil).want(t, 200, ""))
		if shown.Commit != test.want {
			t.Errorf("commit=%s: the build is of %q, not %q", test.given, shown.Commit, test.want)
		}
	}
	n.do("PUT", evidence("commit", "<script>"), strings.NewReader(umdhLog(1000))).want(t, 422, "invalid-commit")
}
