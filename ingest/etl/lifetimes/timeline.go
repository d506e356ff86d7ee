package lifetimes

import "heapdrift/ingest/capture/allocations"

const (
	// timelinePoints is how many points a timeline has at most.
	timelinePoints = 2048
	// timelineShift is the finest stretch: 2^20 ns, about a millisecond.
	timelineShift = 20
)

// A timeline is outstanding bytes over time, in stretches of a power of two of nanoseconds. Where nothing happened
// there is no point. When it is full, stretches double.
type timeline struct {
	points []allocations.Point
	next   int64 // where the last point's stretch ends
	shift  uint8
	before int64 // bytes to add to every point: what turned out to be older than the trace
}

// add notes that live bytes are outstanding from the time at on.
func (l *timeline) add(at, live int64) { l.put(at, live-l.before) }

// adopt notes that bytes of the live ones were there all the time.
func (l *timeline) adopt(at, bytes, live int64) {
	l.before += bytes
	l.add(at, live)
}

func (l *timeline) put(at, v int64) {
	n := len(l.points)
	if n > 0 && at < l.next { // also what comes out of order
		raise(&l.points[n-1], at, v)
		return
	}
	if n == 0 {
		l.shift = timelineShift
	}
	for len(l.points) == timelinePoints {
		l.widen()
	}
	start := at >> l.shift << l.shift
	// At the far end of time the sum wraps; then events come here again and find their stretch begun.
	l.next = start + 1<<l.shift
	n = len(l.points)
	if n > 0 && l.points[n-1].Time == start {
		raise(&l.points[n-1], at, v)
		return
	}
	p := allocations.Point{Time: start, LastBytes: v, MaxBytes: v, MaxAt: at}
	if n > 0 && l.points[n-1].LastBytes > v {
		p.MaxBytes, p.MaxAt = l.points[n-1].LastBytes, start // what the stretch before left stands until now
	}
	l.points = append(l.points, p)
}

func raise(p *allocations.Point, at, v int64) {
	p.LastBytes = v
	if v > p.MaxBytes {
		p.MaxBytes, p.MaxAt = v, at
	}
}

// widen doubles the stretches.
func (l *timeline) widen() {
	l.shift++
	n := 0
	for _, p := range l.points {
		p.Time = p.Time >> l.shift << l.shift
		if n > 0 && l.points[n-1].Time == p.Time {
			m := &l.points[n-1]
			m.LastBytes = p.LastBytes
			if p.MaxBytes > m.MaxBytes {
				m.MaxBytes, m.MaxAt = p.MaxBytes, p.MaxAt
			}
			continue
		}
		if n > 0 && l.points[n-1].LastBytes > p.MaxBytes {
			p.MaxBytes, p.MaxAt = l.points[n-1].LastBytes, p.Time
		}
		l.points[n] = p
		n++
	}
	l.points = l.points[:n]
	l.next = l.points[n-1].Time + 1<<l.shift
}

// finished are the points with what was there before them. A point closes a stretch that was higher than it ended and
// after which nothing happens for a while. So a short peak does not seem to last.
func (l *timeline) finished() []allocations.Point {
	points := make([]allocations.Point, 0, len(l.points))
	for i, p := range l.points {
		p.LastBytes += l.before
		p.MaxBytes += l.before
		points = append(points, p)
		end := p.Time + 1<<l.shift
		if p.MaxBytes > p.LastBytes && (i+1 == len(l.points) || l.points[i+1].Time > end) && end > p.Time {
			points = append(points, allocations.Point{Time: end, LastBytes: p.LastBytes, MaxBytes: p.LastBytes, MaxAt: end})
		}
	}
	return points
}
