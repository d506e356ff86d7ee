package pdb

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// A query is an address that LookupAll was asked for.
type query struct {
	rva     uint32 // in the source space
	section uint16
	module  int32 // -1: none
	index   int   // of the question
}

// LookupAll looks many RVAs up. It fills out, which must be as long as rvas; what the PDB knows nothing of stays empty.
// Each module is read once, and no more than one per core at a time.
func (f *File) LookupAll(ctx context.Context, rvas []uint32, out []Location) error {
	if len(out) < len(rvas) {
		return fail(CodeUnsupported, -1, 0, "%d addresses and room for %d locations", len(rvas), len(out))
	}
	s, err := f.space()
	if err != nil {
		return err
	}
	queries := make([]query, 0, len(rvas))
	for i, rva := range rvas {
		out[i] = Location{}
		at, ok := f.ToSource(rva)
		if !ok {
			continue
		}
		if section := f.section(at); section != 0 {
			queries = append(queries, query{at, uint16(section), moduleAt(s.contributions, at), i})
		}
	}
	if err := f.locateAll(ctx, queries, out); err != nil {
		return err
	}
	left := make([]query, 0, len(queries))
	for _, q := range queries {
		if out[q.index].Kind == "" {
			left = append(left, q)
		}
	}
	if len(left) > 0 {
		strays, err := f.straysOf(ctx, s.contributions)
		if err != nil {
			return err
		}
		for i := range left {
			left[i].module = moduleAt(strays, left[i].rva)
		}
		if err := f.locateAll(ctx, left, out); err != nil {
			return err
		}
	}
	slices.SortFunc(queries, func(a, b query) int { return compareUint32(a.rva, b.rva) })
	return f.nameAll(ctx, s, queries, out)
}

func moduleAt(contributions []contribution, rva uint32) int32 {
	if i, ok := contributionAt(contributions, rva); ok {
		return int32(contributions[i].module)
	}
	return -1
}

// locateAll answers queries from the modules that they name, and reorders them.
func (f *File) locateAll(ctx context.Context, queries []query, out []Location) error {
	slices.SortFunc(queries, func(a, b query) int {
		return cmp.Or(cmp.Compare(a.module, b.module), cmp.Compare(a.rva, b.rva))
	})
	var groups [][]query
	for i := 0; i < len(queries); {
		j := i + 1
		for j < len(queries) && queries[j].module == queries[i].module {
			j++
		}
		if queries[i].module >= 0 {
			groups = append(groups, queries[i:j])
		}
		i = j
	}
	return inParallel(ctx, len(groups), func(ctx context.Context, next func() (int, bool)) error {
		var buf []byte
		for i, ok := next(); ok; i, ok = next() {
			m, err := f.loadModule(ctx, int(groups[i][0].module), buf)
			if err != nil {
				return err
			}
			buf = m.memory
			l := locator{m: m}
			for _, q := range groups[i] {
				if err := l.locate(ctx, q.rva, &out[q.index]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// queriesTogether is how many ascending addresses one worker asks the public symbols for.
const queriesTogether = 1024

// nameAll adds the public symbols to queries in ascending order.
func (f *File) nameAll(ctx context.Context, s space, queries []query, out []Location) error {
	chunks := slices.Collect(slices.Chunk(queries, queriesTogether))
	return inParallel(ctx, len(chunks), func(_ context.Context, next func() (int, bool)) error {
		o := overlay{f: f, s: s}
		for i, ok := next(); ok; i, ok = next() {
			for _, q := range chunks[i] {
				known, err := o.public(q.rva, int(q.section), &out[q.index])
				if err != nil {
					return err
				}
				if !known {
					out[q.index] = Location{}
				}
			}
		}
		return nil
	})
}

// inParallel runs work on all cores. Each worker takes the numbers below n that are left, until the context ends.
func inParallel(ctx context.Context, n int, work func(ctx context.Context, next func() (int, bool)) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var taken atomic.Int64
	next := func() (int, bool) {
		i := int(taken.Add(1)) - 1
		return i, i < n && ctx.Err() == nil
	}
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			if err := work(ctx, next); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
