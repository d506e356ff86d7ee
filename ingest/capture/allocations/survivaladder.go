package allocations

import "math/bits"

// A survivalAdder is what one goroutine adds up.
type survivalAdder struct {
	plan *survivalPlan
	left []Usage // by site
	late []int64 // by site: unknown frees in the second half
	// Bins and buckets, each of all places, as short numbers in arrays of their own: most rows were made and ended inside,
	// and change one number in each of two arrays. Rows come in the order in which they ended, so that most change the
	// same bin, whose numbers the processor has at hand.
	born, ended, kept []uint32
	keptBytes         []int64
	added             uint32 // rows since the last flush, which comes before a short number can overflow
	// births and ends are the numbers that the rows at hand change. They are found first and changed in a loop of its own,
	// so that the processor waits for several of them at once.
	births, ends [512]uint32
}

// newSurvivalAdder makes one; nil where no survivals are wanted.
func newSurvivalAdder(p *survivalPlan) *survivalAdder {
	if p == nil {
		return nil
	}
	places := int(p.row)
	return &survivalAdder{
		plan: p, left: make([]Usage, len(p.sites)), late: make([]int64, len(p.sites)),
		born: make([]uint32, places*SurvivalBins), ended: make([]uint32, places*LifetimeBuckets),
		kept: make([]uint32, places*SurvivalBins), keptBytes: make([]int64, places*SurvivalBins),
	}
}

// rows adds rows, whose sites were checked.
func (a *survivalAdder) rows(rows []Row) {
	if a == nil {
		return
	}
	for len(rows) > len(a.births) {
		a.some(rows[:len(a.births)])
		rows = rows[len(a.births):]
	}
	a.some(rows)
}

// some adds as many rows as there is room for. It is one loop, as it looks at every row of a table: its branches are in
// the order in which they end the work on most rows.
func (a *survivalAdder) some(rows []Row) {
	if a.added += uint32(len(rows)); a.added >= 1<<31 {
		a.flush()
		clear(a.born)
		clear(a.kept)
		clear(a.keptBytes)
		clear(a.ended)
		a.added = uint32(len(rows))
	}
	births, ends := 0, 0
	from, first, row, sites, spans := a.plan.from, a.plan.first, a.plan.row, a.plan.sites, a.plan.spans
	for i := range rows {
		r := &rows[i]
		if r.AllocTime < from {
			if r.UnknownFree {
				a.unknown(r)
			}
			continue
		}
		site := sites[r.Site]
		if site.place < 0 && r.FreeTime <= first && r.End != EndExit && r.End != EndDestroy {
			continue // not left, as most are
		}
		span := &spans[site.span]
		if r.AllocTime < span.from || r.AllocTime > span.over {
			continue
		}
		left := r.FreeTime > span.over || r.End == EndExit || span.early && r.End == EndDestroy && r.FreeTime == span.over
		if left {
			a.left[r.Site] = a.left[r.Site].Add(Usage{int64(r.count()), int64(r.Size)})
		}
		if site.place < 0 {
			continue
		}
		bin := uint32(span.bin(uint64(r.AllocTime)-uint64(span.from)))*row + uint32(site.place)
		if left {
			a.keptBytes[bin] += int64(r.Size)
		}
		if r.Part {
			continue
		}
		a.births[births&(len(a.births)-1)] = bin
		births++
		if left {
			a.kept[bin]++
			continue
		}
		a.ends[ends&(len(a.ends)-1)] = uint32(Bucket(uint64(r.FreeTime)-uint64(r.AllocTime)))*row + uint32(site.place)
		ends++
	}
	for _, at := range a.births[:births] {
		a.born[at]++
	}
	for _, at := range a.ends[:ends] {
		a.ended[at]++
	}
}

// unknown counts a free in the second half.
func (a *survivalAdder) unknown(r *Row) {
	if span := &a.plan.spans[a.plan.sites[r.Site].span]; r.FreeTime > span.middle && r.FreeTime <= span.over {
		a.late[r.Site]++
	}
}

// flush adds the numbers to the plan's sums.
func (a *survivalAdder) flush() {
	a.plan.mu.Lock()
	defer a.plan.mu.Unlock()
	sums, row := a.plan.sums, int(a.plan.row)
	for first := 0; first < len(sums); first += perLine { // of all bins in turn, so that the sums stay in the cache
		part := sums[first:min(first+perLine, len(sums))]
		for b := range SurvivalBins {
			at := b*row + first
			if isZero(a.born[at : at+perLine]) { // nothing is left of nothing, but parts
				for i := range part {
					part[i].LeftBytes[b] += a.keptBytes[at+i]
				}
				continue
			}
			for i := range part {
				part[i].Born[b] += int64(a.born[at+i])
				part[i].Left[b] += int64(a.kept[at+i])
				part[i].LeftBytes[b] += a.keptBytes[at+i]
			}
		}
		for b := range LifetimeBuckets {
			at := b*row + first
			if isZero(a.ended[at : at+perLine]) {
				continue
			}
			for i := range part {
				part[i].Ended[b] += int64(a.ended[at+i])
			}
		}
	}
}

// isZero reports whether a line of numbers is, as most lifetimes have none.
func isZero(line []uint32) bool {
	var all uint32
	for _, n := range line {
		all |= n
	}
	return all == 0
}

// add adds what another has.
func (a *survivalAdder) add(b *survivalAdder) {
	if a == nil {
		return
	}
	b.flush()
	for site := range b.left {
		a.left[site] = a.left[site].Add(b.left[site])
		a.late[site] += b.late[site]
	}
}

// into completes the sums and gives them to the answer.
func (a *survivalAdder) into(answer *Answer, q *Question) {
	if a == nil {
		return
	}
	a.flush()
	a.shareLate(q.Survivals.Heaps)
	answer.Survivals, answer.Left = a.plan.sums, a.left
}

// shareLate shares the late unknown frees of each heap out over its sites, in proportion to what they have left: which
// site the freed blocks were of is not known. Shares are rounded up, so that no site looks more like a leak for it.
func (a *survivalAdder) shareLate(heaps []int32) {
	type heap struct{ late, left uint64 }
	sums := map[int32]heap{}
	for site, number := range heaps {
		if late, left := a.late[site], a.left[site].Count; number >= 0 && (late > 0 || left > 0) {
			h := sums[number]
			sums[number] = heap{h.late + uint64(late), h.left + uint64(left)}
		}
	}
	for site, number := range heaps {
		left, place := uint64(a.left[site].Count), a.plan.sites[site].place
		h := sums[number]
		if number < 0 || place < 0 || left == 0 || h.late == 0 {
			continue
		}
		high, low := bits.Mul64(h.late, left)
		share, rest := bits.Div64(high, low, h.left) // left is at most h.left, so that the share is a number
		if rest > 0 {
			share++
		}
		a.plan.sums[place].LateUnknownFrees += int64(share)
	}
}
