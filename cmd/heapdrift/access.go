//go:build !client

package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"time"

	"heapdrift/internal/accounts"
	"heapdrift/internal/embedded"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/web/guard"
	"heapdrift/web/pages/account"
)

// serverAddress is the address that a server listens on and the access that it grants.
type serverAddress struct {
	address string
	access  guard.Access
}

// access decides whether a server on an address asks for a login. A server on loopback does not while there is no
// account, unless others reach it through a proxy, which HEAPDRIFT_HOSTS or HEAPDRIFT_TRUST_PROXY tell.
func (c *config) access(r role, address net.Addr) guard.Access {
	at, ok := address.(*net.TCPAddr)
	switch {
	case c.Open == "1":
		return guard.Everybody
	case c.Open == "" && r.atHome && ok && at.IP.IsLoopback() && c.Hosts == "" && (c.TrustProxy == "" || c.TrustProxy == "0"):
		return guard.UntilFirstAccount
	}
	return guard.ByAccount
}

func (c *config) issuer() *account.Issuer {
	if c.Issuer == "" {
		return nil
	}
	return &account.Issuer{Name: c.IssuerName, URL: c.Issuer, ClientID: c.IssuerClient, Secret: c.IssuerSecret}
}

// printAccess prints who may use the server, and a link for the first account where there is none.
func (p *parts) printAccess(ctx context.Context, w io.Writer, access guard.Access, url string) error {
	if access == guard.Everybody {
		fmt.Fprintln(w, "HEAPDRIFT_OPEN is 1: everyone who can reach this server has all rights, without an account")
		return nil
	}
	has, err := accountstore.HasUsers(ctx, p.store)
	if err != nil || has {
		return err
	}
	link, err := newSetupLink(ctx, p.store, url)
	if err != nil {
		return err
	}
	if access == guard.UntilFirstAccount {
		fmt.Fprintln(w, "no log-in is needed on this machine until the first account is created")
	}
	fmt.Fprintf(w, "to create the first account: %s (works once, for %d hours)\n", link, int(accounts.LinkAge/time.Hour))
	return nil
}

// logAccess is the same for servers whose output nobody reads at once: a log is no place for a secret.
func (p *parts) logAccess(ctx context.Context, access guard.Access) error {
	if access == guard.Everybody {
		p.log.Warn("HEAPDRIFT_OPEN is 1: everyone who can reach this server has all rights, without an account")
		return nil
	}
	has, err := accountstore.HasUsers(ctx, p.store)
	if err == nil && !has {
		p.log.Warn("no account exists: heapdrift setup-link prints a link that creates the first one")
	}
	return err
}

func newSetupLink(ctx context.Context, s *store.Store, url string) (string, error) {
	link := accounts.NewLink()
	if err := accountstore.CreateSetupLink(ctx, s, link, "setup-link"); err != nil {
		return "", err
	}
	return strings.TrimSuffix(url, "/") + account.SetupPath(link.Text), nil
}

// setupLink prints a link that opens the account of an admin. Everybody who may use the database may have one, also an
// admin who has lost the password.
func setupLink(ctx context.Context, args []string, s streams) (int, error) {
	flags := flag.NewFlagSet("setup-link", flag.ContinueOnError)
	url := flags.String("url", "",
		"address of the server for browsers (default HEAPDRIFT_URL, else HEAPDRIFT_LISTEN)")
	rest, err := parse(flags, args, s)
	if err != nil {
		return exitUsage, err
	}
	if len(rest) > 0 {
		return exitUsage, &usageError{"takes no arguments but --url"}
	}
	c, err := loadConfig()
	if err != nil {
		return exitUsage, err
	}
	if c.DatabaseURL == "" { // that of up, which runs
		if c.DatabaseURL, err = embedded.RunningPostgres(filepath.Join(cmp.Or(c.StateDir, embedded.DefaultStateDir()),
			"postgres")); err != nil {
			return exitInput, err
		}
	}
	db, err := store.Open(ctx, c.DatabaseURL)
	if err != nil {
		return exitInput, err
	}
	defer db.Close()
	link, err := newSetupLink(ctx, db, cmp.Or(*url, c.URL, "http://"+browsable(c.Listen)))
	if err != nil {
		return exitInput, err
	}
	fmt.Fprintln(s.out, link)
	return exitOK, nil
}
