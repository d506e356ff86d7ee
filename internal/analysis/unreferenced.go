package analysis

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/score"
)

const (
	// leastUnreferenced is how many blocks of a stack must be without a pointer to be a finding: a program may keep a
	// few pointers disguised, or be about to hand a few blocks on.
	leastUnreferenced = 3
	// dumpsToAgree is how many dumps of one process must show a block without a pointer to it for that to be certain: a
	// block that is only moving from one list to another is not caught three times.
	dumpsToAgree = 3
	// notable is how much memory without a stack must be unreferenced, in bytes and as a share of all, for the verdict
	// to begin with it.
	notableBytes = 1 << 20
	notableShare = 0.05
)

// isUnreferenced reports whether blocks of a stack that no pointer reaches are worth a finding of their own. Blocks
// without a stack come from many places.
func isUnreferenced(class Class, blamed bool, unreachable *Amount) bool {
	return unreachable != nil && unreachable.Count >= leastUnreferenced && blamed &&
		class.Gravity() < ClassUnreferenced.Gravity()
}

// judgeUnreferenced makes a finding one of blocks that no pointer reaches, if it is nothing graver; blamed says that
// its stack has a frame to blame, agreed are those that dumpsToAgree dumps say so of.
func (f *Finding) judgeUnreferenced(blamed bool, agreed Amount) {
	if f.Unreachable == nil || f.Unreachable.Count == 0 {
		return
	}
	if isUnreferenced(f.Verdict, blamed, f.Unreachable) {
		f.Verdict, f.Certain = ClassUnreferenced, agreed.Count >= leastUnreferenced
	}
	if !f.Verdict.IsSuspect() {
		return
	}
	text := fmt.Sprintf("No pointer reaches %s of %s, %s", blocks(f.Unreachable.Count), quantity.Count(f.Outstanding.Count),
		quantity.Bytes(f.Unreachable.Bytes))
	if agreed.Count > 0 {
		text += fmt.Sprintf("; %d or more dumps agree on %s.", dumpsToAgree, blocks(agreed.Count))
	} else {
		text += ". One dump is not proof: pointers may be encoded, or kept outside the process."
	}
	f.Clauses = append(f.Clauses, score.Clause{Rule: "unreferenced", Holds: new(true), Text: text})
}

// agree counts the blocks of each site that the last dump and others of its process found no pointer to, in each of
// dumpsToAgree dumps at least.
func (s *series) agree(ctx context.Context) error {
	type place struct {
		address, size uint64
		site          int32
	}
	last := len(s.parts) - 1
	if !s.looked || last+1 < dumpsToAgree || s.parts[last].Memory == nil || s.parts[last].Memory.Reach == nil {
		return nil
	}
	compare := func(a, b place) int {
		return cmp.Or(cmp.Compare(a.address, b.address), cmp.Compare(a.size, b.size), cmp.Compare(a.site, b.site))
	}
	unreached := func(p int) (list []place, err error) {
		n := 0
		for b := range s.parts[p].Blocks.All() {
			if n++; n%65536 == 0 && ctx.Err() != nil {
				return nil, fmt.Errorf("analysis: %w", context.Cause(ctx))
			}
			if s.parts[p].Sites[b.Site].Unreachable {
				list = append(list, place{b.Address, b.Size, s.places[p][b.Site]})
			}
		}
		slices.SortFunc(list, compare)
		return list, nil
	}
	now, err := unreached(last)
	if err != nil || len(now) == 0 {
		return err
	}
	times := make([]int, len(now))
	for p := range last {
		if m := s.parts[p].Memory; s.lives[p] != s.lives[last] || m == nil || m.Reach == nil {
			continue
		}
		before, err := unreached(p)
		if err != nil {
			return err
		}
		for i := range now {
			if _, ok := slices.BinarySearchFunc(before, now[i], compare); ok {
				times[i]++
			}
		}
	}
	for i, b := range now {
		if times[i]+1 >= dumpsToAgree {
			m := s.order[b.site]
			m.agreed = m.agreed.Add(capture.Usage{Count: 1, Bytes: int64(b.size)})
		}
	}
	return nil
}

// An unreferencedTally sums the unreferenced blocks of all findings, and of the finding that holds most of them.
type unreferencedTally struct {
	total Amount
	bare  Amount   // of total, what has no call stack
	top   *Finding // of those with a stack; nil for none
}

// tallyUnreferenced sums up; ok says that a verdict begins with it.
func (d *draft) tallyUnreferenced() (t unreferencedTally, ok bool) {
	for _, f := range d.findings {
		if f.Unreachable == nil || f.Unreachable.Count == 0 || f.Known != "" {
			continue
		}
		t.total = t.total.Plus(*f.Unreachable)
		ok = ok || f.Verdict == ClassUnreferenced
		if !f.hasBlame() {
			t.bare = t.bare.Plus(*f.Unreachable)
		}
		if f.hasBlame() && (t.top == nil || f.Unreachable.Bytes > t.top.Unreachable.Bytes) {
			t.top = &f.Finding
		}
	}
	all := d.report.Totals.Heap.Outstanding.Bytes
	return t, ok || t.total.Bytes >= notableBytes && float64(t.total.Bytes) >= notableShare*float64(all)
}

// sentence says what no pointer reaches, and how much of it one function made.
func (t *unreferencedTally) sentence(name string) string {
	s := fmt.Sprintf("%s holds %s in %s that no pointer reaches", name, quantity.Bytes(t.total.Bytes), blocks(t.total.Count))
	switch {
	case t.top == nil:
		return s + ", allocated without a recorded call stack"
	case t.top.Unreachable.Count == t.total.Count:
		return s + ", all of it from " + t.top.Where()
	}
	return s + bareShare(t.bare, t.total) +
		fmt.Sprintf(", %s of it from %s", quantity.Bytes(t.top.Unreachable.Bytes), t.top.Where()) +
		traceBare(t.bare, t.total)
}

// bareShare says how much of a total has no call stack, where that is most of it.
func bareShare(bare, total Amount) string {
	if 2*bare.Bytes <= total.Bytes {
		return ""
	}
	return fmt.Sprintf(", %s of it (%s %%) without a call stack", quantity.Bytes(bare.Bytes),
		percent(100*float64(bare.Bytes)/float64(total.Bytes)))
}

// traceBare says how to have the call stacks that most of a total lacks.
func traceBare(bare, total Amount) string {
	if 2*bare.Bytes <= total.Bytes {
		return ""
	}
	return "; record an ETW trace for the missing call stacks"
}
