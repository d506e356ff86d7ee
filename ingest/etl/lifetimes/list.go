package lifetimes

// A list is values by number, in chunks that are not moved when they are full: growing a long list costs no copy and
// leaves nothing behind. A pointer into it is good until the next add.
type list[T any] struct {
	chunks [][]T
	n      int
}

const listShift = 9

func (l *list[T]) at(number uint32) *T { return &l.chunks[number>>listShift][number%(1<<listShift)] }

func (l *list[T]) len() int { return l.n }

// add appends a value.
func (l *list[T]) add(v T) {
	last := l.n >> listShift
	switch {
	case last < len(l.chunks): // the first grows as it is filled, as most lists are short
	case last == 0:
		l.chunks = append(l.chunks, nil)
	default:
		l.chunks = append(l.chunks, make([]T, 0, 1<<listShift))
	}
	l.chunks[last] = append(l.chunks[last], v)
	l.n++
}
