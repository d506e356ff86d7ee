package allocations

import "context"

// A Question asks for the numbers of a window.
type Question struct {
	From, To TraceTime // ns since the trace's start, both inside
	// IgnoreExit takes an allocation that ended with its process as never freed, in Sites and Samples.
	IgnoreExit bool
	Sites      int               // the number of sites: every Row.Site is below it
	Samples    int               // number of evenly spaced instants: 2 or more, 0 for none. Each takes 16 bytes for each site and core
	Peaks      [][]int32         // groupings whose peaks are wanted: for each, the group of each site, −1 for none
	Survivals  *SurvivalQuestion // nil for none
}

// An Answer is what Ask found.
type Answer struct {
	Sites   []WindowUsage // by Row.Site
	Samples *Samples      // nil where none were asked for
	Peaks   [][]Peak      // by grouping and group, from 0 to the greatest that it names
	// Survivals is indexed by the numbers in SurvivalQuestion.Slots. Left is indexed by Row.Site: what was allocated
	// inside and still held at its Over. Both are nil where no survivals were asked for.
	Survivals []Survival
	Left      []Usage
}

// Ask answers a question about rows: classes, samples and survivals by one scan on all cores, peaks of few groups
// mostly by one more, and others by one for every four million beginnings and ends inside the window, which keeps what
// is held at a time to 100 MB.
func Ask(ctx context.Context, rows Scanner, q Question) (*Answer, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	q.clamp()
	if t, ok := rows.(*Table); ok {
		rows = t.ForWindows()
	}
	if a, err := byStretches(ctx, rows, &q); a != nil || err != nil {
		return a, err
	}
	return ask(ctx, rows, q, maxChanges)
}

// rowsPerSite is how many rows a site must have, on average, for each core but one that adds up: each has numbers of
// its own for every site.
const rowsPerSite = 8

// clamp keeps the ends of time out: neither before the trace nor never is inside of a window.
func (q *Question) clamp() { q.From, q.To = max(q.From, BeforeTrace+1), min(q.To, Never-1) }

// ask answers a checked question by going through all changes in the order of time.
func ask(ctx context.Context, rows Scanner, q Question, atOnce int64) (*Answer, error) {
	q.clamp()
	plan, err := q.survivalPlan()
	if err != nil {
		return nil, err
	}
	n := rows.Len()
	adders := make([]*adder, min(scanners(), plan.cores(), 1+int(n)/(rowsPerSite*max(q.Sites, 1))))
	for i := range adders {
		adders[i] = newAdder(&q, plan, n)
	}
	from := q.From
	if q.IgnoreExit {
		from = BeforeTrace // what ended with its process before the window counts as well
	}
	if err := scan(ctx, rows, from, q.To, adders); err != nil {
		return nil, err
	}
	sum := adders[0]
	for _, a := range adders[1:] {
		sum.add(a)
	}
	answer := &Answer{Sites: sum.window.Sites, Samples: sum.samples}
	sum.survivals.into(answer, &q)
	if len(q.Peaks) > 0 {
		walk := newPeakWalk(rows, &q, sum.start, atOnce)
		if err := walk.through(ctx, sum.times); err != nil {
			return nil, err
		}
		for _, g := range walk.groupings {
			answer.Peaks = append(answer.Peaks, g.peaks)
		}
	}
	return answer, nil
}

func (q *Question) check() error {
	if q.To < q.From || q.Sites < 0 || q.Samples < 0 {
		return failure(CodeBounds, nil, "a window from %d to %d with %d sites and %d samples", q.From,
			q.To, q.Sites, q.Samples)
	}
	for i, groups := range q.Peaks {
		if len(groups) != q.Sites {
			return failure(CodeBounds, nil, "grouping %d has groups for %d sites of %d", i, len(groups), q.Sites)
		}
	}
	return q.Survivals.check(q.Sites)
}

// An adder is what one goroutine adds up in the first scan.
type adder struct {
	window    *Window
	survivals *survivalAdder
	samples   *Samples // nil for none
	// These fields serve peaks and are nil where none are wanted: the blocks that are alive as the window begins, by
	// site, and the times of changes.
	start []Usage
	times *timeCounts
}

// newAdder makes an adder; rows is how many the table has.
func newAdder(q *Question, plan *survivalPlan, rows int64) *adder {
	a := &adder{window: NewWindow(q.From, q.To, q.Sites), survivals: newSurvivalAdder(plan)}
	a.window.IgnoreExit = q.IgnoreExit
	if q.Samples > 0 {
		a.samples = NewSamples(q.From, q.To, q.Samples, q.Sites)
		a.samples.IgnoreExit = q.IgnoreExit
	}
	if len(q.Peaks) > 0 {
		a.start, a.times = make([]Usage, q.Sites), newTimeCounts(q.From, q.To, rows)
	}
	return a
}

// AddRows adds rows: an adder is a Sink.
func (a *adder) AddRows(rows []Row) error {
	if err := a.window.AddRows(rows); err != nil {
		return err
	}
	a.survivals.rows(rows)
	if a.samples != nil {
		if err := a.samples.AddRows(rows); err != nil {
			return err
		}
	}
	if a.times == nil {
		return nil
	}
	for i := range rows {
		r := &rows[i]
		if r.AllocTime < a.window.From && r.FreeTime >= a.window.From && !r.UnknownFree {
			a.start[r.Site] = a.start[r.Site].Add(Usage{int64(r.count()), int64(r.Size)})
		}
	}
	return a.times.AddRows(rows)
}

// add adds what another has.
func (a *adder) add(b *adder) {
	for i := range a.window.Sites {
		a.window.Sites[i] = a.window.Sites[i].Add(b.window.Sites[i])
	}
	a.survivals.add(b.survivals)
	if a.samples != nil {
		for i := range a.samples.changes {
			a.samples.changes[i] = a.samples.changes[i].Add(b.samples.changes[i])
		}
	}
	if a.times != nil {
		for i := range a.start {
			a.start[i] = a.start[i].Add(b.start[i])
		}
		a.times.add(b.times)
	}
}
