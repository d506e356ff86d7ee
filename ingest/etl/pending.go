package etl

// maxPending is how many operations wait for their stacks at most; further ones push the oldest on.
const maxPending = 1 << 18

// Operations of a kind of which that many came and none had a stack wait for a small part of the window only: most
// sessions record stacks for some kinds.
const (
	learnFrom = 1 << 12
	smallWait = 512 // parts of the window
)

// A pendingOperation is an operation whose stack is not complete, and the parts of the stack that have come.
type pendingOperation struct {
	Operation
	pid          uint32
	thread       uint32 // that its stack names; NoID while it has none
	kernel, user StackID
	ready        bool // no stack is expected any more
}

// A queue holds operations in the order of time until their stacks have come. Stacks come behind their operations, as
// soon as the thread leaves the kernel: mostly within 1 ms, by real traces within 0.5 s.
type queue struct {
	ring   []pendingOperation // a power of two
	head   int                // counts operations that left
	tail   int                // counts operations that came
	window int64              // how long an operation waits, in stamps
}

func newQueue(window int64) *queue {
	return &queue{ring: make([]pendingOperation, 1<<10), window: window}
}

func (q *queue) at(i int) *pendingOperation { return &q.ring[i&(len(q.ring)-1)] }

// push makes room for one operation more, which is to be filled in; full says that the oldest must be taken before.
func (q *queue) push() (w *pendingOperation, full bool) {
	if q.tail-q.head == len(q.ring) {
		if len(q.ring) >= maxPending {
			return nil, true
		}
		larger := make([]pendingOperation, 2*len(q.ring))
		for i := q.head; i < q.tail; i++ {
			larger[i&(len(larger)-1)] = *q.at(i)
		}
		q.ring = larger
	}
	w = q.at(q.tail)
	w.pid, w.thread, w.kernel, w.user, w.ready = 0, NoID, NoStack, NoStack, false
	q.tail++
	return w, false
}

// unpush takes back the latest push.
func (q *queue) unpush() { q.tail-- }

// find returns the operation that a stack belongs to: of its time stamp and thread, or, where events have no thread, of
// its process. A coarse clock gives a free and the allocation behind it one time stamp: the one of a kind that has
// stacks is taken, and of several the first that waits. Operations lie in the order of time, and the one that is looked
// for mostly near the end.
func (q *queue) find(t StackTarget, stacked KindSet) *pendingOperation {
	low, high := q.head, q.tail
	for step := 16; high-step > low; step *= 2 { // gallop back
		if q.at(high-step).Stamp < t.Stamp {
			low = high - step
			break
		}
		high -= step
	}
	for low < high {
		middle := int(uint(low+high) >> 1)
		if q.at(middle).Stamp < t.Stamp {
			low = middle + 1
		} else {
			high = middle
		}
	}
	var best *pendingOperation
	score := 0
	for i := low; i < q.tail && q.at(i).Stamp == t.Stamp; i++ {
		w := q.at(i)
		if s := w.fits(t, stacked); s > score {
			best, score = w, s
		}
	}
	return best
}

// fits says how well the operation is the target of a stack, 0 for not at all.
func (w *pendingOperation) fits(t StackTarget, stacked KindSet) int {
	score := 0
	switch {
	case w.TID == t.TID:
		score = 32
	case w.TID != NoID:
		return 0
	case w.pid == t.PID:
		score = 16
	case w.pid == NoID:
		score = 8
	default:
		return 0
	}
	if memoryKinds.Has(w.Kind) {
		score += 4
	}
	if stacked.Has(w.Kind) {
		score += 2
	}
	if !w.ready {
		score++
	}
	return score
}

// wait is how long operations of a kind wait for their stacks.
func (q *queue) wait(use StackCoverage) int64 {
	if use.WithStack == 0 && use.Operations >= learnFrom {
		return q.window / smallWait
	}
	return q.window
}
