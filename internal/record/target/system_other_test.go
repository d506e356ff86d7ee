//go:build !windows

package target

import (
	"errors"
	"testing"
)

// A machine without Windows records nothing, and nobody has rights there.
func TestMachineWithoutWindows(t *testing.T) {
	var w Windows
	_, start := w.Start([]string{"a"}, false)
	_, open := w.Open(1)
	_, find := w.Find("a.exe")
	_, _, service := w.Service("s")
	_, restart := w.RestartService(t.Context(), "s")
	for _, err := range []error{start, open, find, service, restart} {
		if !errors.Is(err, ErrUnsupported) {
			t.Error(err)
		}
	}
	if w.Elevated() || w.Describe() == "" {
		t.Errorf("%s with rights", w.Describe())
	}
}
