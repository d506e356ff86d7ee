package record

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/record/flags"
)

// ErrNotTold says that settings are restored, and that a server still shows them as changed.
var ErrNotTold = errors.New("record: a server was not told that settings are restored")

// tellTime is how long the scheduled task tries to tell a server that settings are restored. A server that is away for
// longer has more to catch up with.
const tellTime = 7 * 24 * time.Hour

// TellServers tells the servers of restored settings that they are restored. It returns what it did, in sentences, and
// ErrNotTold where a server did not hear: its undo file and the task stay, and try again.
func (m *Machine) TellServers(ctx context.Context) (done []string, err error) {
	undos, err := flags.ListRestored(m.UndoFolder)
	failures := []error{err}
	for _, u := range undos {
		failure := m.tell(ctx, u)
		switch {
		case failure == nil:
			done = append(done, fmt.Sprintf("%s was told that the settings of %s are as before", u.Server.URL, u.Image))
		case time.Since(*u.RestoredAt) <= tellTime:
			failures = append(failures, fmt.Errorf("%w: %s, %s: %s; heapdrift record --undo tries again%s", ErrNotTold,
				u.Server.URL, u.Image, strings.ReplaceAll(failure.Error(), "\n", "; "), hourly(u)))
			continue
		default:
			failures = append(failures, fmt.Errorf("%w for %s, and is not tried again: %s, %s: %s", ErrNotTold,
				quantity.ShortDuration(tellTime), u.Server.URL, u.Image, strings.ReplaceAll(failure.Error(), "\n", "; ")))
		}
		failures = append(failures, (&settings{machine: m, undo: u}).drop(ctx))
	}
	return done, errors.Join(failures...)
}

func hourly(u *flags.Undo) string {
	if u.Task == "" {
		return ""
	}
	return ", and a scheduled task does every hour"
}

var errNoServer = errors.New("the undo file names no server")

func (m *Machine) tell(ctx context.Context, u *flags.Undo) error {
	if u.Server == nil || m.Tell == nil {
		return errNoServer
	}
	return m.Tell(ctx, u)
}
