package api

import (
	"net/http"
	"strings"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
)

// headerActor says who changes something where the server does not know it: it is taken at its word and kept in the audit, unverified.
const headerActor = "X-Heapdrift-Actor"

// actorOf is who a request comes from, or says that it does where the server is open.
func actorOf(r *http.Request) (string, error) {
	if a := accounts.From(r.Context()); a.Known() {
		return a.Name, nil
	}
	name := strings.TrimSpace(r.Header.Get(headerActor))
	if name == "" {
		return leaks.Nobody, nil
	}
	return name, leaks.CheckActor(name)
}
