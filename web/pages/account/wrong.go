package account

import (
	"errors"

	"heapdrift/internal/leaks"
)

// note puts what is wrong with a field beside it and reports whether an error was of that kind.
func note(wrong map[string]string, err error) bool {
	var field *leaks.FieldError
	if !errors.As(err, &field) {
		return false
	}
	wrong[field.Field] = field.Message
	return true
}
