package etl

import (
	"context"
	"math"
)

// definitionKinds are the events that say what a key stands for.
var definitionKinds = Kinds(KindStackKeyCreate, KindStackKeyDelete, KindStackKeyRundown)

// resolve returns the stack that a key stands for now, which may get its addresses later.
func (j *joiner) resolve(ctx context.Context, use *keyUse) (StackID, error) {
	if use.uses++; use.stack != NoStack {
		return use.stack, nil
	}
	if j.defined && !j.surveyed {
		j.surveyed = true
		k := use.stackKey
		if err := j.survey(ctx); err != nil {
			return NoStack, err
		}
		use = j.keys.find(k)
	}
	if int(use.next) < len(use.stacks) {
		use.stack = use.stacks[use.next]
	} else {
		use.stack = j.out.Stacks.unknown()
	}
	return use.stack, nil
}

// define takes in the definition of a key.
func (j *joiner) define(e *Event) {
	key, ok := e.StackKey()
	if !ok {
		j.out.Malformed++
		return
	}
	addresses := j.walker.addresses(e)
	use := j.keys.define(stackKey{key, e.SourceIndex, !inKernel(addresses, e.PointerBytes)}, e.PointerBytes)
	if use == nil || e.Stamp >= j.until[e.SourceIndex] {
		return
	}
	j.defined = true
	j.keyed += int64(use.uses)
	j.out.Stacks.define(use.stack, addresses)
	use.uses, use.stack = 0, NoStack
}

// survey finds out what every key of the trace stands for at any time, in a pass of its own. It is for traces that
// define keys and then go on. Such a trace may define a key only at its end. If the key belonged to a stack before,
// operations of both definitions must have one stack from the beginning. Else there would be a stack and a site for
// each definition of a key. Both passes see the same events in the same order.
func (j *joiner) survey(ctx context.Context) error {
	all, w := newKeys(), walker{stacks: j.out.Stacks}
	take := func(e *Event) error {
		switch key, ok := e.StackKey(); {
		case !ok || e.Stamp >= j.until[e.SourceIndex]:
		case e.Kind == KindStackKeyKernel || e.Kind == KindStackKeyUser:
			all.refer(stackKey{key, e.SourceIndex, e.Kind == KindStackKeyUser})
		case definitionKinds.Has(e.Kind):
			addresses := w.addresses(e)
			use := all.define(stackKey{key, e.SourceIndex, !inKernel(addresses, e.PointerBytes)}, e.PointerBytes)
			if use == nil {
				break
			}
			if mine := j.keys.find(use.stackKey); mine != nil && mine.next+1 == use.next && mine.stack != NoStack {
				j.out.Stacks.define(mine.stack, addresses)
			}
			use.stacks = append(use.stacks, w.walk(e).id)
		}
		return nil
	}
	err := j.trace.events(ctx, j.also|joinKinds, preparer{stacks: stackCache{kinds: definitionKinds}},
		new(pass), merge{fn: take})
	for i := range all.uses {
		use := &all.uses[i]
		pending := false
		if mine := j.keys.find(use.stackKey); mine != nil {
			pending = mine.pending
		}
		mine := j.keys.refer(use.stackKey)
		mine.pending, mine.stacks = pending, use.stacks
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
	if err := j.trace.events(ctx, 0, preparer{}, &p, merge{}); err != nil {
		return nil, err
	}
	for s, last := range p.streams {
		if j.trace.info.Files[s.source].Losses.cut() {
			until[s.source] = min(until[s.source], last)
		}
	}
	return until, nil
}
