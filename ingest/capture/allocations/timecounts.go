package allocations

// timeParts is how many parts of the time are counted: of ten million rows each has less than a hundred changes.
const timeParts = 1 << 18

// timeCounts counts beginnings and ends of rows in equal parts of a stretch of time.
type timeCounts struct {
	from, to int64
	width    uint64 // ns of a part
	changes  []int64
}

func newTimeCounts(from, to int64) *timeCounts {
	t := &timeCounts{from: from, to: to, width: uint64(to-from)/timeParts + 1}
	t.changes = make([]int64, t.part(to)+1)
	return t
}

// part is the number of the part of a time inside.
func (t *timeCounts) part(at int64) int { return int(uint64(at-t.from) / t.width) }

// span is the time of parts.
func (t *timeCounts) span(first, last int) (from, to int64) {
	from = t.from + int64(uint64(first)*t.width)
	if last+1 == len(t.changes) {
		return from, t.to
	}
	return from, t.from + int64(uint64(last+1)*t.width) - 1
}

// Rows counts rows: timeCounts are a Sink.
func (t *timeCounts) Rows(rows []Row) error {
	for i := range rows {
		r := &rows[i]
		if r.Unknown {
			continue
		}
		if r.AllocTime >= t.from && r.AllocTime <= t.to {
			t.changes[t.part(r.AllocTime)]++
		}
		if r.FreeTime >= t.from && r.FreeTime <= t.to {
			t.changes[t.part(r.FreeTime)]++
		}
	}
	return nil
}

func (t *timeCounts) add(o *timeCounts) {
	for i, n := range o.changes {
		t.changes[i] += n
	}
}
