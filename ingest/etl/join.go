package etl

import (
	"context"
	"slices"
)

// JoinOptions tune OperationBatches. The zero value is right.
type JoinOptions struct {
	// Also are further kinds of events that are passed on as operations without content, with their stacks.
	Also KindSet
}

// JoinResult is what a pass over the operations has shown besides them.
type JoinResult struct {
	Processes []Process // those that operations name by index
	Stacks    *Stacks
	Volumes   []Volume // the drives that image paths were translated with

	Stacked       [256]StackCoverage // indexed by Kind
	StackEvents   int64              // stacks and references to them
	Unclaimed     int64              // of StackEvents those that belong to no operation: to other kinds of events, or to lost ones
	KeysLost      int64              // of StackEvents the references to keys that were not defined any more
	KeysDoubtful  int64              // stacks by key in a trace that lost events: the lost events may have redefined the key
	Malformed     int64              // events whose payload is too short
	HeapSnapshots int64              // events of heap snapshots, whose layout is not public
	kernel        []uint32           // processes that hold the kernel's images
}

// StackCoverage counts the operations of one kind.
type StackCoverage struct{ Operations, WithStack int64 }

// add counts one operation, and with is 1 where it has a stack.
func (u *StackCoverage) add(with int64) {
	u.Operations++
	u.WithStack += with
}

// A joiner gives operations their processes and stacks.
type joiner struct {
	out       *JoinResult
	processes processes
	images    imageTable
	queue     *queue
	trace     *Trace
	walker    walker
	keys      keys
	until     []int64 // by file: time stamp from which on definitions of keys do not count; nil before the first key
	defined   bool    // a key was
	surveyed  bool    // the keys' stacks are known
	keyed     int64
	also      KindSet
	stacked   KindSet // kinds that have stacks: those of which one had, and those that mostly do
	ready     *batchQueue
}

// stackWindow is how long an operation waits for its stack, in seconds of the trace. A thread that was suspended inside
// the kernel delivers late; half a second is the most that was seen.
const stackWindow = 5

// OperationBatches calls fn with everything that changes what processes hold, in the order of time, each with its
// process and its stack, a few hundred at a time. The slice is re-used. Joining goes on while fn runs. It holds back
// operations until their stacks have come.
//
// The result is complete as far as the pass came, also beside an error, which may be a little further than the last
// call of fn. Facts about the trace itself, Info and Warnings, are complete only after the pass, and not within fn.
func (t *Trace) OperationBatches(ctx context.Context, opt JoinOptions,
	fn func([]Operation) error) (*JoinResult, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	j := joiner{
		out:       &JoinResult{Stacks: newStacks()},
		processes: processes{current: map[uint32]uint32{}},
		images:    imageTable{open: map[imageKey]int{}, identities: map[imageKey][]identity{}},
		queue:     newQueue(stackWindow * int64(t.clock.frequency)),
		trace:     t,
		keys:      newKeys(),
		also:      opt.Also,
		stacked:   Kinds(KindHeapAlloc, KindHeapReAlloc, KindVirtualAlloc),
		ready:     newHandover(ctx),
	}
	j.walker.stacks = j.out.Stacks
	var err error
	go func() {
		defer close(j.ready.full)
		err = j.run(ctx)
	}()
	if stopped := j.ready.each(stop, fn); stopped != nil {
		err = stopped
	}
	if slices.ContainsFunc(t.Info().Files, func(f File) bool { return f.Losses.inside() }) {
		j.out.KeysDoubtful = j.keyed
	}
	for i := range j.keys.uses {
		j.out.KeysLost += int64(j.keys.uses[i].uses)
	}
	j.finish()
	return j.out, err
}

// run takes in the events of a trace.
func (j *joiner) run(ctx context.Context) error {
	onCompact := func(f *frame, at int64, source uint16) error { return j.addCompact(ctx, f, at, source) }
	prepare := preparer{stacks: stackCache{kinds: Kinds(KindStackWalk)}, lean: true}
	if err := j.trace.events(ctx, j.also|joinKinds, prepare, &j.trace.pass,
		merge{fn: j.take, onCompact: onCompact, touch: j.keys.touch}); err != nil {
		return err
	}
	if err := j.drain(1<<63 - 1); err != nil {
		return err
	}
	return j.ready.flush()
}

// joinKinds are the kinds that joining needs.
var joinKinds = memoryKinds | Kinds(KindProcessStart, KindProcessEnd, KindProcessDCStart,
	KindProcessDCEnd, KindProcessDefunct,
	KindImageLoad, KindImageUnload, KindImageDCStart, KindImageDCEnd, KindImageID, KindImageRSDS,
	KindStackWalk, KindStackKeyCreate, KindStackKeyDelete, KindStackKeyRundown, KindStackKeyKernel, KindStackKeyUser,
	KindSystemPaths, KindVolumeMapping, KindHeapSnapshotData)

// take takes in one event.
func (j *joiner) take(e *Event) error {
	j.processes.now = e.Time
	switch e.Kind {
	case KindStackWalk:
		j.attach(e)
	case KindStackKeyKernel, KindStackKeyUser: // shorter than they must be, else there is a compact form
		j.out.Malformed++
		if _, ok := e.StackTarget(); ok {
			j.out.StackEvents++
		}
	case KindStackKeyCreate, KindStackKeyDelete, KindStackKeyRundown:
		j.define(e)
	case KindProcessStart, KindProcessEnd, KindProcessDCStart, KindProcessDCEnd, KindProcessDefunct:
		if err := j.process(e); err != nil {
			return err
		}
	case KindImageLoad, KindImageUnload, KindImageDCStart, KindImageDCEnd, KindImageID, KindImageRSDS:
		j.image(e)
	case KindSystemPaths:
		if _, windows, ok := e.SystemPaths(); ok {
			j.images.windows = windows
		}
	case KindVolumeMapping:
		if v, ok := e.Volume(); ok {
			j.images.volumes = append(j.images.volumes, v)
		}
	case KindHeapSnapshotData:
		j.out.HeapSnapshots++
	case KindHeapRangeRundown:
		return j.ranges(e)
	}
	if memoryKinds.Has(e.Kind) {
		return j.memory(e)
	}
	if j.also.Has(e.Kind) {
		return j.other(e)
	}
	return nil
}

// addCompact takes in one event by its compact form.
func (j *joiner) addCompact(ctx context.Context, f *frame, at int64, source uint16) error {
	j.processes.now = at
	switch f.kind {
	case KindHeapAlloc, KindHeapFree:
		w, err := j.push()
		if err != nil {
			return err
		}
		w.Operation = Operation{Time: at, Stamp: f.stamp, TID: f.tid, SourceIndex: source, Kind: f.kind, Heap: f.a,
			Address: f.b, Size: f.c, Flags: f.flags}
		return j.setProcess(w, f.pid, shapes[f.header].pointer)
	default:
		target := StackTarget{int64(f.a), f.pid, f.tid}
		return j.attachKey(ctx, target, stackKey{f.b, source, f.kind == KindStackKeyUser})
	}
}

// memory makes an operation of a memory event.
func (j *joiner) memory(e *Event) error {
	w, err := j.push()
	if err != nil {
		return err
	}
	pid, ok := w.decode(e)
	if !ok {
		j.queue.unpush()
		j.out.Malformed++
		return nil
	}
	return j.setProcess(w, pid, e.PointerBytes)
}

// setProcess gives an operation its process.
func (j *joiner) setProcess(w *pendingOperation, pid uint32, pointer uint8) error {
	w.pid = pid
	switch w.Kind {
	case KindHeapCreate, KindHeapAlloc, KindHeapReAlloc, KindVirtualAlloc:
		w.ProcessIndex = j.processes.alive(pid)
	default:
		w.ProcessIndex = j.processes.at(pid)
	}
	if w.Heap != 0 {
		j.processes.all[w.ProcessIndex].HeapPointerBytes = pointer
	}
	return j.drain(w.Stamp)
}

// ranges makes an operation of each range in a rundown.
func (j *joiner) ranges(e *Event) error {
	pid, ranges, ok := e.HeapRangeRundown()
	if !ok {
		j.out.Malformed++
		return nil
	}
	for r := range ranges {
		w, err := j.push()
		if err != nil {
			return err
		}
		w.Operation = Operation{Time: e.Time, Stamp: e.Stamp, TID: e.TID, SourceIndex: e.SourceIndex, Kind: e.Kind,
			Heap: r.Heap, Address: r.Address, Size: r.Size, ProcessIndex: j.processes.at(pid)}
		w.pid, w.ready = pid, true
	}
	return j.drain(e.Stamp)
}

// other makes an operation of an event that only its stack is wanted of.
func (j *joiner) other(e *Event) error {
	w, err := j.push()
	if err != nil {
		return err
	}
	w.Operation = Operation{Time: e.Time, Stamp: e.Stamp, TID: e.TID, SourceIndex: e.SourceIndex, Kind: e.Kind}
	w.pid = e.PID
	return j.drain(e.Stamp)
}

// process takes in a process event.
func (j *joiner) process(e *Event) error {
	p, ok := e.Process()
	if !ok {
		j.out.Malformed++
		return nil
	}
	i, started := j.processes.note(e, &p)
	j.processes.valid = false
	for _, old := range j.processes.ended {
		if err := j.life(e, KindProcessEnd, old); err != nil {
			return err
		}
	}
	j.processes.ended = j.processes.ended[:0]
	if started {
		return j.life(e, KindProcessStart, i)
	}
	return nil
}

// life makes an operation of the start or the end of a process.
func (j *joiner) life(e *Event, kind Kind, process uint32) error {
	w, err := j.push()
	if err != nil {
		return err
	}
	w.Operation = Operation{Time: e.Time, Stamp: e.Stamp, TID: NoID, SourceIndex: e.SourceIndex, Kind: kind,
		ProcessIndex: process}
	w.pid, w.ready = j.processes.all[process].PID, true
	return nil
}

// image takes in an image, or the identity of one.
func (j *joiner) image(e *Event) {
	switch e.Kind {
	case KindImageID:
		if id, ok := e.ImageID(); ok {
			j.images.identify(id.Base, j.processes.at(id.PID), identity{stamp: e.Stamp, id: id, kind: e.Kind})
			return
		}
	case KindImageRSDS:
		if r, ok := e.ImageRSDS(); ok {
			j.images.identify(r.Base, j.processes.at(r.PID), identity{stamp: e.Stamp, rsds: r, kind: e.Kind})
			return
		}
	default:
		if im, ok := e.Image(); ok && im.PID == NoID {
			return // version 0 where no one says whose it is
		} else if ok {
			i := j.processes.at(im.PID)
			if e.Kind == KindImageLoad {
				i = j.processes.alive(im.PID)
			}
			j.images.note(e, &im, &j.processes.all[i], i)
			return
		}
	}
	j.out.Malformed++
}

// finish completes what could not be known before the end.
func (j *joiner) finish() {
	j.out.Processes = j.processes.all
	j.images.finish(j.out.Processes)
	j.out.Volumes = j.images.volumes
	for i := range j.out.Processes {
		if pid := j.out.Processes[i].PID; (pid == 0 || pid == 4) && len(j.out.Processes[i].Images) > 0 {
			j.out.kernel = append(j.out.kernel, uint32(i))
		}
	}
}
