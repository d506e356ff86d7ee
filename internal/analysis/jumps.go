package analysis

import (
	"math"
	"slices"
)

// A Jump is an instant at which a timeline rises suddenly: the first place to look for the reason of a rise.
type Jump struct {
	Spike        bool  // it falls again at once; otherwise it is a step, which stays
	FromNS, ToNS int64 // times on the timeline, in ns
	Bytes        int64 // by how much it rises; for a spike, without what is left of the rise
}

const (
	// jumpStretches is how many stretches of equal length a timeline is cut into: a rise within one stretch is
	// sudden.
	jumpStretches = 200
	// jumpLasts is how many stretches a spike lasts at most, and a step at least.
	jumpLasts = 4
	// jumpShare is the least rise that makes a jump, as a part of the timeline's highest point. A rise of jumpPart
	// of that in a stretch beside belongs to the same step.
	jumpShare = 0.1
	jumpPart  = 0.25
)

// A jumpStretch is the part of a timeline that lies in one stretch.
type jumpStretch struct {
	number    uint64
	from, to  int64 // of the points in it
	last, max int64
}

// Jumps returns the spikes and steps of a timeline between two instants in ns, in their order.
func (t *Timeline) Jumps(from, to int64) []Jump {
	width := max(1, (uint64(to)-uint64(from))/jumpStretches) // damaged times may be further apart than a number of ns can say
	stretches := t.cut(from, width)
	highest := int64(0)
	for _, s := range stretches {
		highest = max(highest, s.max)
	}
	if highest <= 0 {
		return nil
	}
	least := int64(math.Ceil(jumpShare * float64(highest)))
	part := int64(math.Ceil(jumpPart * jumpShare * float64(highest)))
	var list []rise
	for i := 1; i < len(stretches); i++ {
		base, near := stretches[i-1].last, stretches[i:]
		for n := range near {
			if near[n].number > near[0].number+jumpLasts {
				near = near[:n]
				break
			}
		}
		if spike, n := spikeOf(near, base); spike.Bytes >= least {
			list = append(list, rise{spike, true})
			i += n
		} else if step := (Jump{FromNS: near[0].from, ToNS: near[0].to, Bytes: near[0].last - base}); step.Bytes >= part &&
			stays(near, base+step.Bytes/2) {
			list = append(list, rise{step, step.Bytes >= least})
		}
	}
	return joined(list, width)
}

// A rise is a jump or a part of one: only a sudden rise is a jump by itself.
type rise struct {
	Jump
	sudden bool
}

// cut cuts the timeline into stretches. One without points is left out: nothing changes in it.
func (t *Timeline) cut(from int64, width uint64) []jumpStretch {
	var list []jumpStretch
	for i := range min(len(t.AtNS), len(t.LastBytes), len(t.MaxBytes)) {
		s := jumpStretch{
			(uint64(max(t.AtNS[i], from)) - uint64(from)) / width, t.AtNS[i], t.AtNS[i], t.LastBytes[i], t.MaxBytes[i],
		}
		if n := len(list); n > 0 && list[n-1].number == s.number {
			before := &list[n-1]
			before.to, before.last, before.max = s.to, s.last, max(before.max, s.max)
			continue
		}
		list = append(list, s)
	}
	return list
}

// spikeOf is the spike that near begins with, and how many stretches behind the first it takes; none where it does not
// fall to a fifth of its height.
func spikeOf(near []jumpStretch, base int64) (spike Jump, more int) {
	highest := int64(0)
	for n, s := range near {
		if highest = max(highest, s.max); s.last <= base+(highest-base)/5 {
			return Jump{Spike: true, FromNS: near[0].from, ToNS: s.to, Bytes: highest - max(base, s.last)}, n
		}
	}
	return Jump{}, 0
}

// stays reports whether the timeline does not fall below a level.
func stays(near []jumpStretch, level int64) bool {
	return !slices.ContainsFunc(near, func(s jumpStretch) bool { return s.last < level })
}

// joined makes one step of those that follow each other in stretches side by side, and leaves out what is not sudden.
func joined(list []rise, width uint64) []Jump {
	var steps []rise
	for _, m := range list {
		if n := len(steps); n > 0 && !m.Spike && !steps[n-1].Spike && uint64(m.FromNS-steps[n-1].ToNS) <= 2*width &&
			uint64(m.ToNS-steps[n-1].FromNS) <= jumpLasts*width {
			last := &steps[n-1]
			last.ToNS, last.Bytes, last.sudden = m.ToNS, last.Bytes+m.Bytes, last.sudden || m.sudden
			continue
		}
		steps = append(steps, m)
	}
	var out []Jump
	for _, m := range steps {
		if m.sudden {
			out = append(out, m.Jump)
		}
	}
	return out
}
