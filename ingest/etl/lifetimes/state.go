package lifetimes

import "heapdrift/ingest/capture/allocations"
import "unsafe"

// StateBytes is how much memory the state takes: of living blocks, of commits, and of sites, heaps and timelines.
func (t *Tracker) StateBytes() (blocks, commits, tables int64) {
	blocks = int64(len(t.blocks.chunks)) * chunkBlocks * blockBytes
	tables = int64(t.sites.capacity())*siteBytes + int64(t.sites.slots()+len(t.heaps.index))*4
	for i := range uint32(t.heaps.len()) {
		h := t.heaps.at(i)
		blocks += int64(len(h.index.slots)) * 8
		tables += heapBytes + int64(cap(h.timeline.points))*pointBytes
	}
	commits = int64(cap(t.commits.commits)) * commitBytes
	for i := range uint32(t.processes.len()) {
		p := t.processes.at(i)
		tables += processBytes + int64(cap(p.heapLine.points))*pointBytes
		if p.virtualMemory == nil {
			continue
		}
		for _, set := range []*intervals{&p.regions, &p.committed} {
			for _, run := range set.runs {
				commits += int64(cap(run)) * intervalBytes
			}
		}
		tables += virtualBytes + int64(cap(p.virtualLine.points))*pointBytes
	}
	return blocks, commits, tables
}

// The sizes that StateBytes counts with.
const (
	blockBytes    = int64(unsafe.Sizeof(block{}))
	siteBytes     = int64(unsafe.Sizeof(site{}))
	heapBytes     = int64(unsafe.Sizeof(heap{}))
	processBytes  = int64(unsafe.Sizeof(process{}))
	virtualBytes  = int64(unsafe.Sizeof(virtualMemory{}))
	commitBytes   = int64(unsafe.Sizeof(commit{}))
	intervalBytes = int64(unsafe.Sizeof(interval{}))
	pointBytes    = int64(unsafe.Sizeof(allocations.Point{}))
)
