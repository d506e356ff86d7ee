// Package demo makes the evidence of a demo project, a small service whose builds leak in known ways. Load uploads UMDH
// logs and symbols to a server, WriteFiles writes the files of one build to a folder. The package generates all of
// them, so that everybody sees the same numbers, and the pages can be checked against the tables in process.go.
package demo

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"heapdrift/ingest/etl/etltest"
	"heapdrift/internal/blob"
	"heapdrift/internal/intake"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols"
)

// Project is the demo project's name.
const Project = "shopd"

const scenario = "soak-60min"

// Load uploads the demo evidence through the same door as everybody's, waits for the results and returns the path of
// the report to open. It does nothing where the evidence is there already.
func Load(ctx context.Context, in *intake.Intake, s *store.Store) (path string, err error) {
	var run int64
	for _, build := range builds {
		images, err := build.images(ctx)
		if err != nil {
			return "", err
		}
		if err := addSymbols(ctx, in, build.name, images); err != nil {
			return "", fmt.Errorf("demo: %w", err)
		}
		for k := range snapshots {
			var log bytes.Buffer
			if err := build.write(&log, images, k); err != nil {
				return "", fmt.Errorf("demo: %w", err)
			}
			e, err := in.Accept(ctx, leaks.Target{Project: Project, Build: build.name, Branch: "main", Scenario: scenario},
				fmt.Sprintf("shopd-%d.log", k+1), &log)
			if err != nil {
				return "", fmt.Errorf("demo: %w", err)
			}
			run = e.RunID
		}
		if build.name != builds[len(builds)-1].name {
			continue
		}
		trace := build.trace(images).File(etltest.Format{Compressed: true})
		if _, err := in.Accept(ctx, leaks.Target{Project: Project, Build: build.name, Branch: "main",
			Scenario: traceScenario}, traceFile, bytes.NewReader(trace)); err != nil {
			return "", fmt.Errorf("demo: %w", err)
		}
	}
	for {
		r, err := store.Read(ctx, s, func(v store.View) (store.Run, error) { return v.Run(ctx, run) })
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

// addSymbols uploads the program's symbols as its team would, and keeps those of Windows as a worker does that has
// found them on a symbol server.
func addSymbols(ctx context.Context, in *intake.Intake, group string, images []image) error {
	for i := range images {
		m := &images[i]
		files := []struct {
			name    string
			content []byte
		}{{m.pdbName, m.pdb}, {m.fileName(), m.exe}}
		for _, f := range files {
			switch m.symbols {
			case private:
				if _, err := in.AcceptSymbols(ctx, group, f.name, bytes.NewReader(f.content)); err != nil {
					return err
				}
			case public:
				id, err := symbols.Identify(ctx, f.name, bytes.NewReader(f.content), int64(len(f.content)))
				if err != nil {
					return err
				}
				digest, err := blob.PutContent(ctx, in.Blobs, bytes.NewReader(f.content))
				if err != nil {
					return err
				}
				if _, err := in.Store.AddSymbolFile(ctx, intake.SymbolFile(id, digest, store.OriginServer, "")); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
