package allocations

import (
	"math"
	"sync"
)

// A keptColumns are the columns of row groups that scans of a ForWindows table decoded, for the next such scans.
type keptColumns struct {
	mu     sync.Mutex
	room   int64 // bytes
	groups map[int]*keptGroup
}

// A keptGroup is the columns of a row group that a scan of a ForWindows table reads.
type keptGroup struct {
	allocTime, freeTime []int64
	size, site          []uint32
	marks               []uint8 // End, and the bits below
}

// The bits of keptGroup.marks above End.
const (
	markPart    = 1 << 6
	markUnknown = 1 << 7
)

// keptRow is what a row takes, in bytes.
const keptRow = 8 + 8 + 4 + 4 + 1

// KeepColumns keeps up to so many bytes of decoded columns for later scans of a ForWindows table, 25 bytes a row:
// decoding takes half of a scan. 0 frees what is kept; a smaller number than before only ends its growth.
func (t *Table) KeepColumns(bytes int64) {
	k := t.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.room = bytes; bytes == 0 {
		k.groups = nil
	}
	for _, g := range k.groups {
		k.room -= g.bytes()
	}
}

func (g *keptGroup) bytes() int64 { return keptRow * int64(len(g.marks)) }

// get returns a row group that is kept; nil where it is not.
func (k *keptColumns) get(number int) *keptGroup {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.groups[number]
}

// hasSpace reports whether there is room for so many rows.
func (k *keptColumns) hasSpace(rows int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.room >= keptRow*int64(rows)
}

// put keeps a row group where there is room for it.
func (k *keptColumns) put(number int, g *keptGroup) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.room < g.bytes() || k.groups[number] != nil {
		return
	}
	if k.groups == nil {
		k.groups = map[int]*keptGroup{}
	}
	k.groups[number] = g
	k.room -= g.bytes()
}

// handOver moves the slices of the columns to a keptGroup, so that the next row group is decoded into new ones. It is
// nil where the group holds a block of 4 GiB or more.
func (g *groupColumns) handOver() *keptGroup {
	kept := &keptGroup{size: make([]uint32, g.rows), marks: make([]uint8, g.rows)}
	for i, size := range g.size[:g.rows] {
		if uint64(size) > math.MaxUint32 {
			return nil
		}
		kept.size[i] = uint32(size)
		kept.marks[i] = g.end[i] | g.part[i]*markPart | g.unknown[i]*markUnknown
	}
	kept.allocTime, kept.freeTime, kept.site = g.allocTime[:g.rows], g.freeTime[:g.rows], g.site[:g.rows]
	g.allocTime, g.freeTime, g.site = nil, nil, nil
	return kept
}

// fillWindowFields fills the fields that windows take.
func (g *keptGroup) fillWindowFields(rows []Row, from int) {
	to := from + len(rows)
	allocTime, freeTime, size, site, marks := g.allocTime[from:to], g.freeTime[from:to], g.size[from:to],
		g.site[from:to], g.marks[from:to]
	for i := range rows {
		r, mark := &rows[i], marks[i]
		r.AllocTime, r.FreeTime, r.Size, r.Site = allocTime[i], freeTime[i], uint64(size[i]), site[i]
		r.End, r.Part, r.UnknownFree = End(mark&^(markPart|markUnknown)), mark&markPart != 0, mark&markUnknown != 0
	}
}
