package pdb

import (
	"context"
	"slices"
	"sync"
)

// strays are the procedures of modules that contribute nothing to the image, as if they were contributions. Linkers
// keep what they make up in such modules: lld the jumps to imported functions, in modules like Import:kernel32.dll.
// Contributions of other modules may cover the same code without a name for it. All procedures are strays in a PDB
// without contributions.
type strays struct {
	mu    sync.Mutex
	ready bool
	found []contribution
}

// straysOf finds them once, without looking at modules that contributions lead to.
func (f *File) straysOf(ctx context.Context, contributions []contribution) ([]contribution, error) {
	s := &f.strays
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready {
		return s.found, nil
	}
	contributes := make([]bool, len(f.modules))
	for _, c := range contributions {
		contributes[c.module] = true
	}
	var found []contribution
	compactAt := 1 << 16
	var buf []byte
	for number, c := range f.modules {
		if contributes[number] || c.stream == noStream {
			continue
		}
		m, err := f.loadModule(ctx, number, buf)
		if err != nil {
			return nil, err
		}
		buf = m.memory
		for _, p := range m.procs {
			found = append(found, contribution{p.start, p.end, uint32(number)})
		}
		if len(found) > compactAt { // damaged modules may all be the same stream
			found = apart(found)
			compactAt = 2*len(found) + 1<<16
		}
	}
	s.found, s.ready = apart(found), true
	return s.found, nil
}

// apart sorts contributions and makes them end where the next begins. Of those with the same start the first stays.
func apart(found []contribution) []contribution {
	slices.SortStableFunc(found, func(a, b contribution) int { return compareUint32(a.start, b.start) })
	kept := found[:0]
	for _, c := range found {
		if n := len(kept); n > 0 {
			if kept[n-1].start == c.start {
				continue
			}
			kept[n-1].end = min(kept[n-1].end, c.start)
		}
		kept = append(kept, c)
	}
	return kept
}
