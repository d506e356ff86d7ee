package allocations

import "slices"

// Peaks finds the most bytes that were outstanding at once inside a window, for groups of rows. It keeps 48 bytes for
// every row that begins and ends inside the window; the peaks of a whole trace are in Sites and Heaps already. At one
// instant frees come before allocations.
type Peaks struct {
	from, to int64
	group    func(*Row) int
	peaks    []Peak // as the window begins, until Result
	changes  []change
}

// NewPeaks makes Peaks over the window [from, to] for groups numbered from 0; rows whose group is none of them are left
// out.
func NewPeaks(from, to int64, groups int, group func(*Row) int) *Peaks {
	return &Peaks{from: from, to: to, group: group, peaks: make([]Peak, groups)}
}

// AddRows takes rows, in any order: Peaks is a Sink.
func (p *Peaks) AddRows(rows []Row) error {
	for i := range rows {
		r := &rows[i]
		g := p.group(r)
		if g < 0 || g >= len(p.peaks) || r.UnknownFree || r.AllocTime > p.to || r.FreeTime < p.from {
			continue
		}
		c := change{at: r.AllocTime, source: int32(g), count: 1, bytes: int64(r.Size)}
		if r.Part {
			c.count = 0
		}
		if r.AllocTime < p.from {
			p.peaks[g].Usage = p.peaks[g].Add(Usage{int64(c.count), c.bytes})
		} else {
			p.changes = append(p.changes, c)
		}
		if r.FreeTime <= p.to {
			p.changes = append(p.changes, change{r.FreeTime, c.source, -c.count, -c.bytes})
		}
	}
	return nil
}

// Result gives each group's peak. A group that holds most when the window begins has its peak at the window's start.
func (p *Peaks) Result() []Peak {
	slices.SortFunc(p.changes, compareChanges)
	live := make([]Usage, len(p.peaks))
	for g := range live {
		live[g] = p.peaks[g].Usage
		p.peaks[g].At = p.from
	}
	for _, c := range p.changes {
		live[c.source] = live[c.source].Add(Usage{int64(c.count), c.bytes})
		if live[c.source].Bytes > p.peaks[c.source].Bytes {
			p.peaks[c.source] = Peak{live[c.source], c.at}
		}
	}
	p.changes = nil
	return p.peaks
}
