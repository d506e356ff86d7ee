package capture

import (
	"context"
	"math/bits"
	"runtime"
	"sync"
)

// Survivors counts for each merged site the blocks that turned up after the first of a series of snapshots and before the last,
// and are in every later one: what stays although the program goes on. The captures are snapshots of one process life, oldest
// first. Site numbers the merged site of a capture's site from 0 to sites−1, negative for none; it is called from one goroutine.
//
// A block is the same where address, size and merged site are. The number is −1 where nothing can be said: with fewer than
// three snapshots, and for a merged site of which a snapshot does not list every block with its address.
//
// It takes 16 bytes for each block of the last snapshot, and as much again at most.
func Survivors(ctx context.Context, captures []*Capture, site func(capture int, site uint32) int32, sites int) ([]int64, error) {
	counts := make([]int64, sites)
	if len(captures) < 3 {
		for i := range counts {
			counts[i] = -1
		}
		return counts, nil
	}
	merged := make([][]int32, len(captures))
	for i, c := range captures {
		merged[i] = make([]int32, len(c.Sites))
		for k := range c.Sites {
			if merged[i][k] = site(i, uint32(k)); int(merged[i][k]) >= sites {
				merged[i][k] = -1
			}
		}
	}
	last := len(captures) - 1
	shardBits := bits.Len(uint(min(runtime.GOMAXPROCS(0), 8) - 1))
	shards, errs := make([]survivorShard, 1<<shardBits), make([]error, 1<<shardBits)
	for i := range shards {
		shards[i] = survivorShard{number: uint64(i), bits: shardBits, table: newBlockTable(captures[last].Blocks.Len() >> shardBits), listed: make([]int64, sites)}
	}
	missing := make([]int64, sites) // blocks that are counted and not listed
	unlisted := make([]bool, sites)
	for k := last; k >= 0; k-- {
		var all sync.WaitGroup
		for i := range shards {
			all.Go(func() { errs[i] = shards[i].take(ctx, captures[k], merged[k], int32(k), k == last) })
		}
		all.Wait()
		clear(missing)
		for n := range captures[k].Sites {
			if m, usage := merged[k][n], captures[k].Sites[n].Usage; m >= 0 && len(usage) > 0 {
				missing[m] += usage[len(usage)-1].Count
			}
		}
		for i := range shards {
			if errs[i] != nil {
				return nil, errs[i]
			}
			for m, n := range shards[i].listed {
				missing[m] -= n
			}
		}
		for m, n := range missing {
			unlisted[m] = unlisted[m] || n > 0
		}
	}
	for i := range shards {
		shards[i].count(counts, int32(last))
	}
	for m := range counts {
		if unlisted[m] {
			counts[m] = -1
		}
	}
	return counts, nil
}

// A survivorShard looks after the blocks with some of all keys, on one goroutine at a time.
type survivorShard struct {
	number uint64 // what the keys begin with
	bits   int    // how many bits that is
	table  *blockTable
	listed []int64 // blocks of the capture taken last, by merged site
}

// take goes through the blocks of a capture. The last snapshot comes first, as its blocks alone can be survivors, and then those
// before it, one after the other.
func (s *survivorShard) take(ctx context.Context, c *Capture, merged []int32, snapshot int32, last bool) error {
	clear(s.listed)
	if last {
		return s.eachBlock(ctx, c, merged, func(slot *blockSlot, key uint64, site int32) {
			if slot.key == 0 {
				s.table.enter(slot, blockSlot{key, site, snapshot})
			}
		})
	}
	return s.eachBlock(ctx, c, merged, func(b *blockSlot, _ uint64, _ int32) {
		switch {
		case b.key == 0 || b.since <= snapshot: // not there at the end; or listed twice
		case b.since == snapshot+1:
			b.since = snapshot
		default:
			b.since = 0 // gone for a while: it is not new
		}
	})
}

// count adds the survivors to those of their sites.
func (s *survivorShard) count(counts []int64, last int32) {
	for i := range s.table.slots {
		if b := &s.table.slots[i]; b.key != 0 && b.since >= 1 && b.since < last {
			counts[b.site]++
		}
	}
}

// eachBlock calls do for the shard's blocks of a capture, with their slots or those that are free for them.
func (s *survivorShard) eachBlock(ctx context.Context, c *Capture, merged []int32, do func(slot *blockSlot, key uint64, site int32)) error {
	n := 0
	var batch blockBatch
	for b := range c.Blocks.All() {
		if n++; n%(1<<16) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if int(b.Site) >= len(merged) || merged[b.Site] < 0 {
			continue
		}
		site := merged[b.Site]
		key := blockKey(b.Address, b.Size, site)
		if key>>(64-s.bits) != s.number {
			continue
		}
		s.listed[site]++
		batch.keys[batch.n], batch.sites[batch.n] = key, site
		if batch.n++; batch.n == len(batch.keys) {
			batch.find(s.table, do)
		}
	}
	batch.find(s.table, do)
	return nil
}
