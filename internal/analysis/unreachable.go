package analysis

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/ingest/sorting"
)

// An unreachableBlock is a block without a pointer to it, by evidence that may have no call stack of its allocation.
type unreachableBlock struct {
	part    int32 // that lists the block
	address uint64
	size    uint64 // requested bytes; 0 unknown
}

// An UnreachedFinding is a finding with blocks that no pointer leads to.
type UnreachedFinding struct {
	Signature   string `json:"signature"`
	Where       string `json:"where"`       // the blamed frame, for sentences
	Unreachable Amount `json:"unreachable"` // its blocks that no pointer leads to
	Outstanding Amount `json:"outstanding"` // all its blocks
}

// MaxUnreachedFindings is how many such findings a report lists, those with most bytes first.
const MaxUnreachedFindings = 100

// unreached lists the findings with most bytes in blocks without a pointer to them.
func unreached(findings []*draftFinding) []UnreachedFinding {
	var list []UnreachedFinding
	for _, f := range findings {
		if f.Unreachable != nil && f.Unreachable.Count > 0 {
			list = append(list, UnreachedFinding{f.Signature, f.Where(), *f.Unreachable, f.Outstanding})
		}
	}
	sorting.Stable(list, func(a, b UnreachedFinding) int {
		return cmp.Or(cmp.Compare(b.Unreachable.Bytes, a.Unreachable.Bytes), cmp.Compare(a.Signature, b.Signature))
	})
	return list[:min(len(list), MaxUnreachedFindings)]
}

// pointerless lists the blocks to which some evidence found no pointer, by address.
func pointerless(parts []part) []unreachableBlock {
	var list []unreachableBlock
	for i, p := range parts {
		if p.Memory == nil {
			continue
		}
		for _, s := range p.Memory.Samples {
			if s.Unreachable && s.Address != 0 {
				list = append(list, unreachableBlock{int32(i), s.Address, uint64(max(s.Size, 0))})
			}
		}
		if p.Memory.Reach == nil {
			continue
		}
		for b := range p.Blocks.All() {
			if p.Sites[b.Site].Unreachable {
				list = append(list, unreachableBlock{int32(i), b.Address, b.Size})
			}
		}
	}
	sorting.Stable(list, func(a, b unreachableBlock) int {
		return cmp.Or(cmp.Compare(a.address, b.address), cmp.Compare(a.size, b.size))
	})
	return slices.CompactFunc(list, func(a, b unreachableBlock) bool { return a.address == b.address && a.size == b.size })
}

// lastOfKinds keeps the last part of each kind of evidence that searches for pointers. Blocks of earlier parts may have
// been freed since.
func lastOfKinds(parts []part) (list []part) {
	for i, p := range parts {
		if looked(p) && !slices.ContainsFunc(parts[i+1:], func(q part) bool { return q.Kind == p.Kind && looked(q) }) {
			list = append(list, p)
		}
	}
	return list
}

// looked reports whether evidence lists the blocks without a pointer to them.
func looked(p part) bool {
	return p.Memory != nil &&
		(p.Memory.Reach != nil || slices.ContainsFunc(p.Memory.Samples, func(s capture.Sample) bool { return s.Unreachable }))
}

// joinUnreachable counts the blocks of the last snapshot to which other evidence of the same process found no
// pointer. The snapshot needs block addresses. It is not joined if it has searched for pointers itself.
func (s *series) joinUnreachable(ctx context.Context, others []part) error {
	at := len(s.parts) - 1
	last := s.parts[at]
	if s.looked || last.Shape != capture.ShapeSnapshot || last.Blocks.Len() == 0 {
		return nil
	}
	others = slices.DeleteFunc(slices.Clone(others), func(p part) bool {
		return p.Process.PID != 0 && last.Process.PID != 0 && p.Process.PID != last.Process.PID
	})
	others = lastOfKinds(others)
	list := pointerless(others)
	if len(list) == 0 {
		return nil
	}
	type siteBlock struct {
		m    *mergedSite
		size uint64
	}
	var joined []siteBlock
	n := 0
	for b := range last.Blocks.All() {
		if n++; n%65536 == 0 && ctx.Err() != nil {
			return fmt.Errorf("analysis: %w", context.Cause(ctx))
		}
		i, ok := slices.BinarySearchFunc(list, b.Address,
			func(u unreachableBlock, address uint64) int { return cmp.Compare(u.address, address) })
		for ok && i < len(list) && list[i].address == b.Address {
			if list[i].size == 0 || list[i].size == b.Size {
				joined = append(joined, siteBlock{s.order[s.places[at][b.Site]], b.Size})
				break
			}
			i++
		}
	}
	// Blocks of another process, or of another time, share some addresses by chance.
	if 2*len(joined) < min(len(list), last.Blocks.Len()) {
		s.warn(capture.Unsupported, int64(len(list)-len(joined)), fmt.Sprintf(
			"Give files of one process and one time: %s lists %s without a pointer, %s holds %d of them. They are not joined to its stacks.",
			others[list[0].part].file, quantity.Plural(len(list), "block"), last.file, len(joined)))
		return nil
	}
	s.looked = true
	for _, f := range joined {
		f.m.unreachable = f.m.unreachable.Add(capture.Usage{Count: 1, Bytes: int64(f.size)})
	}
	return nil
}
