// Package leaks is the domain: what a project knows of its leaks, decided in one place. In come what runs found
// (classes, figures, the order of builds) and what the team says; out go states, outcomes of builds, verdicts and
// gates, and the words for them. It knows no SQL and no HTTP: the store loads and saves, the API and the pages show.
package leaks

import "fmt"

// A FieldError says which field of a request is wrong, and how.
type FieldError struct{ Field, Message string }

func (e *FieldError) Error() string { return e.Field + ": " + e.Message }

func wrongField(field, format string, args ...any) *FieldError {
	return &FieldError{field, fmt.Sprintf(format, args...)}
}
