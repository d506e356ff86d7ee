package tracecapture

import (
	"context"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

// askSurvivals adds to a question about the whole trace which sites' Survivals are wanted. When a process began to free
// what it held must be known before, which takes a scan where processes ended.
func (b *builder) askSurvivals(ctx context.Context, q *allocations.Question) (err error) {
	if err := b.findTeardowns(ctx); err != nil {
		return err
	}
	s := &allocations.SurvivalQuestion{From: make([]int64, len(b.sites)), Over: make([]int64, len(b.sites)),
		Heaps: make([]int32, len(b.sites))}
	most := make([]allocations.Usage, len(b.sites))
	type heap struct {
		process uint32
		handle  uint64
		kind    allocations.Kind
	}
	heaps, heapFrom := map[heap]int32{}, b.heapFrom()
	for i := range b.sites {
		site := &b.sites[i]
		p := &b.joined.Processes[site.process]
		trace := capture.Trace{From: b.covered.From, HeapFrom: heapFrom, Began: began(p), Exited: exited(p),
			Teardown: b.teardown(site.process)}
		s.From[i], s.Over[i] = trace.TracedFrom(b.window, capture.SiteKind(site.kind)), trace.WorkEnd(b.window)
		s.Heaps[i] = -1
		if site.kind == allocations.KindHeapVirtual {
			continue
		}
		key := heap{site.process, site.heap, site.kind}
		number, ok := heaps[key]
		if !ok {
			number = int32(len(heaps))
			heaps[key] = number
		}
		s.Heaps[i] = number
		if most[i] = site.classes.AIFO.Add(site.classes.AtExit); trace.Teardown != allocations.Never {
			most[i] = site.classes.Allocated()
		}
	}
	q.Survivals = s
	b.beyond, err = q.Pick(ctx, b.rows, most)
	return err
}

// findTeardowns looks at the end of every process that ended inside the trace.
func (b *builder) findTeardowns(ctx context.Context) error {
	process := make([]int32, len(b.sites))
	numbers := map[uint32]int32{}
	var endings []allocations.TracedLife
	for i := range b.sites {
		process[i] = -1
		site := &b.sites[i]
		p := &b.joined.Processes[site.process]
		if exit := exited(p); exit == allocations.Never || exit <= b.covered.From ||
			site.kind == allocations.KindHeapVirtual {
			continue
		}
		n, ok := numbers[site.process]
		if !ok {
			n = int32(len(endings))
			numbers[site.process] = n
			endings = append(endings, allocations.TracedLife{From: max(b.covered.From, began(p)), Exit: exited(p)})
		}
		process[i] = n
	}
	if len(endings) == 0 {
		return nil
	}
	at, err := allocations.Teardowns(ctx, b.rows, process, endings)
	if err != nil {
		return err
	}
	b.torn = map[uint32]int64{}
	for p, n := range numbers {
		b.torn[p] = at[n]
	}
	return nil
}

// teardown is when a process began to free what it held, Never where it did not.
func (b *builder) teardown(process uint32) int64 {
	if at, ok := b.torn[process]; ok {
		return at
	}
	return allocations.Never
}
