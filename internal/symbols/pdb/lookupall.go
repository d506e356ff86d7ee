package pdb

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// A query is an address that LookupAll was asked for.
type query struct {
	rva     uint32 // in the source space (see OMAP)
	index   uint32 // of the address in rvas, and of its answer in out
	module  int32  // -1: none
	section uint16
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
	queries := f.queries(s, rvas)
	clear(out[:len(rvas)])
	if err := f.locateAll(ctx, queries, out); err != nil {
		return err
	}
	// What no contribution's module knows may be code of a module that contributes nothing.
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
	return f.nameAll(ctx, s, queries, out)
}

// queries are the addresses that are in a section, ascending, with the modules that contributed them.
func (f *File) queries(s space, rvas []uint32) []query {
	order := make([]uint64, 0, len(rvas)) // the address above the number: they sort faster than queries do
	for i, rva := range rvas {
		if at, ok := f.ToSource(rva); ok {
			order = append(order, uint64(at)<<32|uint64(uint32(i)))
		}
	}
	slices.Sort(order)
	queries := make([]query, 0, len(order))
	rest := s.contributions
	for _, o := range order {
		q := query{rva: uint32(o >> 32), index: uint32(o), module: -1}
		section := f.section(q.rva)
		if section == 0 {
			continue
		}
		q.section = uint16(section)
		if len(rest) > 1 && rest[1].start <= q.rva { // else it is where the one before was, or before all
			i, _ := contributionAt(rest, q.rva)
			rest = rest[i:]
		}
		q.module = moduleAt(rest[:min(1, len(rest))], q.rva)
		queries = append(queries, q)
	}
	return queries
}

func moduleAt(contributions []contribution, rva uint32) int32 {
	if i, ok := contributionAt(contributions, rva); ok {
		return int32(contributions[i].module)
	}
	return -1
}

// roomAhead bounds the bytes that are made room for before any module is read, which may claim more than it has.
const roomAhead = 1 << 20

// locateAll answers ascending queries from the modules that they name.
func (f *File) locateAll(ctx context.Context, queries []query, out []Location) error {
	ends := make([]int, len(f.modules)+1) // by module + 1: where its queries end
	for i := range queries {
		ends[queries[i].module+1]++
	}
	none := ends[0]
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	byModule := make([]query, len(queries))
	for _, q := range slices.Backward(queries) {
		ends[q.module+1]--
		byModule[ends[q.module+1]] = q
	}
	var groups [][]query
	for i := none; i < len(byModule); {
		j := i + 1
		for j < len(byModule) && byModule[j].module == byModule[i].module {
			j++
		}
		groups = append(groups, byModule[i:j])
		i = j
	}
	most := int64(0)
	for _, g := range groups {
		m := &f.modules[g[0].module]
		most = max(most, int64(m.symbols)+int64(m.c13))
	}
	most = min(most, roomAhead)
	return inParallel(ctx, len(groups), func(ctx context.Context, next func() (int, bool)) error {
		buf := make([]byte, 0, most)
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
