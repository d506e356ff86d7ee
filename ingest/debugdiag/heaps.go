package debugdiag

import (
	"cmp"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/sorting"
)

// maxHeaps bounds the heaps of a dump.
const maxHeaps = 1 << 16

// startHeap makes what follows a statement about the heap.
func (d *draft) startHeap(handle capture.Address, kind string) {
	at, known := d.heapAt[handle]
	if !known {
		if len(d.memory.Heaps) == maxHeaps {
			d.dropped++
			return
		}
		at = len(d.memory.Heaps)
		d.heapAt[handle] = at
		d.memory.Heaps = append(d.memory.Heaps, capture.HeapFacts{Handle: handle, Kind: "heap"})
	}
	if kind != "" {
		d.memory.Heaps[at].Kind = strings.TrimSpace(kind)
	}
	d.openHeap, d.hasFacts = at, true
}

// heap is the heap that facts are about; one that is not named is thrown away.
func (d *draft) heap() *capture.HeapFacts {
	if d.openHeap < 0 {
		return &capture.HeapFacts{}
	}
	return &d.memory.Heaps[d.openHeap]
}

func (d *draft) heapSize(n *int64, value string) {
	var s span
	if d.sized(&s, "a heap", value); s.at > 0 {
		*n = s.at
	}
}

// heapRank takes a bar of the heaps: a handle, and what is reserved or committed.
func (d *draft) heapRank(caption, value string, rank ranking) {
	at := strings.Index(strings.ToLower(caption), "0x")
	if at < 0 {
		return
	}
	handle, width, ok := parseAddress(caption[at:])
	if !ok {
		d.misread(caption)
		return
	}
	d.address(handle, width)
	d.startHeap(capture.Address(handle), "")
	if rank == rankHeapsReserved {
		d.heapSize(&d.heap().Reserved, value)
	} else {
		d.heapSize(&d.heap().Committed, value)
	}
	d.openHeap = -1
}

// groups are the blocks by size of each heap and those of each memory manager, the largest first.
func (d *draft) groups() []capture.BlockGroup {
	var bySize, byManager []capture.BlockGroup
	for _, g := range d.heapGroups {
		bySize = append(bySize, *g)
	}
	sorting.Stable(bySize, func(a, b capture.BlockGroup) int {
		return cmp.Or(cmp.Compare(b.Usage.Bytes, a.Usage.Bytes), cmp.Compare(a.Heap, b.Heap), cmp.Compare(a.Size, b.Size))
	})
	for name, m := range d.managers {
		byManager = append(byManager,
			capture.BlockGroup{By: capture.ByManager, Key: name, Usage: capture.Usage{Count: max(m.count, 0), Bytes: m.size.at}})
	}
	sorting.Stable(byManager, func(a, b capture.BlockGroup) int {
		return cmp.Or(cmp.Compare(b.Usage.Bytes, a.Usage.Bytes), cmp.Compare(b.Usage.Count, a.Usage.Count),
			cmp.Compare(a.Key, b.Key))
	})
	return append(bySize, byManager...)
}

// addThreads takes the table of threads: Thread ID, System ID, EntryPoint, Reserved, Committed.
func (d *draft) addThreads(t *table) {
	at := columns(&t.header, "system id", "entry", "reserved", "committed")
	for i := range t.rows {
		row := &t.rows[i]
		if kindOf(row) == tableThreads || at[0] < 0 {
			continue
		}
		text, base := strings.ToLower(row.text(at[0])), 10
		if hex, found := strings.CutPrefix(text, "0x"); found {
			text, base = hex, 16
		}
		id, err := strconv.ParseUint(text, base, 32)
		if err != nil {
			d.misread(row.text(at[0]))
			continue
		}
		thread := capture.Thread{ID: uint32(id)}
		if at[1] >= 0 {
			thread.Start = row.text(at[1])
		}
		for _, f := range []struct {
			column int
			to     *int64
		}{{at[2], &thread.Reserved}, {at[3], &thread.Committed}} {
			if size, ok := parseSize(row.text(max(f.column, 0))); ok && f.column >= 0 {
				*f.to = size.at
			}
		}
		d.memory.Threads = append(d.memory.Threads, thread)
		d.hasFacts = true
	}
}
