package etl

import "context"

// attach gives a stack, or a key that stands for one, to the operation it belongs to.
func (j *joiner) attach(ctx context.Context, e *Event) error {
	target, ok := e.StackTarget()
	if !ok {
		j.out.Malformed++
		return nil
	}
	j.out.StackEvents++
	kernel := e.Kind == KindStackKeyKernel
	var use *keyUse
	if e.Kind != KindStackWalk {
		if j.until == nil {
			until, err := j.wholeUntil(ctx)
			if err != nil {
				return err
			}
			j.until = until
		}
		key, ok := e.StackKey()
		if !ok {
			j.out.Malformed++
			return nil
		}
		use = j.keys.refer(stackKey{key, e.Source, !kernel})
	}
	w := j.queue.find(target, j.stacked)
	if w == nil {
		j.out.Unclaimed++
		return nil
	}
	var stack StackID
	if use == nil {
		known := j.walker.walk(e)
		stack, kernel = known.id, known.kernel
	} else {
		var err error
		if stack, err = j.resolve(ctx, use); err != nil {
			return err
		}
	}
	if kernel {
		w.kernel = stack
		w.ready = w.ready || w.pid <= systemPID // such threads have no other part
	} else {
		w.user, w.ready = stack, true
	}
	return nil
}

// systemPID is the process of the kernel's own threads; 0 is the idle process.
const systemPID = 4

// push makes room for an operation.
func (j *joiner) push() (*waiting, error) {
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
	use, with := &j.out.Stacked[w.Kind], int64(0)
	if w.Stack = j.out.Stacks.pair(w.kernel, w.user); w.Stack != NoStack {
		with = 1
		j.stacked |= Kinds(w.Kind)
	}
	use.add(with)
	for i := range allocating {
		if allocating[i].kind == w.Kind {
			j.processes.all[w.Process].countStack(i, with)
		}
	}
	return j.ready.put(&w.Operation)
}
