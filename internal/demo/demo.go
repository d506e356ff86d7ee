// Package demo uploads the evidence of a demo project, a small service whose builds leak in known ways: UMDH logs, a
// trace and symbols. The files are embedded, so that everybody sees the same numbers; tools/demo makes them from tables
// of what the service allocates, and the pages can be checked against those.
package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"heapdrift/internal/blob"
	"heapdrift/internal/intake"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols"
)

// Project is the demo project's name.
const Project = "shopd"

// soak is the scenario whose report is opened.
const soak = "soak-60min"

// Load uploads the demo evidence as any client would, waits for the results, and returns the path of the report of the
// last build. Evidence that is there already is not uploaded again.
func Load(ctx context.Context, in *intake.Intake, s *store.Store) (path string, err error) {
	var run int64
	err = eachFile(func(build, folder, name string, content io.Reader) error {
		switch folder {
		case symbolsFolder:
			_, err := in.AcceptSymbols(ctx, build, name, content)
			return err
		case windowsFolder:
			return addFromServer(ctx, in, name, content)
		}
		target := leaks.UploadTarget{Project: Project, Build: build, Branch: "main", Scenario: folder}
		e, err := in.Accept(ctx, target, name, content)
		if folder == soak {
			run = e.RunID
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	for {
		r, err := store.Read(ctx, s, func(v store.View) (store.Run, error) { return v.FindRun(ctx, run) })
		if err != nil {
			return "", fmt.Errorf("demo: %w", err)
		}
		switch r.State() {
		case leaks.RunReady:
			return fmt.Sprintf("/runs/%d", run), nil
		case leaks.RunFailed:
			return "", fmt.Errorf("demo: the demo evidence was not read: %s", r.Error)
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// addFromServer keeps a symbol file as a worker does that has found it on a symbol server.
func addFromServer(ctx context.Context, in *intake.Intake, name string, content io.Reader) error {
	file, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	id, err := symbols.Identify(ctx, name, bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return err
	}
	digest, err := blob.PutContent(ctx, in.Blobs, bytes.NewReader(file))
	if err != nil {
		return err
	}
	_, err = in.Store.CreateSymbolFile(ctx, intake.SymbolFile(id, digest, store.OriginServer, ""))
	return err
}
