package symbols

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"heapdrift/ingest/capture"
	"heapdrift/internal/symbols/symsrv"
)

// A Resolver names the return addresses of captures.
type Resolver struct {
	Library Library
	// Indexes caches an index for each PDB; nil looks the addresses up in the PDB itself, which is faster for a PDB
	// that is needed once.
	Indexes IndexCache
}

// atOnce is how many modules are resolved at the same time. Building an index uses the cores by itself.
const atOnce = 2

// Resolve finds symbols for every module that return addresses of the captures lie in. progress gets how many of
// modules are done. Modules whose symbols cannot be found or read say so in the names; the error is the context's or
// the library's. No symbol server is waited for longer than a run may wait.
func (r *Resolver) Resolve(ctx context.Context, captures []*capture.Capture,
	progress func(done, modules int)) (*capture.Names, error) {
	ctx = symsrv.WithRunLimit(ctx)
	modules := collect(captures)
	names := &capture.Names{Images: make([]capture.Image, len(modules))}
	searches := make([]*search, len(modules))
	for i, w := range modules {
		searches[i] = &search{resolver: r, wantedModule: w, out: &names.Images[i]}
	}
	done := 0
	err := each(ctx, searches, func(ctx context.Context, s *search) error { return s.run(ctx, nil) }, func() {
		if done++; progress != nil {
			progress(done, len(modules))
		}
	})
	if err != nil {
		return nil, err
	}
	// What is proven helps to decide the rest: the files of one build usually lie together.
	proven, open := map[string]string{}, []*search(nil)
	for _, s := range searches {
		switch {
		case s.out.Proven:
			for _, group := range s.groups {
				proven[group] = s.FileName()
			}
		case s.undecided:
			open = append(open, s)
		}
	}
	if len(proven) > 0 {
		err = each(ctx, open, func(ctx context.Context, s *search) error { return s.run(ctx, proven) }, nil)
	}
	if err != nil {
		return nil, err
	}
	if err := r.expand(ctx, captures, names); err != nil {
		return nil, err
	}
	names.Sort()
	return names, nil
}

// each does something for all searches, some at the same time, and calls after behind each, one at a time.
func each(ctx context.Context, searches []*search, do func(context.Context, *search) error, after func()) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	var mu sync.Mutex
	for _, s := range searches {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(ctx, s); err != nil {
				return err
			}
			if after != nil {
				mu.Lock()
				defer mu.Unlock()
				after()
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("symbols: %w", err)
	}
	return nil
}
