package pagestest

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store/accountstore"
	"heapdrift/web/pages/account"
)

// LogIn makes an account with a role in the shop and returns the cookie of its session.
func LogIn(t *testing.T, s *Server, name string, role accounts.Role) string {
	t.Helper()
	link := accounts.NewLink()
	if _, err := accountstore.CreateUser(t.Context(), s.Store, name, "", false, "test"); err != nil {
		t.Fatal(err)
	}
	if err := accountstore.CreateUserLink(t.Context(), s.Store, link, name, "test"); err != nil {
		t.Fatal(err)
	}
	if err := accountstore.UpdateMember(t.Context(), s.Store, "shopd", name, role, "test"); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"password": {"correct horse"}, "again": {"correct horse"}}
	req := Must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost,
		s.URL+account.SetupPath(link.Text), strings.NewReader(form.Encode())))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close() // read only
	var cookies []string
	for _, c := range res.Cookies() {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	if res.StatusCode != http.StatusSeeOther || len(cookies) == 0 {
		t.Fatalf("%s cannot log in: %d", name, res.StatusCode)
	}
	return strings.Join(cookies, "; ")
}
