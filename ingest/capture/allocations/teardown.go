package allocations

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
)

// A TracedLife is the time of a process that ended while it was traced: From is where the process or its tracing began,
// Exit where it ended.
type TracedLife struct{ From, Exit TraceTime }

// The rule by which a process is torn down: in a last stretch of at most a tenth of its life, it
//
//   - frees blocks that are older than the last fifth of its life, more of them than four times what it allocates meanwhile,
//     and no fewer than SurvivalLeast,
//   - thereby frees a quarter of all such blocks, or of their bytes, and
//   - has stopped to work: it allocates no more than one block for 64 freed, or less than a quarter as often as in all its life.
//
// Of such stretches it is the one in which most of the old blocks are freed with fewest allocations. Work in flight
// that ends shortly before a process does is not old; a cache that is emptied while work goes on comes with
// allocations.
const (
	tearStretch   = 10 // part of the life
	tearOld       = 5  // part of the life
	tearShare     = 4  // part of the old blocks
	tearWork      = 4  // allocations weigh as many frees; and part of the usual rate of allocation
	tearAllocates = 64 // frees for one allocation
)

// Teardowns finds for each process that ended the last instant before it began to free what it held, Never where it did
// not. Process has for each site the process that it is of, −1 for none and where a heap committed memory: its blocks
// tell. What a process frees on its way out was outstanding as long as it worked, and it is judged as of that instant.
// It takes one scan, or of many processes as many as keep what is counted below 100 MB.
func Teardowns(ctx context.Context, rows Scanner, process []int32, endings []TracedLife) ([]int64, error) {
	if t, ok := rows.(*Table); ok {
		rows = t.ForWindows()
	}
	at, scans := make([]int64, len(endings)), int(rows.Len()/tearRows)+1
	atOnce := max(tearAtOnce, (len(endings)+scans-1)/scans)
	for first := 0; first < len(endings); first += atOnce {
		part := endings[first:min(first+atOnce, len(endings))]
		from, to := Never, BeforeTrace
		for _, e := range part {
			from, to = min(from, e.From), max(to, e.Exit)
		}
		adders := make([]*tearAdder, scanners())
		for i := range adders {
			adders[i] = &tearAdder{process: process, first: int32(first), endings: part, sums: make([]tearing, len(part))}
		}
		if err := scan(ctx, rows, from, to, adders); err != nil {
			return nil, err
		}
		for i := range part {
			sum := &adders[0].sums[i]
			for _, a := range adders[1:] {
				sum.add(&a.sums[i])
			}
			at[first+i] = sum.teardown(part[i])
		}
	}
	return at, nil
}

const (
	// tearAtOnce is how many processes a scan counts for at least: 20 KB for each on each core, where they have that many
	// rows.
	tearAtOnce = 1024
	// tearRows is how many rows there may be, on average, for the processes of one scan: each takes two steps at most.
	tearRows = 1 << 20
)

// A tearing is what a process did near its end. Times are distances from its end in buckets whose width grows with it,
// eight to each doubling: a teardown may take a tenth of a life or a millionth. A trace can have any number of
// processes that do next to nothing, so there is a step only for buckets in which something was done.
type tearing struct {
	steps []tearStep // by bucket
	all   int64      // blocks allocated in the whole life
	kept  Usage      // old blocks that the end of the process ended
}

// A tearStep is what was done at one distance.
type tearStep struct {
	bucket    int
	freed     Usage // old blocks
	allocated int64 // blocks
}

// at is the step of a bucket. It is good until the next call.
func (t *tearing) at(bucket int) *tearStep {
	i, known := slices.BinarySearchFunc(t.steps, bucket,
		func(s tearStep, bucket int) int { return cmp.Compare(s.bucket, bucket) })
	if !known {
		t.steps = slices.Insert(t.steps, i, tearStep{bucket: bucket})
	}
	return &t.steps[i]
}

const distances = 496

// distance is the bucket of a distance in ns.
func distance(ns uint64) int {
	if ns < 8 {
		return int(ns)
	}
	doubling := bits.Len64(ns) - 1
	return (doubling-2)*8 + int(ns>>(doubling-3)&7)
}

// farthest is the greatest distance in a bucket.
func farthest(bucket int) uint64 {
	if bucket < 8 {
		return uint64(bucket)
	}
	doubling := bucket/8 + 2
	return (uint64(8+bucket%8)+1)<<(doubling-3) - 1
}

func (t *tearing) add(o *tearing) {
	for _, s := range o.steps {
		own := t.at(s.bucket)
		own.freed = own.freed.Add(s.freed)
		own.allocated += s.allocated
	}
	t.all += o.all
	t.kept = t.kept.Add(o.kept)
}

// teardown applies the rule.
func (t *tearing) teardown(e TracedLife) int64 {
	if e.Exit <= e.From || len(t.steps) == 0 { // time stamps that contradict each other, or nothing was done
		return Never
	}
	life := uint64(e.Exit) - uint64(e.From)
	var freed Usage
	var allocated, best, gain int64
	found := -1
	var of Usage // what is freed in the stretch found
	steps := t.steps
	for i := range distances {
		if farthest(i) > life/tearStretch {
			break
		}
		if len(steps) > 0 && steps[0].bucket == i {
			freed, allocated = freed.Add(steps[0].freed), allocated+steps[0].allocated
			steps = steps[1:]
		}
		gain = freed.Count - tearWork*allocated
		if gain > best && freed.Count >= SurvivalLeast && t.isOver(allocated, freed.Count, farthest(i), life) {
			best, found, of = gain, i, freed
		}
	}
	if found < 0 {
		return Never
	}
	all := of.Add(t.kept)
	if of.Count < all.Count/tearShare && of.Bytes < all.Bytes/tearShare {
		return Never
	}
	at := e.Exit - int64(farthest(found)) - 1
	if at <= e.From { // a life of some ns
		return Never
	}
	return at
}

// isOver reports whether work has stopped, by what was allocated in the last stretch of a life.
func (t *tearing) isOver(allocated, freed int64, stretch, life uint64) bool {
	usual := float64(t.all) * float64(stretch) / float64(life)
	return allocated <= freed/tearAllocates || float64(allocated) < usual/tearWork
}

// A tearAdder is what one goroutine adds up.
type tearAdder struct {
	process []int32 // by site
	first   int32   // process that sums begin with
	endings []TracedLife
	sums    []tearing
}

// AddRows takes rows: it is a Sink.
func (a *tearAdder) AddRows(rows []Row) error {
	for i := range rows {
		r := &rows[i]
		if uint64(r.Site) >= uint64(len(a.process)) {
			return failure(CodeSite, nil, "a row of a site whose process is not known")
		}
		n := a.process[r.Site] - a.first
		if n < 0 || int(n) >= len(a.endings) {
			continue
		}
		e, sum := a.endings[n], &a.sums[n]
		if e.Exit <= e.From || r.FreeTime < e.From || r.AllocTime > e.Exit {
			continue
		}
		near := e.Exit - int64((uint64(e.Exit)-uint64(e.From))/tearStretch)
		if r.AllocTime >= e.From {
			count := int64(r.count())
			sum.all += count
			if r.AllocTime >= near {
				sum.at(distance(uint64(e.Exit) - uint64(r.AllocTime))).allocated += count
			}
		}
		if r.FreeTime < near || r.AllocTime > e.Exit-int64((uint64(e.Exit)-uint64(e.From))/tearOld) {
			continue
		}
		old := Usage{int64(r.count()), int64(r.Size)}
		if r.FreeTime > e.Exit || r.End == EndExit {
			sum.kept = sum.kept.Add(old)
			continue
		}
		at := sum.at(distance(uint64(e.Exit) - uint64(r.FreeTime)))
		at.freed = at.freed.Add(old)
	}
	return nil
}
