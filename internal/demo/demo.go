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

	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/blob"
	"heapdrift/internal/intake"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols"
)

// Project is the demo project's name.
const Project = "shopd"

// actor is who accepted the leaks of the first build.
const actor = "demo"

// soak is the scenario whose report is opened, and unitTests that of logs with leaks at exit, whose leaks are accepted
// in the first build.
const (
	soak      = "soak-60min"
	unitTests = "unit-tests"
)

// Load uploads the demo evidence as any client would, waits for the results, and returns the path of the report of the
// last build. Evidence that is there already is not uploaded again.
func Load(ctx context.Context, in *intake.Intake, s *store.Store) (path string, err error) {
	var run, tested int64
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
		switch {
		case folder == soak:
			run = e.RunID
		case folder == unitTests && tested == 0:
			tested = e.RunID
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	if err := await(ctx, s, tested); err != nil {
		return "", err
	}
	if err := acceptAll(ctx, s, tested); err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	return fmt.Sprintf("/runs/%d", run), await(ctx, s, run)
}

// await waits until a run has a report.
func await(ctx context.Context, s *store.Store, run int64) error {
	for {
		r, err := store.Read(ctx, s, func(v store.View) (store.Run, error) { return v.FindRun(ctx, run) })
		if err != nil {
			return fmt.Errorf("demo: %w", err)
		}
		switch r.State() {
		case leaks.RunReady:
			return nil
		case leaks.RunFailed:
			return fmt.Errorf("demo: the demo evidence was not read: %s", r.Error)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// acceptAll marks the leaks of a run as known, as the team of the demo did when it turned its tool on.
func acceptAll(ctx context.Context, s *store.Store, run int64) error {
	side, err := store.Read(ctx, s, func(v store.View) (*compare.BuildResult, error) { return v.FindRunResult(ctx, run) })
	if err != nil {
		return err
	}
	review := leaks.ReviewOf(side)
	if review.Known > 0 { // it was done already, and somebody may have changed it since
		return nil
	}
	picks := make([]store.PickedSignature, len(review.Leaks))
	for i, signature := range review.Signatures() {
		picks[i] = store.PickedSignature{Signature: signature, Version: -1}
	}
	known := &leaks.Toleration{Reason: leaks.FirstRunReason}
	return s.UpdateTriages(ctx, Project, picks, leaks.TriageChange{Actor: actor, Known: known})
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
