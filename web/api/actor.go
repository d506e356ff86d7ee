package api

import (
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// headerActor says who changes something. There are no accounts yet: it is taken at its word and kept in the audit.
	headerActor = "X-Heapdrift-Actor"
	// Nobody is the actor of changes that do not say whose they are.
	Nobody = "somebody"
	// MaxActor is how long the name of an actor may be, in characters.
	MaxActor = 64
)

// actorOf is who a request says that it comes from.
func actorOf(r *http.Request) (string, error) {
	name := strings.TrimSpace(r.Header.Get(headerActor))
	if name == "" {
		return Nobody, nil
	}
	if !ValidActor(name) {
		return "", invalid("actor", "%s: at most %d printable characters", headerActor, MaxActor)
	}
	return name, nil
}

// ValidActor reports whether a name can stand in the audit: printable, and not too long for a line.
func ValidActor(name string) bool {
	return utf8.ValidString(name) && utf8.RuneCountInString(name) <= MaxActor && strings.TrimSpace(name) != "" &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
