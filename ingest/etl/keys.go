package etl

import (
	"context"
	"math"
)

// A stackKey is a reference to a stack that is defined later. Keys are addresses in the session's cache: unique at one
// time, and re-used. The kernel's part and the process's are kept apart, and so are the files of a trace.
type stackKey struct {
	key    uint64
	source uint16
	user   bool
}

// A keyUse follows a key through the trace.
type keyUse struct {
	stacks  []StackID // that it stands for, one after the other, as far as a survey has shown
	next    int       // of them, what it stands for now
	pending bool      // it was referred to since its last definition
	lost    StackID   // what it stands for where no definition comes any more, or NoStack
}

// keys are all keys that events referred to.
type keys map[stackKey]*keyUse

// refer takes in a reference.
func (ks keys) refer(k stackKey) *keyUse {
	use := ks[k]
	if use == nil {
		use = new(keyUse)
		ks[k] = use
	}
	use.pending = true
	return use
}

// define takes in a definition. It returns nil where nothing has referred to the key since the last one.
func (ks keys) define(k stackKey, pointer uint8) *keyUse {
	use := ks[k]
	if (use == nil || !use.pending) && pointer == 4 {
		// With /3GB, programs reach into the upper half: where nothing of the kernel waits for the key, a process does.
		k.user = !k.user
		use = ks[k]
	}
	if use == nil || !use.pending {
		return nil
	}
	use.pending = false
	use.next++
	return use
}

// survey finds out what every key of the trace stands for at any time, in a pass of its own: definitions come as late as
// at the end, and operations cannot wait for that. Both passes see the same events in the same order.
func (j *joiner) survey(ctx context.Context) error {
	until, err := j.wholeUntil(ctx)
	if err != nil {
		return err
	}
	all, w := keys{}, walker{stacks: j.out.Stacks}
	err = j.trace.events(ctx, j.also|joinKinds, definitionKinds, new(pass), func(e *Event) error {
		switch key, ok := e.StackKey(); {
		case !ok || e.Stamp >= until[e.Source]:
		case e.Kind == KindStackKeyKernel || e.Kind == KindStackKeyUser:
			all.refer(stackKey{key, e.Source, e.Kind == KindStackKeyUser})
		case definitionKinds.Has(e.Kind):
			known := w.walk(e)
			if use := all.define(stackKey{key, e.Source, !known.kernel}, e.Pointer); use != nil {
				use.stacks = append(use.stacks, known.id)
			}
		}
		return nil
	})
	for k, use := range all {
		if mine := j.keys[k]; mine != nil {
			mine.stacks = use.stacks
		} else {
			j.keys[k] = &keyUse{stacks: use.stacks}
		}
	}
	return err
}

// wholeUntil returns the time stamp, by source, from which on events are missing at the end of a file that was cut.
// Definitions behind it may be those of a later use of their key.
func (j *joiner) wholeUntil(ctx context.Context) ([]int64, error) {
	until, cut := make([]int64, len(j.trace.sources)), false
	for i := range until {
		until[i] = math.MaxInt64
		cut = cut || j.trace.info.Files[i].Losses.cut()
	}
	if !cut {
		return until, nil
	}
	p := pass{streams: map[stream]int64{}}
	if err := j.trace.events(ctx, 0, 0, &p, func(*Event) error { return nil }); err != nil {
		return nil, err
	}
	for s, last := range p.streams {
		if j.trace.info.Files[s.source].Losses.cut() {
			until[s.source] = min(until[s.source], last)
		}
	}
	return until, nil
}

// definitionKinds are the events that say what a key stands for.
var definitionKinds = Kinds(KindStackKeyCreate, KindStackKeyDelete, KindStackKeyRundown)

// resolve returns the stack that a key stands for now.
func (j *joiner) resolve(use *keyUse) StackID {
	if use.next < len(use.stacks) {
		j.keyed++
		return use.stacks[use.next]
	}
	j.out.KeysLost++
	if use.lost == NoStack {
		use.lost = j.out.Stacks.unknown()
	}
	return use.lost
}

// define takes in the definition of a key.
func (j *joiner) define(e *Event) {
	key, ok := e.StackKey()
	if !ok {
		j.out.Malformed++
		return
	}
	j.keys.define(stackKey{key, e.Source, !inKernel(j.walker.addresses(e), e.Pointer)}, e.Pointer)
}
