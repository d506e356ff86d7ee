package allocations

// A Window adds up rows, by site, for the time [From, To], both ends inside. Rows come in any order.
type Window struct {
	From, To TraceTime // ns since the trace's start
	// IgnoreExit takes an allocation that ended with its process as never freed: memory as of the instant before the
	// exit, by which verdicts go.
	IgnoreExit bool
	// Sites has an element for every site met, by Row.Site.
	Sites []WindowUsage
}

// NewWindow makes a Window over rows with the given number of sites.
func NewWindow(from, to int64, sites int) *Window {
	return &Window{From: from, To: to, Sites: make([]WindowUsage, sites)}
}

// AddRows takes rows: a Window is a Sink. Rows of sites it was not made for are an error.
func (w *Window) AddRows(rows []Row) error {
	for i := range rows {
		r := &rows[i]
		if r.AllocTime > w.To {
			continue
		}
		if uint64(r.Site) >= uint64(len(w.Sites)) {
			return failure(CodeSite, nil, "a row of a site that the window was not made for")
		}
		c := &w.Sites[r.Site]
		free := r.FreeTime
		if w.IgnoreExit && r.End == EndExit {
			free = Never
		}
		if free < w.From {
			continue
		}
		if r.UnknownFree {
			if free <= w.To {
				c.UnknownFrees++
			}
			continue
		}
		inside := r.AllocTime >= w.From
		class := &c.AOFI
		switch {
		case free > w.To && inside:
			class = &c.AIFO
		case free > w.To:
			class = &c.AOFO
		case inside:
			class = &c.AIFI
		}
		count, size := int64(r.count()), int64(r.Size)
		class.Count += count
		class.Bytes += size
		if free <= w.To && r.End == EndExit {
			c.AtExit.Count += count
			c.AtExit.Bytes += size
		}
	}
	return nil
}

// Total is the sum over the sites that keep accepts; nil accepts all.
func (w *Window) Total(keep func(site int) bool) WindowUsage {
	var sum WindowUsage
	for i := range w.Sites {
		if keep == nil || keep(i) {
			sum = sum.Add(w.Sites[i])
		}
	}
	return sum
}
