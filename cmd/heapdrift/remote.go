package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"

	"heapdrift/internal/push"
)

// remoteTries is how often a command that somebody watches tries to reach the server.
const remoteTries = 3

// remote is the project on a server that a command is about.
type remote struct{ url, token, project string }

func (r *remote) flags(set *flag.FlagSet) {
	set.StringVar(&r.url, "url", "", "address of the `server` (default $HEAPDRIFT_URL)")
	set.StringVar(&r.token, "token", "",
		"`token` of the project (default $HEAPDRIFT_TOKEN, which is safer: process lists do not show it)")
	set.StringVar(&r.project, "project", "", "`project` (default $HEAPDRIFT_PROJECT)")
}

// client takes from the environment what the flags do not say, and returns the client of the server.
func (r *remote) client(s streams) (*push.Client, error) {
	c, err := loadConfig()
	if err != nil {
		return nil, &usageError{err.Error()}
	}
	r.url, r.token, r.project = cmp.Or(r.url, c.URL), cmp.Or(r.token, c.Token), cmp.Or(r.project, c.Project)
	switch {
	case r.url == "":
		return nil, &usageError{"no server given: --url, or HEAPDRIFT_URL"}
	case r.project == "":
		return nil, &usageError{"no project given: --project, or HEAPDRIFT_PROJECT"}
	}
	client, err := push.NewClient(r.url, r.token)
	if err != nil {
		return nil, &usageError{err.Error()}
	}
	client.Tries = remoteTries
	client.Note = func(text string) { fmt.Fprintln(s.err, text) }
	return client, nil
}

// failed is the exit code of an error, and the error in the words of the command: what the server says of a field is
// about the command line.
func (r *remote) failed(err error) (int, error) {
	var usage *usageError
	var refused *push.Refusal
	switch {
	case errors.As(err, &usage):
		return exitUsage, err
	case errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity:
		return exitUsage, &usageError{refused.Detail}
	case errors.As(err, &refused) && refused.Status == http.StatusForbidden:
		return exitInput, fmt.Errorf("the token has no right for this in project %q (%s: %s): reading needs the scope read, changes the scope admin",
			r.project, refused.Code, refused.Detail)
	case errors.As(err, &refused) && refused.Status == http.StatusNotFound:
		return exitInput, fmt.Errorf("no project %q, or the token is of another project", r.project)
	}
	return exitInput, err
}

// browsable is an address that a browser on this machine can open.
func browsable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
