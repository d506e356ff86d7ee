package operators

import (
	"strings"
	"testing"

	"heapdrift/internal/store"
)

// Each failure has a line on what it means, by its code and by the text of its error.
func TestDiagnosis(t *testing.T) {
	for _, test := range []struct{ code, cause, want string }{
		{"internal", "queue: job 7 panicked: index out of range", "heapdrift has a bug"},
		{"internal", "store: invalid byte sequence (SQLSTATE 22021)", "PostgreSQL refused a text"},
		{"internal", "blob: open /x: permission denied", "correct its owner"},
		{"internal", "x", "heapdrift failed"},
		{"internal", "", "heapdrift failed"},
		{"worker-lost", "", "The worker ended"},
		{"memory-exceeded", "", "HEAPDRIFT_MEMORY"},
		{"reader-crashed", "signal: killed", "was killed"},
		{"reader-crashed", "exit status 2\npanic: index out of range", "which this file shows"},
		{"reader-crashed", "exit status 1", "process crashed"},
		{"reader-crashed", "panicked", "has a bug"},
		{"unknown-format", "", "refused for its content"},
	} {
		if got := diagnosis(&store.FailedJob{Job: store.Job{ErrorCode: test.code}, Cause: test.cause}); !strings.Contains(got, test.want) {
			t.Errorf("%s %q: %q", test.code, test.cause, got)
		}
	}
}
