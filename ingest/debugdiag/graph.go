package debugdiag

import (
	"strings"

	"heapdrift/ingest/capture"
)

// graph takes a bar graph: row i of the captions goes with row i of the values.
func (r *report) graph(captions, values *table) {
	if r.repeated() {
		return
	}
	d, rank := r.here(), r.ranking
	if r.topic() == topicSpaceUses {
		rank = rankNone
	}
	switch r.topic() {
	case topicHeapReserved:
		rank = rankHeapsReserved
	case topicHeapCommitted:
		rank = rankHeapsCommitted
	}
	for i := range min(len(captions.rows), len(values.rows)) {
		caption, value := captions.rows[i].text(0), values.rows[i].text(0)
		switch rank {
		case rankModulesByCount:
			d.sum(&d.total.byModule, value)
		case rankModulesByHandles:
			d.sum(&d.total.byHandles, value)
		case rankManagersByCount, rankManagersBySize:
			d.manager(caption, value)
		case rankHandleTypes:
			d.handleType(caption, value)
		case rankSizesBySize, rankSizesByCount:
			d.blocksOf(caption, value)
		case rankHeapsReserved, rankHeapsCommitted:
			d.heapRank(caption, value, rank)
		case rankNone:
			if r.topic() == topicSpaceUses {
				d.use(caption, value)
			} else {
				d.blocksOf(caption, value) // the sizes of a function, whose heading is not known
			}
		case rankModulesBySize, rankFunctions: // the details say it again
		}
		d.hasFacts = true
	}
}

// sum adds the count of a bar to what was −1 before the first.
func (d *draft) sum(n *int64, value string) {
	var v int64
	d.counted(&v, value)
	*n = min(max(*n, 0)+v, maxSize)
}

// manager takes a bar of the memory managers: a count or a size.
func (d *draft) manager(name, value string) {
	m := d.managers[name]
	if m == nil {
		if len(d.managers) == 256 { // there are five
			d.dropped++
			return
		}
		m = &managedMemory{count: -1, at: len(d.managers)}
		d.managers[name] = m
	}
	if size, ok := parseSize(value); ok {
		m.size = size
		return
	}
	d.counted(&m.count, value)
}

// handleType takes "Event handles" and "40 handle(s)".
func (d *draft) handleType(caption, value string) {
	h := capture.HandleType{Type: caption}
	for _, plural := range []string{" handles", " handle(s)", " handle"} {
		if before, found := strings.CutSuffix(caption, plural); found {
			h.Type = before
			break
		}
	}
	d.counted(&h.Count, value)
	d.sum(&d.total.byType, value)
	d.memory.Handles = append(d.memory.Handles, h)
}

// A heapSize is blocks of one size in one heap.
type heapSize struct {
	heap capture.Address
	size int64
}

// blocksOf takes a bar of allocations of one size: "Allocation Size - 1,024" with their count or their size in all.
func (d *draft) blocksOf(caption, value string) {
	text := allocationSize(caption)
	if text == "" {
		return
	}
	each, _, ok := parseCount(text)
	if size, sized := parseSize(text); sized && size.margin() == 0 {
		each, ok = size.at, true
	}
	if !ok || each <= 0 || each > maxSize {
		d.misread(caption)
		return
	}
	count, several := countOf(value, each)
	if several {
		return // the other graph has the count
	}
	if count < 0 || count > maxSize/each {
		d.misread(value)
		return
	}
	if d.openHeap < 0 {
		d.functionSize(each, count)
		return
	}
	key := heapSize{d.memory.Heaps[d.openHeap].Handle, each}
	if d.heapGroups[key] != nil {
		return
	}
	if len(d.heapGroups) == maxCells {
		d.dropped++
		return
	}
	d.heapGroups[key] = &capture.BlockGroup{By: capture.BySize, Heap: key.heap, Size: each,
		Usage: capture.Usage{Count: count, Bytes: count * each}}
}

// countOf is how many blocks of one size a bar stands for. value is their count or their total size; the result is −1
// if it is neither. several says that more than one count would print as this size.
func countOf(value string, each int64) (count int64, several bool) {
	total, sized := parseSize(value)
	if !sized {
		if n, _, ok := parseCount(value); ok {
			return n, false
		}
		return -1, false
	}
	count = -1
	if n := total.at / each; total.low <= n*each && n*each <= total.high {
		count = n
	} else if n++; n <= maxSize/each && n*each <= total.high {
		count = n
	}
	return count, count >= 0 && (count+1)*each <= total.high || (count-1)*each >= total.low
}

// functionSize takes how many blocks of a size the last function has.
func (d *draft) functionSize(each, count int64) {
	if len(d.functions) == 0 {
		return
	}
	f := &d.functions[len(d.functions)-1]
	if f.sizes == nil {
		f.sizes = map[int64]int64{}
	}
	if len(f.sizes) < maxSamples {
		f.sizes[each] = count
	}
}
