package main

import (
	"errors"
	"strings"
	"testing"

	"heapdrift/internal/livesnapshot"
)

// Only where Windows refuses the process to a user who is no administrator, the command restarts or says how.
func TestSnapshotElevate(t *testing.T) {
	denied := &livesnapshot.Error{Code: livesnapshot.CodeAccess, PID: 4, Message: "Windows does not let it be read"}
	gone := &livesnapshot.Error{Code: livesnapshot.CodeProcess, PID: 4, Message: "no process has this number"}
	for name, test := range map[string]struct {
		elevation elevation
		err       error
		says      string // of the error
		prints    string // on standard error; "" for nothing
	}{
		"denied":            {elevation{}, denied, "add --elevate", "elevated   pushd "},
		"denied, restart":   {elevation{elevate: true}, denied, "as administrator", "restarting as administrator"},
		"denied after that": {elevation{elevate: true, elevated: true}, denied, denied.Message, ""},
		"gone":              {elevation{elevate: true}, gone, gone.Message, ""},
		"another error":     {elevation{elevate: true}, errors.New("disk full"), "disk full", ""},
	} {
		var printed strings.Builder
		f := snapshotFlags{elevation: test.elevation}
		code, err := f.refused(t.Context(), test.err, streams{out: &printed, err: &printed})
		if code != exitInput || err == nil || !strings.Contains(err.Error(), test.says) ||
			!strings.Contains(printed.String(), test.prints) || test.prints == "" && printed.String() != "" {
			t.Errorf("%s: exit code %d, %v\n%s", name, code, err, printed.String())
		}
	}
}
