package etl

import "context"

// attach gives a stack to the operation it belongs to.
func (j *joiner) attach(e *Event) {
	target, ok := e.StackTarget()
	if !ok {
		j.out.Malformed++
		return
	}
	if w := j.claim(target); w != nil {
		known := j.walker.walk(e)
		w.take(known.id, known.kernel)
	}
}

// attachKey gives what a key stands for to the operation it belongs to.
func (j *joiner) attachKey(ctx context.Context, target StackTarget, k stackKey) (err error) {
	if j.until == nil {
		if j.until, err = j.wholeUntil(ctx); err != nil {
			return err
		}
	}
	use, w := j.keys.refer(k), j.claim(target)
	if w == nil {
		return nil
	}
	stack, err := j.resolve(ctx, use)
	w.take(stack, !k.user)
	return err
}

// claim returns the operation that a stack belongs to, nil for none.
func (j *joiner) claim(t StackTarget) *pendingOperation {
	j.out.StackEvents++
	w := j.queue.find(t, j.stacked)
	if w == nil {
		j.out.Unclaimed++
		return nil
	}
	w.thread = t.TID
	return w
}

// take gives an operation a part of its stack.
func (w *pendingOperation) take(stack StackID, kernel bool) {
	if kernel {
		w.kernel = stack
		w.ready = w.ready || w.pid <= systemPID // such threads have no other part
	} else {
		w.user, w.ready = stack, true
	}
}

// systemPID is the process of the kernel's own threads; 0 is the idle process.
const systemPID = 4

// push makes room for an operation.
func (j *joiner) push() (*pendingOperation, error) {
	w, full := j.queue.push()
	for full {
		if err := j.release(); err != nil {
			return nil, err
		}
		w, full = j.queue.push()
	}
	return w, nil
}

// drain passes on the operations that wait for nothing, up to the first that does.
func (j *joiner) drain(now int64) error {
	q := j.queue
	for q.head < q.tail {
		w := q.at(q.head)
		if !w.ready && now-w.Stamp < q.wait(j.out.Stacked[w.Kind]) {
			return nil
		}
		if err := j.release(); err != nil {
			return err
		}
	}
	return nil
}

// release passes on the oldest operation.
func (j *joiner) release() error {
	w := j.queue.at(j.queue.head)
	j.queue.head++
	if w.TID == NoID {
		w.TID = w.thread
	}
	use, with := &j.out.Stacked[w.Kind], int64(0)
	if w.Stack = j.out.Stacks.pair(w.kernel, w.user); w.Stack != NoStack {
		with = 1
		j.stacked |= Kinds(w.Kind)
	}
	use.add(with)
	for i := range allocating {
		if allocating[i].kind == w.Kind {
			j.processes.all[w.ProcessIndex].countStack(i, with)
		}
	}
	return j.ready.put(&w.Operation)
}
