package api

import (
	"net/http"
	"strings"

	"heapdrift/internal/leaks"
)

// headerActor says who changes something. There are no accounts yet: it is taken at its word and kept in the audit.
const headerActor = "X-Heapdrift-Actor"

// actorOf is who a request says that it comes from.
func actorOf(r *http.Request) (string, error) {
	name := strings.TrimSpace(r.Header.Get(headerActor))
	if name == "" {
		return leaks.Nobody, nil
	}
	return name, leaks.CheckActor(name)
}
