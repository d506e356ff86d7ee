package watch

import (
	"log/slog"
	"testing"
)

// A hub logs where it is told to, and nowhere without a log.
func TestLogOfAHub(t *testing.T) {
	if h := New(nil, nil); h.log == nil || h.log.Enabled(t.Context(), slog.LevelError) {
		t.Error("a hub without a log logs")
	}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	if h := New(nil, log); h.log != log {
		t.Error("a hub logs elsewhere")
	}
}
