package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"heapdrift/internal/leaks"
	"heapdrift/internal/push"
	"heapdrift/internal/record"
	"heapdrift/internal/record/flags"
)

// reportTime is how long a server may take to note the state of a recording.
const reportTime = 20 * time.Second

// tell tells the server which settings the recording of a run has changed on this machine. A server that does not
// take it, such as an older one, costs a line; the error is returned, too.
func (f *recordFlags) tell(ctx context.Context, client *push.Client, run int64, rec *record.Recording) error {
	text, err := json.Marshal(&rec.Sidecar)
	var state leaks.RecordingState
	if err == nil {
		err = json.Unmarshal(text, &state) // its part of recording.json
	}
	if err == nil {
		// Also after Ctrl C: the server has to hear that the settings are as before.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
		defer cancel()
		err = client.ReportRecording(ctx, run, &state)
	}
	if err != nil {
		return fmt.Errorf("the server was not told which settings are changed: %w", err)
	}
	return nil
}

// tellRestored tells the server of an undo file that its settings are restored. The task that calls it has no token.
func tellRestored(ctx context.Context, u *flags.Undo) error {
	client, err := push.NewClient(u.Server.URL, "")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime) // also after Ctrl C
	defer cancel()
	return client.ReportRestoredByKey(ctx, u.Server.Project, u.Server.Key, *u.RestoredAt)
}

// reportUndo tells the server of --push that nothing is changed on this machine any more.
func (f *recordFlags) reportUndo(ctx context.Context) error {
	if f.push.url == "" {
		return nil
	}
	project := cmp.Or(f.push.project, os.Getenv("HEAPDRIFT_PROJECT"))
	if project == "" {
		return &usageError{"--push needs --project"}
	}
	client, err := push.NewClient(f.push.url, cmp.Or(f.push.token, os.Getenv("HEAPDRIFT_TOKEN")))
	if err != nil {
		return &usageError{err.Error()}
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	return client.ReportRestored(ctx, project, host)
}
