package main

import (
	"bytes"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/internal/testdb"
	"heapdrift/web/guard"
)

func TestAccess(t *testing.T) {
	home, server := role{web: true, work: true, atHome: true}, role{web: true}
	for _, c := range []struct {
		config config
		role   role
		ip     string
		want   guard.Access
	}{
		{config{}, home, "127.0.0.1", guard.UntilFirstAccount},
		{config{}, home, "::1", guard.UntilFirstAccount},
		{config{}, home, "0.0.0.0", guard.ByAccount},
		{config{}, home, "192.168.1.7", guard.ByAccount},
		{config{Hosts: "leaks.example"}, home, "127.0.0.1", guard.ByAccount},
		{config{TrustProxy: "1"}, home, "127.0.0.1", guard.ByAccount},
		{config{TrustProxy: "0"}, home, "127.0.0.1", guard.UntilFirstAccount},
		{config{Open: "0"}, home, "127.0.0.1", guard.ByAccount},
		{config{Open: "1"}, home, "0.0.0.0", guard.Everybody},
		{config{}, server, "127.0.0.1", guard.ByAccount},
		{config{}, server, "0.0.0.0", guard.ByAccount},
		{config{Open: "1"}, server, "0.0.0.0", guard.Everybody},
	} {
		if got := c.config.access(c.role, &net.TCPAddr{IP: net.ParseIP(c.ip), Port: 8080}); got != c.want {
			t.Errorf("%+v at home %t on %s: %d, want %d", c.config, c.role.atHome, c.ip, got, c.want)
		}
	}
	if got := (&config{}).access(home, &net.UnixAddr{Name: "/run/x"}); got != guard.ByAccount {
		t.Errorf("on a socket: %d", got)
	}
}

func TestBadAccessInEnvironment(t *testing.T) {
	for name, value := range map[string]string{"HEAPDRIFT_OPEN": "yes", "HEAPDRIFT_OIDC_ISSUER": "https://id.example"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			if _, err := loadConfig(); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%v", err)
			}
		})
	}
}

// The link that setup-link prints opens an account on the server.
func TestSetupLink(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	url := testdb.New(t)
	t.Setenv("HEAPDRIFT_DATABASE_URL", url)
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"setup-link", "--url", "https://leaks.example/"},
		streams{out: &out, err: &errs}); code != exitOK {
		t.Fatalf("%d %s", code, &errs)
	}
	if link := strings.TrimSpace(out.String()); !regexp.MustCompile(`^https://leaks\.example/setup/[A-Z2-7]{26}$`).MatchString(link) {
		t.Errorf("%q", link)
	}
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if has, err := accountstore.HasUsers(t.Context(), db); has || err != nil {
		t.Errorf("%t %v", has, err)
	}
	t.Setenv("HEAPDRIFT_DATABASE_URL", "")
	t.Setenv("HEAPDRIFT_STATE_DIR", t.TempDir())
	errs.Reset()
	if code := run(t.Context(), []string{"setup-link"}, streams{out: &out, err: &errs}); code != exitInput ||
		!strings.Contains(errs.String(), "heapdrift up") {
		t.Errorf("without a database: %d %s", code, &errs)
	}
}

// A server at home serves everybody who reaches it, as long as nobody has an account.
func TestOpenAtHome(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	address := startServer(t)
	res, err := http.Get(address + "/")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("%s", res.Status)
	}
}
