package capture

import "slices"

// A frameList is frames in pages, which are never copied once they are full. The zero value is empty.
type frameList struct {
	pages [][]Frame // all but the last are full
	n     int
}

const (
	frameShift = 12
	pageFrames = 1 << frameShift
	// leastFrames are few: of the captures of a trace, most may have a stack or two.
	leastFrames = 1 << 6
)

func (l *frameList) at(row uint32) *Frame { return &l.pages[row>>frameShift][row&(pageFrames-1)] }

// add adds a frame and returns its row.
func (l *frameList) add(f Frame) uint32 {
	page := l.n >> frameShift
	if page == len(l.pages) {
		room := leastFrames
		if page > 0 {
			room = pageFrames
		}
		l.pages = append(l.pages, make([]Frame, 0, room))
	}
	p := &l.pages[page]
	if len(*p) == cap(*p) { // of the first page
		*p = slices.Grow(*p, min(3*len(*p), pageFrames-len(*p)))
	}
	*p = append(*p, f)
	l.n++
	return uint32(l.n - 1)
}
