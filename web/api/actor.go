package api

import (
	"net/http"
	"strings"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
)

// headerActor is the header that names the actor of a change where the server does not know the client. The name is not
// verified, and the audit says so.
const headerActor = "X-Heapdrift-Actor"

// actorOf is the actor of a request: the account that it comes from, or, where the server is open, the name that it
// claims.
func actorOf(r *http.Request) (string, error) {
	if a := accounts.ActorFrom(r.Context()); a.Known() {
		return a.Name, nil
	}
	name := strings.TrimSpace(r.Header.Get(headerActor))
	if name == "" {
		return leaks.UnnamedActor, nil
	}
	return name, leaks.CheckActor(name)
}
